"""References of a recording as the IR's: which task, which input, and what travels between graphs.

A value read in the graph of its task is a reference to the task. Read in a graph inside, it becomes an
input of that graph and an argument of the task that calls it; read outside of a branch, an output of the
branch's graph. Either step is repeated for every graph between.
"""

from __future__ import annotations

from typing import Any, NoReturn

import msgspec

from couler_py.dsl.frames import (
    LEAVES,
    Frame,
    FrameInput,
    FrameInputSpec,
    FrameItem,
    FrameOutput,
    LoopCall,
    Node,
    Reference,
    Scoped,
    every_leaf,
    home,
    is_expression,
)
from couler_py.dsl.problems import fail
from couler_py.ir import expr as ir
from couler_py.ir.model import Sequence, Source, Template
from couler_py.ir.names import free_name, legal_name
from couler_py.ir.types import ANY, STR, ListOf, Type


class Lowering:
    """The references of one recording, each resolved where it is read."""

    def __init__(self) -> None:
        self.arguments: dict[Node, dict[str, Any]] = {}
        self.artifacts: dict[Node, dict[str, Any]] = {}
        self.outputs: dict[Frame, dict[str, Any]] = {}
        self.conditions: dict[Node, Any] = {}
        self.items: dict[Node, Any] = {}
        self.untils: dict[Node, Any] = {}
        self._inputs: dict[tuple[Any, ...], str] = {}
        self._exports: dict[tuple[Any, ...], str] = {}

    def frame(self, frame: Frame) -> None:
        """Resolve what the tasks and outputs of a graph read."""
        for node in frame.nodes:
            self.node(node)
            if node.when is not None:
                self.conditions[node] = self.expr(node.when, frame, node.source)
            if node.each is not None:
                self.items[node] = self._items(node.each.each.items, frame)
            if isinstance(node.call, LoopCall):
                scope = node.call.body if isinstance(node.call.body, Frame) else frame
                self.untils[node] = self.expr(node.call.until, scope, node.source)
        for name in list(frame.outputs):
            self._output(frame, name)

    def node(self, node: Node) -> None:
        """Resolve the arguments of a task."""
        frame = node.frame
        mine = self.arguments.setdefault(node, {})
        for name, value in node.arguments.items():
            if name not in mine:
                mine[name] = self.expr(value, frame, node.source)
        if node.artifacts:
            files = self.artifacts.setdefault(node, {})
            for name, value in node.artifacts.items():
                if name not in files:
                    files[name] = self.expr(value, frame, node.source)

    def _items(self, items: Any, frame: Frame) -> Any:
        if not isinstance(items, Sequence):
            return self.expr(items, frame)
        parts = {"start": items.start, "end": items.end, "count": items.count}
        given = {name: self.expr(part, frame) for name, part in parts.items() if part is not None}
        return msgspec.structs.replace(items, **given)

    def expr(self, expr: Any, frame: Frame, source: Source | None = None) -> Any:
        """An expression of the recording as one of the IR, read in a graph."""
        kind = type(expr)
        if kind is ir.Literal:
            return expr
        if kind in LEAVES:
            return self._leaf(expr, frame, source)
        if not is_expression(expr):
            return expr  # a place in storage
        return ir.rewrite(
            expr,
            lambda leaf: self._leaf(leaf, frame, source) if isinstance(leaf, LEAVES) else leaf,
        )

    def _leaf(self, leaf: Any, frame: Frame, source: Source | None) -> Any:
        owner = home(leaf)
        if owner is frame:
            return self._own(leaf, frame, source)
        if frame.within(owner):
            return self._threaded(leaf, frame)
        return self._leaf(self._exported(leaf, owner, source), frame, source)

    def _own(self, leaf: Any, frame: Frame, source: Source | None) -> Any:
        if isinstance(leaf, Reference):
            name = leaf.node.name
            match leaf.kind:
                case "output":
                    return ir.TaskOutput(name, leaf.name)
                case "artifact":
                    return ir.TaskArtifact(name, leaf.name)
                case "status":
                    return ir.TaskStatus(name)
                case "items":
                    return ir.TaskItems(name)
        if isinstance(leaf, FrameInput):
            return ir.InputArtifact(leaf.name) if leaf.artifact else ir.Input(leaf.name)
        if isinstance(leaf, FrameItem):
            if not leaf.frame.dissolved:
                return ir.Input(leaf.name)
            return ir.Item() if leaf.index is None else ir.Access(ir.Item(), ir.Literal(leaf.index))
        return self.expr(leaf.expr, frame, source)

    def _threaded(self, leaf: Any, frame: Frame) -> Any:
        """The input of the graph by which a value from around it comes in."""
        type_ = type_of(leaf)
        key = (frame, *identity(leaf))
        name = self._inputs.get(key)
        if name is None:
            name = self._inputs[key] = free_name(legal_name("ir", "parameter", _called(leaf)), frame.inputs)
            frame.inputs[name] = FrameInputSpec(type_, optional=type_ is None and _may_be_none(leaf))
            for caller in frame.callers:
                target = caller.artifacts if type_ is None else caller.arguments
                target[name] = leaf
                self.node(caller)
        return ir.InputArtifact(name) if type_ is None else ir.Input(name)

    def _exported(self, leaf: Any, owner: Frame, source: Source | None) -> Reference:
        """The value of a graph inside as an output of the task that calls that graph."""
        type_ = type_of(leaf)
        key = (owner, *identity(leaf))
        name = self._exports.get(key)
        if owner.kind != "branch" or len(owner.callers) != 1:
            _no_way(leaf, source)
        if name is None:
            name = self._exports[key] = free_name(legal_name("ir", "parameter", _called(leaf)), owner.outputs)
            owner.outputs[name] = FrameOutput(leaf, type_)
            self._output(owner, name)
        return Reference(owner.callers[0], name, "artifact" if type_ is None else "output")

    def _output(self, frame: Frame, name: str) -> None:
        found = self.outputs.setdefault(frame, {})
        if name not in found:
            output = frame.outputs[name]
            found[name] = self.expr(output.expr, frame, output.source)


def identity(leaf: Any) -> tuple[Any, ...]:
    """What makes two leaves the same value."""
    if isinstance(leaf, Reference):
        return (leaf.node, leaf.name, leaf.kind)
    if isinstance(leaf, Scoped):
        return (leaf,)
    return (leaf.frame, leaf.name)


def type_of(leaf: Any) -> Type | None:
    """The type of the value that a leaf stands for; None for a file."""
    if isinstance(leaf, Scoped | FrameItem):
        return leaf.type
    if isinstance(leaf, FrameInput):
        return None if leaf.artifact else leaf.frame.inputs[leaf.name].type
    assert isinstance(leaf, Reference)
    if leaf.kind == "artifact":
        return None
    if leaf.kind == "status":
        return STR
    each = leaf.node.each
    if leaf.kind == "items":
        return ListOf(each.type if each is not None else ANY)
    one = _output_type(leaf.node, leaf.name)
    return ListOf(one) if each is not None else one


def _output_type(node: Node, name: str) -> Type:
    call = node.call
    if isinstance(call, Template):
        found: Type | None = next((output.type for output in call.outputs.parameters if output.name == name), None)
    elif isinstance(call, Frame):
        found = call.outputs[name].type
    elif isinstance(call, LoopCall):
        found = call.outputs[name][1]
    else:
        found = None
    return found or ANY


def _may_be_none(leaf: Any) -> bool:
    return isinstance(leaf, Scoped) and any(
        isinstance(node, ir.OrElse) and node.default == ir.Literal(None) for node in ir.walk(leaf.expr)
    )


def _called(leaf: Any) -> str:
    if isinstance(leaf, Reference):
        suffix = leaf.name if leaf.kind in ("output", "artifact") else leaf.kind
        return leaf.node.name if suffix == "result" else f"{leaf.node.name}-{suffix}"
    if isinstance(leaf, Scoped):
        inner = next((found for found in every_leaf(leaf.expr) if isinstance(found, Reference)), None)
        return f"{_called(inner)}-or-else" if inner is not None else "value"
    return str(leaf.name)


def _no_way(leaf: Any, source: Source | None) -> NoReturn:
    fail(
        "CLR149",
        f"the value {_called(leaf)!r} can't be read here",
        source=source,
        why="it belongs to a graph that runs many times, or is called from several places",
        help="return it from the function that makes it, and use what the call gives back",
    )
