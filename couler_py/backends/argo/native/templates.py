"""Templates of every kind, and calls of them."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from typing import TYPE_CHECKING, Any, Self, TypeAlias, TypeVar, Unpack

from couler_py.backends.argo.native.fields import JSON, check, task_schema, template_schema, unknown
from couler_py.backends.argo.native.interface import Member, arguments, input_names, members
from couler_py.backends.argo.native.recording import Graph, Recording, current, current_graph, graph
from couler_py.backends.argo.native.tasks import Form, Task
from couler_py.backends.argo.native.values import plain
from couler_py.dsl.problems import RecordingError, fail, problem

if TYPE_CHECKING:
    from couler_py.backends.argo import words

    Inputs: TypeAlias = Sequence[Member] | words.Inputs
    Outputs: TypeAlias = Sequence[Member] | words.Outputs
    Given: TypeAlias = Sequence[Member] | words.Arguments


_Made = TypeVar("_Made", bound="Template")
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


# ---- kinds


def container(
    name: str,
    /,
    *,
    inputs: Inputs | None = None,
    outputs: Outputs | None = None,
    **fields: Unpack[words.ContainerFields],
) -> Template:
    """A container: fields of the container and of the template side by side.

    `securityContext`, which both have, is the template's (of the pod); the container's stands in `container={...}`.

    >>> with argo.Workflow("hello") as w:
    ...     echo = argo.container("echo", image="alpine:3.20", args=[argo.input("message")], inputs=["message"])
    >>> w.data["spec"]["templates"][0]["container"]
    {'image': 'alpine:3.20', 'args': ['{{inputs.parameters.message}}']}
    """
    return _template(name, "container", inputs, outputs, fields)


def script(
    name: str, /, *, inputs: Inputs | None = None, outputs: Outputs | None = None, **fields: Unpack[words.ScriptFields]
) -> Template:
    """A container that runs `source`.

    >>> with argo.Workflow("dice") as w:
    ...     roll = argo.script("roll", image="python:3.12", command=["python"], source="print(4)")
    """
    return _template(name, "script", inputs, outputs, fields)


def resource(
    name: str,
    /,
    *,
    inputs: Inputs | None = None,
    outputs: Outputs | None = None,
    **fields: Unpack[words.ResourceFields],
) -> Template:
    """A Kubernetes object that is created, patched or looked at.

    >>> with argo.Workflow("objects") as w:
    ...     gone = argo.resource("gone", action="delete", flags=["configmap", "old"])
    """
    return _template(name, "resource", inputs, outputs, fields)


def suspend(
    name: str, /, *, inputs: Inputs | None = None, outputs: Outputs | None = None, **fields: Unpack[words.SuspendFields]
) -> Template:
    """A wait: for `duration`, or for a person.

    >>> with argo.Workflow("waits") as w:
    ...     approve = argo.suspend("approve")
    """
    return _template(name, "suspend", inputs, outputs, fields)


def http(
    name: str, /, *, inputs: Inputs | None = None, outputs: Outputs | None = None, **fields: Unpack[words.HTTPFields]
) -> Template:
    """A request that Argo's agent makes.

    >>> with argo.Workflow("requests") as w:
    ...     ping = argo.http("ping", url="https://example.com", successCondition="response.statusCode == 200")
    """
    return _template(name, "http", inputs, outputs, fields)


def data(
    name: str, /, *, inputs: Inputs | None = None, outputs: Outputs | None = None, **fields: Unpack[words.DataFields]
) -> Template:
    """A list of files, filtered by expressions.

    >>> with argo.Workflow("files") as w:
    ...     logs = argo.data(
    ...         "logs",
    ...         source={"artifactPaths": {"name": "logs", "s3": {"bucket": "logs"}}},
    ...         transformation=[{"expression": "filter(data, {# endsWith '.log'})"}],
    ...     )
    """
    return _template(name, "data", inputs, outputs, fields)


def container_set(
    name: str,
    /,
    *,
    inputs: Inputs | None = None,
    outputs: Outputs | None = None,
    **fields: Unpack[words.ContainerSetFields],
) -> Template:
    """Several containers in one pod.

    `retryStrategy` is the template's; the set's own stands in `containerSet={...}`.

    >>> with argo.Workflow("pods") as w:
    ...     both = argo.container_set("both", containers=[{"name": "a", "image": "x"}, {"name": "main", "image": "x"}])
    """
    return _template(name, "containerSet", inputs, outputs, fields)


def plugin(
    name: str, /, *, inputs: Inputs | None = None, outputs: Outputs | None = None, **fields: Unpack[words.PluginFields]
) -> Template:
    """What an executor plugin does: `plugin={"name-of-plugin": {...}}`.

    >>> with argo.Workflow("plugins") as w:
    ...     hello = argo.plugin("hello", plugin={"hello": {}})
    """
    return _template(name, "plugin", inputs, outputs, fields)


def dag(
    name: str, /, *, inputs: Inputs | None = None, outputs: Outputs | None = None, **fields: Unpack[words.DAGFields]
) -> GraphTemplate:
    """A dag: the tasks that are written under `with`.

    `failFast` is the template's; the dag's own stands in `dag={"failFast": False}`.

    >>> with argo.Workflow("chain") as w:
    ...     echo = argo.container("echo", image="alpine:3.20")
    ...     with argo.dag("main"):
    ...         a = echo("A")
    ...         b = echo("B", depends=a.succeeded)
    >>> w.data["spec"]["templates"][1]["dag"]["tasks"][1]["depends"]
    'A.Succeeded'
    """
    return _graph_template(name, "dag", "dag", inputs, outputs, fields)


def steps(
    name: str, /, *, inputs: Inputs | None = None, outputs: Outputs | None = None, **fields: Unpack[words.StepsFields]
) -> GraphTemplate:
    """Steps one after the other; those under `with argo.parallel():` run side by side.

    >>> with argo.Workflow("stairs") as w:
    ...     echo = argo.container("echo", image="alpine:3.20")
    ...     with argo.steps("main"):
    ...         first = echo("first")
    ...         with argo.parallel():
    ...             left, right = echo("left"), echo("right")
    >>> [len(group) for group in w.data["spec"]["templates"][1]["steps"]]
    [1, 2]
    """
    return _graph_template(name, "steps", "steps", inputs, outputs, fields)


def template(
    name: str,
    /,
    *,
    inputs: Inputs | None = None,
    outputs: Outputs | None = None,
    **fields: Unpack[words.RawTemplateFields],
) -> Template:
    """A template with its fields as Argo has them, each body in its own dict.

    >>> with argo.Workflow("raw") as w:
    ...     same = argo.template("same", container={"image": "alpine:3.20"})
    """
    return _template(name, "", inputs, outputs, fields)


def parallel() -> AbstractContextManager[None]:
    """The steps under `with` run side by side: see `steps`."""
    into = current_graph("a group of steps")
    if into.form != "steps":
        fail("CLR192", "a group of steps stands in a dag", help="tasks of a dag run side by side by themselves")
    return into.group()


def _template(name: str, body: str, inputs: Any, outputs: Any, fields: Mapping[str, Any]) -> Template:
    into = current(f"the template {name!r}")
    return _with_inputs(Template(_add(name, body, inputs, outputs, fields)), into)


def _with_inputs(made: _Made, into: Recording) -> _Made:
    made.inputs = input_names(into.templates[str.__str__(made)])
    return made


def _graph_template(
    name: str, body: str, form: Form, inputs: Any, outputs: Any, fields: Mapping[str, Any]
) -> GraphTemplate:
    into = current(f"the template {name!r}")
    made = _with_inputs(GraphTemplate(_add(name, body, inputs, outputs, fields)), into)
    made._graph = Graph(into, plain(name), form)
    written = into.templates[plain(name)]
    if form == "dag":
        made._graph.tasks = written["dag"].setdefault("tasks", [])
    else:
        made._graph.groups = written["steps"]
    return made


def _add(name: str, body: str, inputs: Any, outputs: Any, fields: Mapping[str, Any]) -> str:
    into = current(f"the template {name!r}")
    found: JSON = {"name": plain(name)}
    for key, given in (("inputs", inputs), ("outputs", outputs)):
        if given is not None:
            found[key] = members(given, key)
    known = template_schema()["properties"]
    inner = known[body].get("properties", {}) if body else {}
    own: JSON = {}
    for key, value in fields.items():
        if value is None:
            continue
        if key in known:
            found[key] = plain(value, key)
        elif key in inner:
            own[key] = plain(value, key)
        elif not into.checked:
            found[key] = plain(value, key)
        else:
            raise unknown(key, {*known, *inner}, f"a template of kind {body}" if body else "a template", name)
    if body and body != "steps":
        whole = found.setdefault(body, {})
        if isinstance(whole, dict):
            if twice := sorted(whole.keys() & own.keys()):
                fail("CLR193", f"{body}.{twice[0]} is given twice", step=name)
            whole |= own
    elif body:
        found.setdefault("steps", [])
    if into.checked:
        check(found, template_schema(), "", name)
    into.add(found)
    return str.__str__(name)
