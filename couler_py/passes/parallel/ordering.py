"""The order edges of a graph that no value needs, and which of them can go without changing a result.

An edge from a to b does two things where no value flows: b starts later, and b doesn't run when a failed. Without it a
run in which nothing fails gives the same, if neither of them has effects. One in which something fails still fails, if
nobody looks at how what comes after ended: where an `on_failure` or `always` edge, a status or a hook does, the edge
stays. So it does after an `on_failure` edge, for the skipped handler of a failure counts where it is a leaf. Two tasks
with effects that were in order only through what is taken away get an edge of their own.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping

import msgspec
from msgspec.structs import replace

from couler_py.ir.expr import Literal, TaskStatus, walk
from couler_py.ir.graph import Shape, has_edges_alone, shape
from couler_py.ir.meaning import edges, value_expressions
from couler_py.ir.model import After, Graph, Task
from couler_py.passes.parallel.effects import Effects

MOST_PAIRS = 16
"""An edge between whose sides more pairs of tasks with effects would need edges of their own stays."""
LOOKED_AT = 1_000_000
"""So many tasks are looked at to see which of these edges others stand for already; then each is written."""

_WAITS = frozenset({"order", "value", "first"})


class OrderEdge(msgspec.Struct, frozen=True):
    """An order edge that no value needs; `kept` says why it has to stay, "" where it can go."""

    producer: str
    consumer: str
    kept: str = ""


def order_edges(graph: Graph, effects: Effects) -> tuple[tuple[OrderEdge, ...], Inside] | None:
    """The order edges that a person wrote and that no value needs, in the order of the graph, and what is known of it.

    None where there are none, as in an imported graph, whose `depends` or groups say more than edges.
    """
    if not has_edges_alone(graph):
        return None
    found = [(task, producer) for task in graph.tasks if task.after for producer in _not_needed(task)]
    if not found:
        return None
    inside = Inside(graph, effects)
    made = (OrderEdge(producer, task.name, inside.why_kept(producer, task.name)) for task, producer in found)
    return tuple(made), inside


def _not_needed(task: Task) -> tuple[str, ...]:
    """The producers that a task waits for by a written order edge alone."""
    written = tuple(each.task for each in task.after if each.kind == "order")
    if len(written) == len(task.after) and all(type(each) is Literal for each in value_expressions(task)):
        return written
    needed = {name for edge in edges(without(task, written)) for name in edge.tasks}
    return tuple(name for name in written if name not in needed)


def without(task: Task, producers: Iterable[str]) -> Task:
    """The task without its written order edges to some producers."""
    gone = frozenset(producers)
    return replace(task, after=tuple(each for each in task.after if each.kind != "order" or each.task not in gone))


class Inside:
    """What has to be known of a graph to say whether an edge can go; computed once, in linear time."""

    def __init__(self, graph: Graph, effects: Effects):
        self.shape = shape(graph)
        self.order = order = self.shape.order()
        self.why = {task.name: effects.of_task(task) for task in graph.tasks}
        self.looked_at = _looked_at(graph, self.shape)
        for name in reversed(order):
            if any(consumer in self.looked_at for consumer in self.shape.consumers[name]):
                self.looked_at.add(name)
        self.before = nearest(order, self.shape.producers, self.why)
        self.after = nearest(order[::-1], self.shape.consumers, self.why)
        self.loose = _behind_other_edges(order, self.shape, self.before)
        self.handlers: set[str] = set()
        for name in order:
            handles = any(edge.kind == "on_failure" for edge in self.shape.edges[name])
            if handles or any(each in self.handlers for each in self.shape.producers[name]):
                self.handlers.add(name)

    def why_kept(self, producer: str, consumer: str) -> str:
        for name in (producer, consumer):
            if self.why[name]:
                return f"{name}: {self.why[name]}"
        if producer in self.looked_at:
            return f"what follows {producer} looks at how tasks ended"
        if producer in self.handlers:
            return f"{producer} follows what is done about a failure"
        before, after = self.before[producer], self.after[consumer]
        if after and (producer in self.loose or len(before) * len(after) > MOST_PAIRS):
            return "it orders tasks with effects"
        return ""


def _looked_at(graph: Graph, found: Shape) -> set[str]:
    """The tasks whose states others read."""
    seen = {name for every in found.edges.values() for edge in every if edge.kind not in _WAITS for name in edge.tasks}
    for task in graph.tasks:
        seen.update(
            node.task for expr in value_expressions(task) for node in walk(expr) if isinstance(node, TaskStatus)
        )
        if task.hooks or task.continue_on:
            seen.add(task.name)
    return seen


def nearest(
    order: Iterable[str], neighbours: Mapping[str, tuple[str, ...]], why: Mapping[str, str]
) -> dict[str, frozenset[str]]:
    """For each task, itself if it has effects, else the first ones with effects that are met on each way from it.

    Of more than `MOST_PAIRS` any so many and one: nobody asks which, and large graphs have many.
    """
    found: dict[str, frozenset[str]] = {}
    for name in order:
        near = neighbours[name]
        if why[name]:
            found[name] = frozenset([name])
        elif len(near) == 1:
            found[name] = found[near[0]]
        else:
            met = {each for neighbour in near for each in found[neighbour]}
            found[name] = frozenset(met if len(met) <= MOST_PAIRS else itertools.islice(met, MOST_PAIRS + 1))
    return found


def _behind_other_edges(order: Iterable[str], graph: Shape, before: Mapping[str, frozenset[str]]) -> set[str]:
    """The tasks with one before them that has effects, on a way that a plain order edge can't stand for."""
    found: set[str] = set()
    for name in order:
        other = {each for edge in graph.edges[name] if edge.kind not in _WAITS for each in edge.tasks}
        if any(before[each] or each in found for each in other) or any(each in found for each in graph.producers[name]):
            found.add(name)
    return found


def dropped(graph: Graph, gone: Iterable[OrderEdge], inside: Inside) -> tuple[Graph, Shape]:
    """The graph without some edges that can go, and its shape; tasks with effects get edges of their own."""
    producers: dict[str, list[str]] = {}
    wanted: dict[str, dict[str, None]] = {}
    for edge in gone:
        producers.setdefault(edge.consumer, []).append(edge.producer)
        for late in sorted(inside.after[edge.consumer]):
            wanted.setdefault(late, {}).update(dict.fromkeys(sorted(inside.before[edge.producer])))
    left = replace(graph, tasks=tuple(without(task, producers.get(task.name, ())) for task in graph.tasks))
    now = shape(left)
    added = {}
    room = LOOKED_AT
    for late, early in wanted.items():
        before, room = _before(now, late, room)
        added[late] = [each for each in early if each not in before]
    if not any(added.values()):
        return left, now
    made = replace(left, tasks=tuple(_ordered(task, added.get(task.name, [])) for task in left.tasks))
    return made, shape(made)


def _before(graph: Shape, name: str, room: int) -> tuple[set[str], int]:
    """What a task waits for, directly or not, as far as there is room to look; and the room that is left."""
    found: set[str] = set()
    left = list(graph.producers[name])
    while left and room > 0:
        each = left.pop()
        if each not in found:
            found.add(each)
            left.extend(graph.producers[each])
            room -= 1
    return found, room


def _ordered(task: Task, producers: list[str]) -> Task:
    return replace(task, after=(*task.after, *map(After, producers))) if producers else task
