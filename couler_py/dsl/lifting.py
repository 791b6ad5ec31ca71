"""Python values, placeholders and containers of both, as typed expressions of the recording."""

from __future__ import annotations

import dataclasses
import pathlib
from typing import Any

import msgspec

from couler_py.dsl.conversions import ValueMismatchError, plain
from couler_py.dsl.frames import is_expression
from couler_py.dsl.problems import PlaceholderError, fail
from couler_py.ir import expr as ir
from couler_py.ir.types import ANY, FLOAT, ListOf, Record, Type, join, type_of_literal
from couler_py.ir.types import Field as RecordField


class Lifted(msgspec.Struct, frozen=True, eq=False):
    """An expression and its type; None is the type of a file."""

    expr: Any
    type: Type | None


def lift(value: Any, *, compared: bool = False) -> Lifted:
    """The value as an expression. Where it is `compared` or computed with, NaN and infinities stay numbers.

    Raises `RecordingError` for what can't travel.
    """
    from couler_py.dsl.placeholder import Placeholder, expression

    if isinstance(value, Placeholder):
        return Lifted(*expression(value))
    if is_expression(value):
        return Lifted(value, ANY)
    if holds_placeholder(value):
        return _container(value)
    try:
        wire = plain(value)
    except ValueMismatchError as problem:
        fail("CLR145", str(problem), kind=PlaceholderError)
    if compared and isinstance(value, float) and isinstance(wire, str):
        return Lifted(ir.NonFinite(wire), FLOAT)  # type: ignore[arg-type]
    return Lifted(ir.Literal(wire), FLOAT if isinstance(value, float) else type_of_literal(wire))


def holds_placeholder(value: Any) -> bool:
    """Whether a container has a placeholder somewhere in it."""
    from couler_py.dsl.placeholder import Placeholder

    if isinstance(value, Placeholder) or is_expression(value):
        return True
    if isinstance(value, list | tuple):
        return any(holds_placeholder(item) for item in value)
    if isinstance(value, dict):
        return any(holds_placeholder(item) for item in value.values())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return any(holds_placeholder(getattr(value, field.name)) for field in dataclasses.fields(value))
    return False


def members_of(value: Any) -> dict[str, Any] | None:
    """The named members of a dict, NamedTuple or dataclass; None for other values."""
    if isinstance(value, dict):
        return value
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return dict(zip(value._fields, value, strict=True))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return None


def _container(value: Any) -> Lifted:
    members = members_of(value)
    if members is None:
        lifted = [_inner(item) for item in value]
        return Lifted(
            ir.Record((), tuple(item.expr for item in lifted), "list"),
            ListOf(join(item.type or ANY for item in lifted)),
        )
    for key in members:
        if not isinstance(key, str):
            fail("CLR145", f"the key {key!r} of an object is not a string", kind=PlaceholderError)
    found = {key: _inner(item) for key, item in members.items()}
    fields = tuple(RecordField(key, item.type or ANY) for key, item in found.items())
    return Lifted(
        ir.Record(tuple(found), tuple(item.expr for item in found.values())), Record(type(value).__name__, fields)
    )


def _inner(value: Any) -> Lifted:
    if isinstance(value, pathlib.PurePath):
        fail("CLR145", "a Path inside a value can't travel: pass it as an argument of its own", kind=PlaceholderError)
    lifted = lift(value)
    if lifted.type is None:
        fail(
            "CLR145",
            f"{value!r} is a file and can't travel inside a value",
            help="pass it as an argument of its own, annotated `Path`",
            kind=PlaceholderError,
        )
    return lifted
