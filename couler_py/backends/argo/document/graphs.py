"""Graphs: the tasks of a dag, and steps in their groups."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from couler_py.backends.argo.document.calls import (
    arguments,
    condition,
    hooks,
    written_arguments,
    written_condition,
    written_hooks,
)
from couler_py.backends.argo.document.edges import after, depends, written_depends
from couler_py.backends.argo.document.items import items, written_items
from couler_py.backends.argo.document.lens import (
    JSON,
    Field,
    Table,
    as_it_is,
    extra,
    flag,
    with_extra,
    word_field,
)
from couler_py.backends.argo.document.texts import UNSAID, Root, word
from couler_py.ir.model import (
    Call,
    External,
    Graph,
    Inline,
    Task,
    Template,
)

ReadTemplate = Callable[[Any, Root], Any]
"""Reads a template that is written in the task itself; `UNSAID` where it is no template."""

# ---- failures that don't count, what is called


def _continue_on(given: Any, root: Root) -> Any:
    if not isinstance(given, dict) or given.keys() - {"failed", "error"}:
        return UNSAID
    if any(type(value) is not bool for value in given.values()):
        return UNSAID
    return tuple(key for key in ("failed", "error") if given.get(key))


def _call(rest: JSON, root: Root, read_template: ReadTemplate) -> Call:
    name = word(rest.get("template"), root)
    if isinstance(name, str) and name:
        del rest["template"]
        return name
    if (found := external(rest.get("templateRef"), root)) is not UNSAID:
        del rest["templateRef"]
        return found  # type: ignore[no-any-return]
    if rest.get("inline") is not None and (inline := read_template(rest["inline"], root)) is not UNSAID:
        del rest["inline"]
        return Inline(inline)
    return ""


def external(given: Any, root: Root) -> Any:
    """A template of another document."""
    if not isinstance(given, dict) or given.keys() - {"name", "template", "clusterScope"}:
        return UNSAID
    name, template = word(given.get("name"), root), word(given.get("template"), root)
    scope = given.get("clusterScope", False)
    if not isinstance(name, str) or not isinstance(template, str) or type(scope) is not bool:
        return UNSAID
    return External(name, template, "ClusterWorkflowTemplate" if scope else "WorkflowTemplate")


def written_external(given: External) -> JSON:
    """The `templateRef` again."""
    found: JSON = {"name": given.name, "template": given.template}
    return found | ({"clusterScope": True} if given.kind == "ClusterWorkflowTemplate" else {})


# ---- tasks

_TASK = Table(
    Task,
    word_field("name", "name"),
    Field("depends", "depends", depends, written_depends),
    Field("dependencies", "after", after, lambda value, root: [each.task for each in value], ()),
    Field("when", "when", condition, written_condition),
    Field(
        "continueOn",
        "continue_on",
        _continue_on,
        lambda value, root: dict.fromkeys(value, True),
        (),
    ),
)


def task(data: JSON, root: Root, read_template: ReadTemplate) -> Task:
    """A task of a dag, or a step."""
    attributes, rest = _TASK.taken(data, root)
    if rest:
        attributes["call"] = _call(rest, root, read_template)
        attributes |= arguments(rest, root)
        if rest:
            if (each := items(rest, root)) is not None:
                attributes["each"] = each
            attributes["hooks"] = hooks(rest, root)
    found: JSON = {"name": "", "call": ""} | attributes | extra(rest, root)
    return Task(**found)


def written_task(given: Task, root: Root, write_template: Callable[[Template, Root], JSON]) -> JSON:
    """The task again."""
    fields = _TASK.write(given, root)
    found: JSON = {"name": fields.pop("name")} if "name" in fields else {}
    if isinstance(given.call, str):
        if given.call:
            found["template"] = given.call
    elif isinstance(given.call, External):
        found["templateRef"] = written_external(given.call)
    else:
        found["inline"] = write_template(given.call.template, root)
    last = {"continueOn": fields.pop("continueOn")} if "continueOn" in fields else {}
    found |= fields
    if given.arguments or given.artifacts:
        found |= written_arguments(given, root)
    if given.each is not None:
        found |= written_items(given.each, root)
    if given.hooks:
        found |= written_hooks(given.hooks, root)
    return with_extra(found | last, given.extra, root)


# ---- graphs


def _targets(given: Any, root: Root) -> Any:
    found = word(given, root)
    return tuple(found.split()) if isinstance(found, str) else UNSAID


_DAG = Table(
    Graph,
    Field("target", "targets", _targets, lambda value, root: " ".join(value), ()),
    Field("failFast", "fail_fast", flag, as_it_is, True),
)


def graph(rest: JSON, read_template: ReadTemplate) -> Graph | None:
    """The graph of a template, taken out of its remaining fields; None where it has none."""
    dag, groups = rest.get("dag"), rest.get("steps")
    if isinstance(groups, list):
        del rest["steps"]
        tasks = tuple(tuple(task(each, "steps", read_template) for each in group) for group in groups)
        names = tuple(tuple(each.name for each in group) for group in tasks)
        return Graph(tuple(each for group in tasks for each in group), "steps", names, fail_fast=True)
    if not isinstance(dag, dict):
        return None
    del rest["dag"]
    attributes, further = _DAG.taken(dag, "tasks")
    tasks = further.pop("tasks", ())
    return Graph(
        tuple(task(each, "tasks", read_template) for each in tasks),
        **({"fail_fast": True} | attributes | extra(further, "tasks")),
    )


def written_graph(given: Graph, write_template: Callable[[Template, Root], JSON]) -> JSON:
    """The graph again; the groups of steps are taken in their order, whatever the steps are called."""
    if given.form == "steps":
        tasks = iter(given.tasks)
        return {
            "steps": [[written_task(next(tasks), "steps", write_template) for _ in group] for group in given.groups]
        }
    found = _DAG.write_all(given, "tasks")
    found["tasks"] = [written_task(each, "tasks", write_template) for each in given.tasks]
    return {"dag": found}
