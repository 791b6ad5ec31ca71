"""Values that may be absent: a default for one, or the first that is there of several."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from couler_py.dsl.frames import Frame, Node, Reference, Scoped, every_leaf, home, leaves
from couler_py.dsl.lifting import lift, members_of
from couler_py.dsl.placeholder import Output, Outputs, Placeholder
from couler_py.dsl.problems import MissingMemberError, PlaceholderError, fail
from couler_py.dsl.sources import caller
from couler_py.ir import expr as ir
from couler_py.ir.types import NONE, Type
from couler_py.ir.types import join as join_types

Value = TypeVar("Value")
Default = TypeVar("Default")


class Joined(Placeholder):
    """A value made of several tasks: by members, or none at all (`reason` says why)."""

    def __init__(self, members: dict[str, Any] | None, nodes: Sequence[Node], label: str, reason: str = ""):
        mine = self.__dict__
        mine["_couler_members"] = members or {}
        mine["_couler_nodes"] = tuple(nodes)
        mine["_couler_reason"] = reason
        Placeholder.__init__(self, None, None, label, caller())
        for name in (members or {}).keys() & {"after", "or_else", "status", "inputs"}:
            mine[name] = members[name]  # type: ignore[index]

    def _couler_member(self, name: str) -> Any:
        members = self.__dict__["_couler_members"]
        if not members or name not in members:
            help_ = f"it has {', '.join(members)}" if members else self.__dict__["_couler_reason"]
            fail("CLR146", f"{self!r} has no member {name!r}", help=help_, kind=MissingMemberError)
        return members[name]

    def __iter__(self) -> Iterator[Any]:
        members = self.__dict__["_couler_members"]
        return iter(members.values()) if members else Placeholder.__iter__(self)

    def __getitem__(self, key: Any) -> Any:
        return self._couler_member(key) if isinstance(key, str) else Placeholder.__getitem__(self, key)

    def __repr__(self) -> str:
        members = self.__dict__["_couler_members"]
        return f"<{self._couler_label}: {', '.join(members) if members else 'no value'}>"


def or_else(value: Value, default: Default) -> Value | Default:
    """The value, or the default where its task was skipped.

    Its edge is an order edge: a failed task still blocks who reads it, unless the reader also has an
    `always` edge to the task. The default may itself be a value of the workflow. For values with several
    outputs it has the same members, or is None.

    >>> total = couler.or_else(couler.when(n > 0, lambda: count(n)), 0)  # doctest: +SKIP
    """
    if not isinstance(value, Placeholder):
        return value
    members = structure(value)
    if members is not None:
        given = members_of(default) if not isinstance(default, Placeholder) else structure(default)
        if default is not None and (given is None or given.keys() != members.keys()):
            fail(
                "CLR153",
                f"the default of {value!r} needs the members {', '.join(members)}",
                help="give a NamedTuple, dataclass or dict with these, or take one member: `value.member.or_else(...)`",
                kind=PlaceholderError,
            )
        parts = {name: or_else(part, None if given is None else given[name]) for name, part in members.items()}
        return Joined(parts, _nodes(value), "or_else")  # type: ignore[return-value]
    lifted, other = lift(value), lift(default)
    if (lifted.type is None) != (other.type is None) and other.type != NONE:
        fail(
            "CLR153",
            f"{default!r} can't stand in for {value!r}",
            why="one is a file and the other a value",
            help="a file's default is another file, or None where its reader takes `Path | None`",
            kind=PlaceholderError,
        )
    type_ = None if lifted.type is None or other.type is None else join_types((lifted.type, other.type))
    return _scoped(ir.OrElse(lifted.expr, other.expr), type_, "or_else")  # type: ignore[return-value]


def first(value: Value, *others: Value) -> Value:
    """The first of several values whose task succeeded. With members, member by member.

    It is one edge: blocked where any of the tasks failed or was blocked, skipped where all were skipped.

    >>> model = couler.first(fine_tuned, pretrained)  # doctest: +SKIP
    """
    values: tuple[Any, ...] = (value, *others)
    if any(not isinstance(item, Placeholder) for item in values):
        plain = next(item for item in values if not isinstance(item, Placeholder))
        fail(
            "CLR153",
            f"couler.first takes outputs of steps, not {plain!r}",
            help="a value that is always there is a default: `first(a, b).or_else(value)`",
            kind=PlaceholderError,
        )
    if len(values) == 1:
        return value
    joined = join(values, "first")
    if isinstance(joined, Joined) and joined._couler_reason:
        fail("CLR153", f"couler.first: {joined._couler_reason}", kind=PlaceholderError)
    return joined  # type: ignore[no-any-return]


def join(values: Sequence[Any], label: str) -> Any:
    """`first` of values that may be structures: where their shapes differ, something that only has an order."""
    nodes = [node for value in values for node in _nodes(value)]
    shapes = [structure(value) for value in values]
    if any(shape is not None for shape in shapes):
        if any(shape is None for shape in shapes) or len({tuple(sorted(shape or {})) for shape in shapes}) > 1:
            return Joined(None, nodes, label, "the values have different members")
        if not shapes[0]:
            return Joined(None, nodes, label, "the steps give nothing back")
        parts = {name: join([(shape or {})[name] for shape in shapes], label) for name in shapes[0] or {}}
        bad = next((part for part in parts.values() if isinstance(part, Joined) and part._couler_reason), None)
        return bad if bad is not None else rebuilt(values[0], parts, nodes, label)
    lifted = [lift(value) for value in values]
    if len({item.type is None for item in lifted}) > 1:
        return Joined(None, nodes, label, "one value is a file and another is not")
    types = [item.type for item in lifted if item.type is not None]
    return _scoped(ir.First(tuple(item.expr for item in lifted)), join_types(types) if types else None, label)


def rebuilt(like: Any, parts: dict[str, Any], nodes: Sequence[Node], label: str) -> Any:
    """A structure of the same class with other members."""
    if isinstance(like, Placeholder):
        return Joined(parts, nodes, label)
    if isinstance(like, dict):
        return parts
    if dataclasses.is_dataclass(like) or hasattr(like, "_fields"):
        return like.__class__(**parts)
    return type(like)(parts.values())


def structure(value: Any) -> dict[str, Any] | None:
    """The members of a value that has several; None for a single value or file."""
    if isinstance(value, Output):
        names = value._couler_members
        return None if names is None else {name: value._couler_member(name) for name in names}
    if isinstance(value, Joined):
        return value.__dict__["_couler_members"] or {}
    if isinstance(value, Placeholder):
        return None
    if isinstance(value, tuple | Outputs) and not hasattr(value, "_fields"):
        return {str(index): item for index, item in enumerate(value)}
    return members_of(value)


def _nodes(value: Any) -> list[Node]:
    if isinstance(value, Joined):
        return list(value.__dict__["_couler_nodes"])
    if isinstance(value, Output):
        return [value._couler_node]
    if isinstance(value, Placeholder):
        return [leaf.node for leaf in every_leaf(value._couler_expr) if isinstance(leaf, Reference)]
    members = structure(value)
    return [node for part in (members or {}).values() for node in _nodes(part)]


def _scoped(expr: Any, type_: Type | None, label: str) -> Placeholder:
    """The expression, bound to the innermost graph of its values: their edges belong there."""
    from couler_py.dsl.recorder import current

    recorder = current()
    owners = [home(leaf) for leaf in leaves(expr)]
    here: Frame | None = recorder.frame.live if recorder is not None else None
    if owners and (here is None or owners[0].recorder is not here.recorder):
        here = owners[0]
    if here is None:
        return Placeholder(expr, type_, label, caller())
    # A graph inside this one gives its value to this one; one around it is where the value belongs.
    around = {id(owner): owner for owner in owners if here.within(owner)}
    outside = bool(owners) and all(id(owner) in around for owner in owners)
    frame = max(around.values(), key=_depth) if outside else here
    if isinstance(expr, ir.First) and len({id(_seen_from(owner, frame)) for owner in owners}) > 1:
        fail(
            "CLR153",
            "couler.first mixes values of this function with values from around it",
            why="what is read from around a branch or a mapped function makes the whole of it wait, and skip",
            help="call first(...) outside, on what couler.when or couler.map returned",
            kind=PlaceholderError,
        )
    frame.scoped = True
    return Placeholder(Scoped(frame, expr, type_), type_, label, caller())


def _seen_from(owner: Frame, frame: Frame) -> Frame:
    return owner if frame.within(owner) and owner is not frame else frame


def _depth(frame: Frame) -> int:
    found = 0
    outer = frame.parent
    while outer is not None:
        found, outer = found + 1, outer.parent
    return found
