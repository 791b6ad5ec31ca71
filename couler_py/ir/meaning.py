"""What the edges between tasks mean: who waits for whom, who runs, and how a graph ends.

Everything here is a pure function of the graph and the states of its tasks. The local engine runs by
these functions; what the other backends emit was run on the real engines to say the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal as OneOf
from typing import TypeAlias

import msgspec

from couler_py.ir.expr import Expr, First, Literal, OrElse, TaskArtifact, TaskItems, TaskOutput, TaskStatus, children
from couler_py.ir.model import (
    Depends,
    DependsAll,
    DependsAny,
    DependsNot,
    DependsOn,
    EdgeKind,
    Graph,
    Sequence,
    Task,
)

State: TypeAlias = OneOf["Succeeded", "Failed", "Skipped", "Blocked"]
Verdict: TypeAlias = OneOf["go", "skip", "block"]

VERDICTS: dict[EdgeKind, dict[State, Verdict]] = {
    "order": {"Succeeded": "go", "Skipped": "go", "Failed": "block", "Blocked": "block"},
    "value": {"Succeeded": "go", "Skipped": "skip", "Failed": "block", "Blocked": "block"},
    "on_failure": {"Succeeded": "skip", "Skipped": "skip", "Failed": "go", "Blocked": "go"},
    "always": {"Succeeded": "go", "Skipped": "go", "Failed": "go", "Blocked": "go"},
}
"""The edge table: what an edge says to its reader, by the state of its producer."""


class Edge(msgspec.Struct, frozen=True, gc=False):
    """What a task waits for: one producer, or for `first` several."""

    kind: EdgeKind
    tasks: tuple[str, ...]


def edges(task: Task) -> tuple[Edge, ...]:
    """The edges of a task, written ones first, then those of its values, each once.

    A value makes a value edge; inside `or_else` an order edge, and none at all where the task also
    has an `always` edge to the producer; `first` makes one edge of its own. A reference to a task's
    status makes an order edge, unless the task has a written edge to it.
    """
    if task.depends is not None:
        return tuple(Edge("order", (name,)) for name in dict.fromkeys(_depends_tasks(task.depends)))
    found: dict[Edge, None] = {Edge(after.kind, (after.task,)): None for after in task.after}
    written = {after.task: after.kind for after in task.after}
    for expr in value_expressions(task):
        kind = type(expr)
        # Most values are literals or plain outputs: 10,000 tasks are asked for their edges at every compile.
        if kind is TaskOutput:
            found.setdefault(Edge("value", (expr.task,)))  # type: ignore[union-attr]
        elif kind is not Literal:
            _add_edges(expr, False, found, written)
    return tuple(found)


def _add_edges(expr: Expr, caught: bool, found: dict[Edge, None], written: Mapping[str, EdgeKind]) -> None:
    match expr:
        case TaskOutput(task=name) | TaskArtifact(task=name) | TaskItems(task=name):
            if not caught:
                found.setdefault(Edge("value", (name,)))
            elif not _always(name, found):
                found.setdefault(Edge("order", (name,)))
        case TaskStatus(task=name):
            if name not in written:
                found.setdefault(Edge("order", (name,)))
        case First(options=options):
            names = tuple(dict.fromkeys(_producers(options)))
            if not caught:
                found.setdefault(Edge("first", names))
            else:
                for name in names:
                    if not _always(name, found):
                        found.setdefault(Edge("order", (name,)))
        case OrElse(value=value, default=default):
            _add_edges(value, True, found, written)
            _add_edges(default, caught, found, written)
        case _:
            for child in children(expr):
                _add_edges(child, caught, found, written)


def _always(name: str, found: Mapping[Edge, None]) -> bool:
    return Edge("always", (name,)) in found


def value_expressions(task: Task) -> Iterable[Expr]:
    """The expressions of a task that are read before it runs: arguments, artifacts, `when` and items."""
    for argument in task.arguments:
        yield argument.value
    for artifact in task.artifacts:
        if artifact.value is not None:
            yield artifact.value
    if task.when is not None:
        yield task.when
    if task.each is not None:
        items = task.each.items
        if isinstance(items, Sequence):
            yield from (part for part in (items.start, items.end, items.count) if part is not None)
        else:
            yield items


def _producers(options: Iterable[Expr]) -> Iterable[str]:
    for option in options:
        match option:
            case TaskOutput(task=name) | TaskArtifact(task=name) | TaskItems(task=name):
                yield name
            case _:
                yield from _producers(children(option))


def _depends_tasks(depends: Depends) -> Iterable[str]:
    match depends:
        case DependsOn(task=task):
            yield task
        case DependsNot(operand=operand):
            yield from _depends_tasks(operand)
        case DependsAll(operands=operands) | DependsAny(operands=operands):
            for operand in operands:
                yield from _depends_tasks(operand)


def verdict(edge: Edge, states: Mapping[str, State]) -> Verdict:
    """What one edge says, its producers having ended in the given states."""
    if edge.kind == "first":
        ended = [states[name] for name in edge.tasks]
        if "Failed" in ended or "Blocked" in ended:
            return "block"
        return "go" if "Succeeded" in ended else "skip"
    return VERDICTS[edge.kind][states[edge.tasks[0]]]


def decide(task_edges: Iterable[Edge], states: Mapping[str, State]) -> Verdict:
    """Whether a task goes on to its own `when`, or ends Skipped ("skip") or Blocked ("block")."""
    verdicts = {verdict(edge, states) for edge in task_edges}
    if "block" in verdicts:
        return "block"
    return "skip" if "skip" in verdicts else "go"


def depends_holds(depends: Depends, states: Mapping[str, State]) -> bool:
    """Whether an imported `depends` is satisfied (Argo: a bare name is Succeeded, Skipped or Daemoned).

    A Blocked task is Argo's Omitted. `AnySucceeded` and `AllFailed` of a fan-out are read from its own state.
    """
    match depends:
        case DependsAll(operands=operands):
            return all(depends_holds(operand, states) for operand in operands)
        case DependsAny(operands=operands):
            return any(depends_holds(operand, states) for operand in operands)
        case DependsNot(operand=operand):
            return not depends_holds(operand, states)
        case DependsOn(task=task, state=state):
            ended = states[task]
            match state:
                case "":
                    return ended in ("Succeeded", "Skipped")
                case "Succeeded" | "AnySucceeded" | "Daemoned":
                    return ended == "Succeeded"
                case "Failed" | "Errored" | "AllFailed":
                    return ended == "Failed"
                case "Skipped":
                    return ended == "Skipped"
                case "Omitted":
                    return ended == "Blocked"


def outcome(graph_edges: Mapping[str, Iterable[Edge]], states: Mapping[str, State]) -> State:
    """How a graph ends: Failed or Succeeded. `graph_edges` holds the edges of each task.

    `always` edges are taken away. A leaf that ran counts with its own state; one that didn't, with the
    worst among its producers, recursively. So an `always` handler never absolves a failure, and an
    `on_failure` handler that succeeded does.
    """
    producers = {
        name: [producer for edge in task_edges if edge.kind != "always" for producer in edge.tasks]
        for name, task_edges in graph_edges.items()
    }
    inner = {producer for names in producers.values() for producer in names}
    seen: set[str] = set()
    stack = [name for name in producers if name not in inner]
    while stack:
        name = stack.pop()
        if name in seen:
            continue
        seen.add(name)
        state = states[name]
        if state == "Failed":
            return "Failed"
        if state in ("Skipped", "Blocked"):
            stack.extend(producers[name])
            if state == "Blocked" and not producers[name]:
                return "Failed"
    return "Succeeded"


def graph_edges(graph: Graph) -> dict[str, tuple[Edge, ...]]:
    """The edges of every task of a graph. In the form "steps", a group waits for the group before."""
    found = {task.name: edges(task) for task in graph.tasks}
    if graph.form == "steps":
        for before, group in zip(graph.groups, graph.groups[1:], strict=False):
            for name in group:
                found[name] += tuple(Edge("order", (earlier,)) for earlier in before)
    return found
