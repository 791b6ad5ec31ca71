"""What a function of a nested graph returns, as the graph's outputs and as what its caller gets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from couler_py.dsl.choice import Joined, rebuilt, structure
from couler_py.dsl.frames import Frame, FrameOutput, Node, Reference
from couler_py.dsl.lifting import lift
from couler_py.dsl.placeholder import Output, Outputs, Placeholder, output_one
from couler_py.dsl.sources import caller
from couler_py.ir.names import free_name, legal_name
from couler_py.ir.types import Type


class Single(msgspec.Struct, frozen=True):
    """One value, or (type None) one file."""

    name: str
    type: Type | None


class Group(msgspec.Struct, frozen=True, eq=False):
    """Several values: `like` is what the function returned, whose class the caller gets again."""

    like: Any
    members: dict[str, Single | Group]


Shape = Single | Group | None


def give(frame: Frame, value: Any) -> Shape:
    """Make a returned value the outputs of a graph. A single one is called `result`, members have their own names."""
    return _give(frame, value, "")


def _give(frame: Frame, value: Any, prefix: str) -> Shape:
    if value is None:
        return None
    members = structure(value)
    if members is None:
        lifted = lift(value)
        name = free_name(legal_name("ir", "parameter", prefix or "result"), frame.outputs)
        frame.outputs[name] = FrameOutput(lifted.expr, lifted.type, source=caller())
        return Single(name, lifted.type)
    plain = isinstance(value, tuple | Outputs) and not hasattr(value, "_fields")
    found: dict[str, Single | Group] = {}
    for key, item in members.items():
        name = f"result-{int(key) + 1}" if plain else str(key)
        shape = _give(frame, item, f"{prefix}-{name}" if prefix else name)
        if shape is not None:
            found[key] = shape
    return Group(value, found)


def result(node: Node, shape: Shape) -> Any:
    """What the caller of the graph gets."""
    if shape is None:
        return Output(node, {}, None, None)
    if isinstance(shape, Single):
        return output_one(node, shape.name, shape.type)
    if isinstance(shape.like, Placeholder) and all(
        isinstance(member, Single) and member.name == key for key, member in shape.members.items()
    ):
        types = {key: member.type for key, member in shape.members.items() if isinstance(member, Single)}
        return Output(node, types, None, None)
    parts = {key: result(node, member) for key, member in shape.members.items()}
    return rebuilt(shape.like, parts, [node], node.name)


def built(shape: Shape, make: Callable[[Single], Any]) -> Any:
    """The structure with each of its values made by a function."""
    if shape is None or isinstance(shape, Single):
        return None if shape is None else make(shape)
    parts = {key: built(member, make) for key, member in shape.members.items()}
    return rebuilt(shape.like, parts, [], "the result")


def leaves(shape: Shape) -> list[Single]:
    """The single values of a structure, in order."""
    if shape is None or isinstance(shape, Single):
        return [] if shape is None else [shape]
    return [leaf for member in shape.members.values() for leaf in leaves(member)]


def only_of(value: Any, node: Node) -> bool:
    """Whether a value is made of nothing but outputs of one task, each as it is."""
    if value is None or (isinstance(value, Output) and value._couler_node is node):
        return True
    if isinstance(value, Placeholder) and not isinstance(value, Joined):
        expr = value._couler_expr
        return isinstance(expr, Reference) and expr.node is node and expr.kind in ("output", "artifact")
    members = None if isinstance(value, Joined) else structure(value)
    return members is not None and all(only_of(item, node) for item in members.values())


def again(value: Any, node: Node) -> Any:
    """The same outputs of a task once more, after it became a fan-out: lists where they were single."""
    if value is None:
        return Output(node, {}, None, None)
    if isinstance(value, Output) and value._couler_members is not None:
        return Output(node, value._couler_members, None, None)
    if isinstance(value, Placeholder):
        return output_one(node, value._couler_expr.name, value._couler_type)
    members = structure(value) or {}
    return rebuilt(value, {key: again(item, node) for key, item in members.items()}, [node], node.name)
