"""Which tasks stay together whatever the parts, and which graphs stay whole."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from couler_py.ir.expr import TaskArtifact, TaskItems, TaskStatus, walk
from couler_py.ir.graph import Shape, strongly_connected
from couler_py.ir.meaning import value_expressions
from couler_py.ir.model import Graph, Task, Template, Workflow
from couler_py.ir.possible import Possible


def kept_whole(workflow: Workflow, template: Template, shape: Shape, possible: Mapping[str, Possible]) -> str:
    """Why a graph can't be split; empty where it can."""
    graph = template.body
    assert isinstance(graph, Graph)
    if graph.form != "dag" or graph.targets or graph.fail_fast:
        return "it is written in steps, has targets, or ends at the first failure"
    for task in graph.tasks:
        if task.depends is not None or task.hooks or task.continue_on or task.extra is not None:
            return f"{task.name} has settings that only Argo knows"
        if _handler_can_be_skipped(task, shape, possible):
            return (
                f"the handler {task.name} can be skipped although what it handles failed, and then the run fails: put "
                "it and what it handles into a graph of their own"
            )
    return ""


def _handler_can_be_skipped(task: Task, shape: Shape, possible: Mapping[str, Possible]) -> bool:
    """Whether a handler of failures can have a reason to be skipped besides that nothing failed.

    Such a skipped handler passes the failure on to whoever waits for it, which no state of its own tells.
    """
    edges = shape.edges[task.name]
    handled = [edge for edge in edges if edge.kind == "on_failure"]
    if not handled:
        return False
    if task.when is not None or len(handled) > 1:
        return True
    others = [edge for edge in edges if edge.kind in ("value", "first")]
    return any(possible[name].skipped for edge in others for name in edge.tasks)


def together(tasks: Mapping[str, Task], shape: Shape) -> list[tuple[str, ...]]:
    """The tasks in groups that no part may divide, in the order of their first task.

    Who reads the state, the items or the gathered files of another task stays with it, and so does everything on a
    way from one to the other.
    """
    calls: dict[str, tuple[str, ...]] = dict(shape.consumers)
    bound: dict[str, dict[str, None]] = {}
    for task in tasks.values():
        for name in _bound(task, tasks):
            bound.setdefault(task.name, {})[name] = None
    for name, others in bound.items():
        calls[name] = (*calls[name], *others)
    if not bound:
        return [(name,) for name in tasks]
    place = {name: index for index, name in enumerate(tasks)}
    groups = [tuple(sorted(group, key=place.__getitem__)) for group in strongly_connected(calls)]
    return sorted(groups, key=lambda group: place[group[0]])


def _bound(task: Task, tasks: Mapping[str, Task]) -> Iterable[str]:
    for expr in value_expressions(task):
        for node in walk(expr):
            match node:
                case TaskStatus(task=name) | TaskItems(task=name):
                    yield name
                case TaskArtifact(task=name) if tasks[name].each is not None:
                    yield name
