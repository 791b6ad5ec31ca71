"""A workflow while it is being recorded: graphs inside graphs, their tasks, and references between them.

Expressions of a recording are the IR's, with further leaves (`Reference`, `FrameInput`, `FrameItem`,
`Scoped`) that name tasks and graphs as objects. `couler_py.dsl.lower` turns them into the IR's own, once
it is known which graphs remain and what each is called.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, Literal, TypeAlias

import msgspec

from couler_py.dsl.problems import fail
from couler_py.ir import expr as ir
from couler_py.ir.model import Depends, Each, External, Lock, RetryPolicy, Source, Template
from couler_py.ir.names import legal, legal_name
from couler_py.ir.types import Type

FrameKind: TypeAlias = Literal["entry", "map", "branch", "loop", "flow", "handler"]
ReferenceKind: TypeAlias = Literal["output", "artifact", "status", "items"]

COUNTED = 240  # so much of a name stays before its counter, which then fits in the 250 characters of the IR

WHAT: dict[FrameKind, str] = {
    "entry": "the workflow",
    "map": "the function that couler.map runs for each item",
    "branch": "a branch",
    "loop": "the body of a loop",
    "flow": "a workflow that is called like a step",
    "handler": "a handler of the run's end",
}


_numbers = itertools.count()


class Node:
    """A task while it is recorded. `call` is a template, a nested graph, a loop, or a template on the engine."""

    __slots__ = (
        "after",
        "arguments",
        "artifacts",
        "base",
        "call",
        "depends",
        "display",
        "each",
        "explicit",
        "extra",
        "frame",
        "hooks",
        "name",
        "number",
        "published",
        "source",
        "when",
    )

    def __init__(self, frame: Frame, call: Callee, base: str, source: Source | None, *, explicit: bool = False):
        self.frame = frame
        self.number = next(_numbers)
        self.call = call
        self.base = base
        self.explicit = explicit
        self.source = source
        self.name = ""
        self.display = ""
        self.arguments: dict[str, Any] = {}
        self.artifacts: dict[str, Any] = {}
        self.after: list[tuple[Node, Literal["order", "on_failure", "always"]]] = []
        self.when: Any = None
        self.each: EachItems | None = None
        self.hooks: tuple[Any, ...] = ()
        self.extra: Any = None
        self.depends: tuple[Depends, dict[str, Node]] | None = None  # over the names that a person wrote
        self.published: dict[str, str] = {}

    def __repr__(self) -> str:
        return f"<task {self.name}>"


def is_name(kind: Literal["task", "parameter"], name: object) -> bool:
    """Whether something that a person gave can be a name: text, and legal."""
    return isinstance(name, str) and legal("ir", kind, name)


class EachItems(msgspec.Struct, frozen=True):
    """The items of a fan-out while it is recorded: as `Each`, its items an expression of the recording."""

    each: Each
    type: Type


class FrameOutput(msgspec.Struct):
    """A value that a graph gives to the outside: `type` is None for a file."""

    expr: Any
    type: Type | None
    global_name: str = ""
    source: Source | None = None


class GraphSettings(msgspec.Struct, frozen=True):
    """What a workflow says of its graph: as a run of its own, and called in another workflow."""

    fail_fast: bool = False
    parallelism: int | None = None
    retry: RetryPolicy | None = None
    deadline: float | None = None
    locks: tuple[Lock, ...] = ()
    description: str = ""


class Frame:
    """A graph while it is recorded: its tasks in program order, what it reads from outside, what it gives."""

    def __init__(self, kind: FrameKind, parent: Frame | None, base: str, source: Source | None, recorder: Any):
        self.kind = kind
        self.recorder = recorder
        self.base = base
        self.source = source
        self.nodes: list[Node] = []
        self.names: dict[str, Node] = {}
        self.inputs: dict[str, FrameInputSpec] = {}
        self.outputs: dict[str, FrameOutput] = {}
        self.callers: list[Node] = []
        self.closed = False
        self.settings = GraphSettings()
        self.scoped = False  # whether an or_else or first was written here
        self.sequential: bool = parent.sequential if parent is not None else False
        self.previous: list[Node] = []
        self._parent = parent
        self._into: Frame | None = None
        self._counts: dict[str, int] = {}
        self._legal: dict[str, str] = {}

    @property
    def parent(self) -> Frame | None:
        return self._parent.live if self._parent is not None else None

    @property
    def live(self) -> Frame:
        """The graph that holds what was recorded here: another one, where this one was dissolved into it."""
        frame = self
        while frame._into is not None:
            frame = frame._into
        return frame

    @property
    def dissolved(self) -> bool:
        return self._into is not None

    def within(self, other: Frame) -> bool:
        """Whether this graph is the other or stands inside it."""
        frame: Frame | None = self.live
        other = other.live
        while frame is not None:
            if frame is other:
                return True
            frame = frame.parent
        return False

    def add(self, node: Node) -> None:
        """Take in a task: give it its name, and its place in the order where calls are ordered."""
        node.frame = self
        self._name(node)
        self.nodes.append(node)
        if self.sequential:
            node.after.extend((earlier, "order") for earlier in self.previous)
            self.previous = [node]

    def dissolve(self) -> Node:
        """Hand the only task to the graph around, and be no graph any more."""
        (node,) = self.nodes
        parent = self.parent
        assert parent is not None
        self._into = parent
        parent.add(node)
        return node

    def _name(self, node: Node) -> None:
        wanted = self._legal.get(node.base)
        if wanted is None:
            base = node.base
            wanted = self._legal[base] = base if legal("ir", "task", base) else legal_name("ir", "task", base)
        if wanted != node.base:
            node.display = node.base
        holder = self.names.get(wanted)
        if node.explicit:
            if holder is not None and holder.explicit:
                fail(
                    "CLR141",
                    f"two calls are named {node.base!r} in one graph",
                    source=node.source,
                    why="a name stands for one task",
                    help="give one of them another name, or none: unnamed calls are counted",
                    related=(("the other one", holder.source),) if holder.source else (),
                )
            self.names[wanted] = node
            node.name = wanted
            if holder is not None:
                self._count(holder, holder.base if not holder.display else wanted)
            return
        if holder is None:
            self.names[wanted] = node
            node.name = wanted
            self._counts.setdefault(wanted, 1)
            return
        self._count(node, wanted)

    def _count(self, node: Node, base: str) -> None:
        base = base[:COUNTED].rstrip("-_")
        number = self._counts.get(base, 1) + 1
        while f"{base}-{number}" in self.names:
            number += 1
        self._counts[base] = number
        node.name = f"{base}-{number}"
        self.names[node.name] = node


class FrameInputSpec(msgspec.Struct):
    """What a graph reads from outside. `type` is None for a file; `default` is wire JSON."""

    type: Type | None
    default: Any = msgspec.UNSET
    optional: bool = False
    description: str = ""
    enum: tuple[str, ...] | None = None


class LoopCall(msgspec.Struct, eq=False):
    """A loop while it is recorded: the body is a graph, or one step's template called directly.

    `carry` pairs outputs of the body with the inputs they become; `until` is over the body's outputs;
    `outputs` are the loop's, each with the body's output that it is.
    """

    base: str
    body: Frame | Template
    until: Any
    carry: tuple[tuple[str, str], ...]
    outputs: dict[str, tuple[str, Type | None]]
    max_iterations: int
    source: Source | None = None


Callee: TypeAlias = Template | Frame | LoopCall | External


class Reference(msgspec.Struct, frozen=True, eq=False):
    """An output, artifact, the status or the items of a task of a recording."""

    node: Node
    name: str
    kind: ReferenceKind = "output"


class FrameInput(msgspec.Struct, frozen=True, eq=False):
    """An input of a graph of a recording."""

    frame: Frame
    name: str
    artifact: bool = False


class FrameItem(msgspec.Struct, frozen=True, eq=False):
    """The item that a mapped graph works on; of several zipped lists, the element of one.

    `name` is the graph's input, where the graph remains one.
    """

    frame: Frame
    name: str
    type: Type
    index: int | None = None


class Scoped(msgspec.Struct, frozen=True, eq=False):
    """An `or_else` or `first`, which belongs to the graph that it was written in.

    Read from another graph it travels as one value, so that it keeps the edges it stands for.
    """

    frame: Frame
    expr: Any
    type: Type | None


LEAVES = (Reference, FrameInput, FrameItem, Scoped)


def is_expression(value: object) -> bool:
    """Whether something is an expression of the IR; a recording's leaves stand inside such, or alone."""
    return isinstance(value, ir._Node)


def leaves(expr: Any) -> Iterator[Any]:
    """The recording's own leaves in an expression. What stands inside a `Scoped` belongs to it."""
    if isinstance(expr, LEAVES):
        yield expr
    elif is_expression(expr):
        for node in ir.walk(expr):
            if isinstance(node, LEAVES):
                yield node


def every_leaf(expr: Any) -> Iterator[Any]:
    """As `leaves`, with what stands inside of each `Scoped` in its stead."""
    for leaf in leaves(expr):
        if isinstance(leaf, Scoped):
            yield from every_leaf(leaf.expr)
        else:
            yield leaf


def home(leaf: Any) -> Frame:
    """The graph that a leaf belongs to."""
    frame: Frame = leaf.node.frame if isinstance(leaf, Reference) else leaf.frame
    return frame.live
