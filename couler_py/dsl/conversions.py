"""Python values given when a workflow is built, as the JSON that travels.

| Python | wire |
|---|---|
| `Enum` | its value |
| dataclass, `NamedTuple` | object of its fields |
| `datetime` | RFC 3339 with its offset; without a time zone it is refused, being read otherwise on every machine |
| NaN, ±Infinity | the strings "NaN", "Infinity", "-Infinity" |
| tuple | list |
| a NumPy scalar | the Python number |

`Path` is no value: it becomes an artifact (`LocalPath`), at the top of an argument only.
"""

from __future__ import annotations

import dataclasses
import datetime
import enum
import pathlib
from typing import Any

from couler_py.ir.types import DATETIME, Choice, DictOf, ListOf, Record, Type, UnionOf, mismatch
from couler_py.ir.wire import finite


class ValueMismatchError(TypeError):
    """A Python value that can't travel, or isn't of the type asked for; the message names the place inside it."""


def to_wire(type_: Type, value: Any) -> Any:
    """The wire JSON of a Python value, checked against the type.

    Raises `ValueMismatchError`.

    >>> from couler_py.ir.types import FLOAT, ListOf
    >>> to_wire(ListOf(FLOAT), (1, float("inf")))
    [1, 'Infinity']
    """
    wire = plain(value)
    problem = mismatch(type_, wire) or _without_zone(type_, wire)
    if problem:
        raise ValueMismatchError(problem)
    return wire


def plain(value: Any, where: str = "") -> Any:
    """The wire JSON of a Python value of any type. Raises `ValueMismatchError` for what can't travel."""
    if value is None or value is True or value is False:
        return value
    if isinstance(value, enum.Enum):
        return plain(value.value, where)
    if isinstance(value, str):
        return str(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return finite(float(value))
    if isinstance(value, datetime.datetime):
        if value.utcoffset() is None:
            raise ValueMismatchError(
                f"{value.isoformat()}{_at(where)} has no time zone: give it one, as `.replace(tzinfo=timezone.utc)`"
            )
        return value.isoformat()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in dataclasses.fields(value) if field.init]
        return {name: plain(getattr(value, name), f"{where}.{name}") for name in names}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return {name: plain(item, f"{where}.{name}") for name, item in zip(value._fields, value, strict=True)}
    if isinstance(value, list | tuple):
        return [plain(item, f"{where}[{index}]") for index, item in enumerate(value)]
    if isinstance(value, dict):
        return {_key(key, where): plain(item, f"{where}[{key!r}]") for key, item in value.items()}
    if type(value).__module__ == "numpy" and getattr(value, "ndim", None) == 0:
        return plain(value.item(), where)
    raise ValueMismatchError(f"a {type(value).__name__}{_at(where)} can't travel between steps{_hint(value)}")


def _key(key: Any, where: str) -> str:
    if isinstance(key, enum.Enum):
        key = key.value
    if not isinstance(key, str):
        raise ValueMismatchError(f"the key {key!r}{_at(where)} is not a string")
    return str(key)


def _hint(value: Any) -> str:
    if isinstance(value, bytes | bytearray | memoryview):
        return ": write it to a file and pass its `Path`"
    if isinstance(value, set | frozenset):
        return ": pass `sorted(...)` of it"
    if isinstance(value, pathlib.PurePath):
        return " inside a value: pass it as an argument of its own, annotated `Path`"
    if type(value).__module__.partition(".")[0] in ("numpy", "pandas", "torch"):
        return ": pass `.tolist()` of it, or write it to a file and pass its `Path`"
    return ""


def _at(where: str) -> str:
    return f" at {where.lstrip('.')}" if where else ""


def _without_zone(type_: Type, wire: Any) -> str | None:
    """Why a time of the right form is no point in time: it lacks a zone."""
    if type_ == DATETIME:
        return None if datetime.datetime.fromisoformat(wire).tzinfo else f"{wire!r} has no time zone"
    match type_:
        case ListOf(item=item):
            return next((bad for element in wire if (bad := _without_zone(item, element))), None)
        case DictOf(value=inner):
            return next((bad for element in wire.values() if (bad := _without_zone(inner, element))), None)
        case Record(fields=fields):
            known = (field for field in fields if field.name in wire)
            return next((bad for field in known if (bad := _without_zone(field.type, wire[field.name]))), None)
        case UnionOf(options=options):
            fitting = [option for option in options if mismatch(option, wire) is None]
            problems = [_without_zone(option, wire) for option in fitting]
            return None if not problems or None in problems else problems[0]
        case _:
            return None


def is_choice_of_strings(type_: Type) -> tuple[str, ...] | None:
    """The values of a choice that holds only strings: an engine can offer them to who starts a run."""
    if isinstance(type_, Choice) and type_.values and all(isinstance(value, str) for value in type_.values):
        return tuple(str(value) for value in type_.values)
    return None
