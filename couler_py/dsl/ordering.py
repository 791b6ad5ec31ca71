"""Edges that a person writes: this task after that one."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, TypeVar

from couler_py.dsl import placeholder
from couler_py.dsl.frames import Frame, LoopCall, Node, Reference, every_leaf
from couler_py.dsl.problems import fail, problem

EdgeName: TypeAlias = Literal["order", "on_failure", "always"]
Value = TypeVar("Value")


def after(task: Value, *earlier: Any, kind: EdgeName = "order") -> Value:
    """Run a task after others, and return it. Tasks are what calls of steps return, or lists of these.

    `kind` says when it runs: "order" once the others succeeded or were skipped, "on_failure" only when one
    failed or was blocked, "always" however they ended. `a >> b` and `b.after(a)` are the same with "order".

    Raises `RecordingError` for a cycle, and for a value that isn't a task's output.

    >>> couler.after(deploy(image), tests, scan)  # doctest: +SKIP
    """
    if kind not in ("order", "on_failure", "always"):
        fail("CLR144", f"there is no edge {kind!r}", help='use "order", "on_failure" or "always"')
    for consumer in tasks_of(task):
        for value in earlier:
            for producer in tasks_of(value):
                link(producer, consumer, kind)
    return task


def tasks_of(value: Any) -> list[Node]:
    """The tasks behind a value: of a list, tuple or dict of values, all of theirs."""
    if isinstance(value, placeholder.Output):
        return [value._couler_node]
    if isinstance(value, Node):
        return [value]
    if not isinstance(value, placeholder.Placeholder):
        if isinstance(value, list | tuple):
            return [node for item in value for node in tasks_of(item)]
        if isinstance(value, dict):
            return [node for item in value.values() for node in tasks_of(item)]
    nodes = getattr(value, "_couler_nodes", None)
    return list(nodes) if nodes is not None else [placeholder.task_of(value)]


def link(producer: Node, consumer: Node, kind: EdgeName) -> None:
    """Add an edge. Raises `RecordingError` where it closes a cycle or joins two workflows."""
    if producer.frame.recorder is not consumer.frame.recorder:
        fail("CLR149", f"{producer.name} and {consumer.name} belong to different workflows")
    if producer is consumer:
        fail("CLR152", f"{producer.name} can't wait for itself")
    # Values only flow from earlier calls to later ones, so a cycle needs an edge that goes back.
    if producer.number > consumer.number:
        way = _way(consumer, producer)
        if way:
            names = " -> ".join(node.name for node in [*way, consumer])
            related = tuple((f"{node.name} is called here", node.source) for node in way if node.source)
            fail("CLR152", f"these tasks would wait for each other: {names}", related=related)
    edge = (producer, kind)
    if edge not in consumer.after[-8:]:
        consumer.after.append(edge)


def _way(first: Node, last: Node) -> list[Node]:
    """The tasks by which `last` waits for `first`, from the one to the other; empty where it doesn't."""
    before: dict[Node, Node] = {}
    stack = [last]
    while stack:
        node = stack.pop()
        if node is first:
            way = [node]
            while way[-1] is not last:
                way.append(before[way[-1]])
            return way
        for producer in producers(node):
            if producer is not last and producer not in before:
                before[producer] = node
                stack.append(producer)
    return []


def producers(node: Node) -> list[Node]:
    """The tasks that a task waits for, those that tasks inside it read from outside among them."""
    found = [producer for producer, _ in node.after]
    items = node.each.each.items if node.each is not None else None
    for expr in (*node.arguments.values(), *node.artifacts.values(), node.when, items):
        found.extend(_named(expr))
    call = node.call
    inner = call.body if isinstance(call, LoopCall) else call
    if isinstance(inner, Frame) and inner.kind != "flow":
        for inside in inner.nodes:
            found.extend(producer for producer in producers(inside) if not producer.frame.within(inner))
    return found


def _named(expr: Any) -> list[Node]:
    return [leaf.node for leaf in every_leaf(expr) if isinstance(leaf, Reference)]


def level(producer: Node, consumer: Node) -> tuple[Node, Node]:
    """The two tasks, or the tasks whose graphs hold them, so that both stand in one graph."""
    frames = {id(node.frame.live): node for node in _outwards(producer)}
    for node in _outwards(consumer):
        found = frames.get(id(node.frame.live))
        if found is not None:
            return found, node
    raise problem("CLR149", f"{producer.name} and {consumer.name} have no graph in common", source=consumer.source)


def _outwards(node: Node) -> list[Node]:
    found = [node]
    frame = node.frame.live
    while len(frame.callers) == 1:
        found.append(frame.callers[0])
        frame = frame.callers[0].frame.live
    return found
