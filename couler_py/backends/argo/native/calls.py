"""Calls of templates: the tasks of a dag, the steps of a `steps` template."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Self, TypeAlias

from couler_py.backends.argo.native.interface import Member, arguments
from couler_py.backends.argo.native.recording import Graph, current_graph, graph
from couler_py.backends.argo.native.tasks import Task
from couler_py.backends.argo.native.values import plain
from couler_py.backends.argo.schema.checking import JSON, check, task_schema
from couler_py.dsl.problems import RecordingError, fail, problem

if TYPE_CHECKING:
    from couler_py.backends.argo import words

    Inputs: TypeAlias = Sequence[Member] | words.Inputs
    Outputs: TypeAlias = Sequence[Member] | words.Outputs
    Given: TypeAlias = Sequence[Member] | words.Arguments


_OPTIONS = [
    "arguments",
    "parameters",
    "artifacts",
    "continueOn",
    "dependencies",
    "depends",
    "hooks",
    "onExit",
    "when",
    "withItems",
    "withParam",
]
"""What a call may say besides its inputs, for those who mistype it."""


class Template(str):
    """A template that was written: its name, and, called in a graph, a task of it."""

    inputs: frozenset[str] = frozenset()
    """The names of its inputs, parameters and artifacts."""

    def __call__(
        self,
        task: str,
        /,
        *,
        arguments: Given | None = None,
        parameters: Mapping[str, Any] | None = None,
        artifacts: Mapping[str, Any] | None = None,
        continueOn: words.ContinueOn | None = None,
        dependencies: Sequence[str] | None = None,
        depends: str | None = None,
        hooks: Mapping[str, words.LifecycleHook] | None = None,
        onExit: str | None = None,
        when: str | None = None,
        withItems: Sequence[Any] | None = None,
        withParam: str | None = None,
        withSequence: words.WithSequence | None = None,
        **values: Any,
    ) -> Task:
        """A task (or step) of the template. `values` are its inputs by name.

        Parameters whose names Python can't write, or that the template doesn't have, stand in `parameters`;
        `arguments` takes Argo's own form.
        """
        for name in values:
            if name not in self.inputs:
                raise _no_input(self, name)
        fields = {
            "template": self,
            "continueOn": continueOn,
            "dependencies": dependencies,
            "depends": depends,
            "hooks": hooks,
            "onExit": onExit,
            "when": when,
            "withItems": withItems,
            "withParam": withParam,
            "withSequence": withSequence,
        }
        return _task(task, fields, arguments, parameters, artifacts, values)

    def __repr__(self) -> str:
        return f"<template {str.__str__(self)}>"


def _no_input(template: Template, name: str) -> RecordingError:
    near = difflib.get_close_matches(name, [*sorted(template.inputs), *_OPTIONS], 1)
    known = ", ".join(sorted(template.inputs)) or "none"
    return problem(
        "CLR190",
        f"the template {str.__str__(template)!r} has no input {name!r}",
        help=f"did you mean {near[0]!r}?" if near else f"its inputs are {known}; parameters={{...}} gives it others",
    )


class GraphTemplate(Template):
    """A dag or steps template: under `with`, the tasks that are written belong to it."""

    _graph: Graph

    def __enter__(self) -> Self:
        self._open = ExitStack()
        self._open.enter_context(graph(self._graph))
        return self

    def __exit__(self, *problem: Any) -> None:
        self._open.close()


def task(
    name: str,
    /,
    template: str | None = None,
    *,
    templateRef: words.TemplateRef | None = None,
    inline: words.Template | None = None,
    arguments: Given | None = None,
    parameters: Mapping[str, Any] | None = None,
    artifacts: Mapping[str, Any] | None = None,
    continueOn: words.ContinueOn | None = None,
    dependencies: Sequence[str] | None = None,
    depends: str | None = None,
    hooks: Mapping[str, words.LifecycleHook] | None = None,
    onExit: str | None = None,
    when: str | None = None,
    withItems: Sequence[Any] | None = None,
    withParam: str | None = None,
    withSequence: words.WithSequence | None = None,
    **values: Any,
) -> Task:
    """A task or step of a template by name: of one that is written later, elsewhere (`templateRef`), here (`inline`).

    Everything else is as in a call of a template.

    >>> with argo.Workflow("calls") as w, argo.dag("main"):
    ...     shared = argo.task("shared", templateRef={"name": "library", "template": "build"}, version="2")
    """
    fields = {
        "template": template,
        "templateRef": templateRef,
        "inline": inline,
        "continueOn": continueOn,
        "dependencies": dependencies,
        "depends": depends,
        "hooks": hooks,
        "onExit": onExit,
        "when": when,
        "withItems": withItems,
        "withParam": withParam,
        "withSequence": withSequence,
    }
    return _task(name, fields, arguments, parameters, artifacts, values)


def _task(
    name: str,
    fields: Mapping[str, Any],
    own: Any,
    parameters: Mapping[str, Any] | None,
    artifacts: Mapping[str, Any] | None,
    values: Mapping[str, Any],
) -> Task:
    into = current_graph(f"the task {name!r}")
    found: JSON = {"name": plain(name)}
    said = {key: plain(value, key) for key, value in fields.items() if value is not None}
    found |= {key: value for key, value in said.items() if key in ("template", "templateRef", "inline")}
    given = arguments(own, parameters, artifacts, values)
    if given is not None:
        found["arguments"] = given
    found |= said
    about = f"{into.template}.{name}" if name else into.template
    for field in ("depends", "dependencies"):
        if into.form == "steps" and field in found and into.recording.checked:
            fail("CLR190", f"a step has no field {field!r}", step=about, help="steps run in their order: use argo.dag")
    if into.recording.checked:
        check(found, task_schema(into.form), "", about)
    if not name:
        del found["name"]
    into.add(found)
    made = Task(name)
    made.form = into.form
    return made
