"""The types of values that travel between steps, and which of them fit where.

A type is a small frozen tree with a JSON form, so that it can stand in the IR and be read by the
runner inside a pod. Files and folders are not values: they are artifacts (see `Artifact`).
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any, Literal, TypeAlias

import msgspec

ScalarName: TypeAlias = Literal["str", "int", "float", "bool", "none", "datetime", "any"]


class Scalar(msgspec.Struct, frozen=True, tag="scalar", forbid_unknown_fields=True, gc=False):
    """One of the plain types. `any` fits everything and is what an unannotated value has."""

    name: ScalarName


class ListOf(msgspec.Struct, frozen=True, tag="list", forbid_unknown_fields=True, gc=False):
    """A JSON list whose elements all have the type `item`."""

    item: Type


class DictOf(msgspec.Struct, frozen=True, tag="dict", forbid_unknown_fields=True, gc=False):
    """A JSON object with any string keys and values of type `value`."""

    value: Type


class Choice(msgspec.Struct, frozen=True, tag="choice", forbid_unknown_fields=True, gc=False):
    """One of the listed JSON scalars: Python's `Literal` and `Enum` (by value)."""

    values: tuple[str | int | float | bool | None, ...]
    name: str = ""


class UnionOf(msgspec.Struct, frozen=True, tag="union", forbid_unknown_fields=True, gc=False):
    """Any of the options. A value of a union always travels as JSON text."""

    options: tuple[Type, ...]


class Field(msgspec.Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """A named member of a `Record`."""

    name: str
    type: Type
    required: bool = True


class Record(msgspec.Struct, frozen=True, tag="record", forbid_unknown_fields=True, gc=False):
    """A dataclass, TypedDict or NamedTuple: a JSON object with known fields."""

    name: str
    fields: tuple[Field, ...]


Type: TypeAlias = Scalar | ListOf | DictOf | Choice | UnionOf | Record

STR = Scalar("str")
INT = Scalar("int")
FLOAT = Scalar("float")
BOOL = Scalar("bool")
NONE = Scalar("none")
DATETIME = Scalar("datetime")
ANY = Scalar("any")


def describe(type_: Type) -> str:
    """The type as a person would write it in Python."""
    match type_:
        case Scalar(name="none"):
            return "None"
        case Scalar(name="any"):
            return "Any"
        case Scalar(name=name):
            return name
        case ListOf(item=item):
            return f"list[{describe(item)}]"
        case DictOf(value=value):
            return f"dict[str, {describe(value)}]"
        case Choice(values=values, name=name):
            return name or f"Literal[{', '.join(map(repr, values))}]"
        case UnionOf(options=options):
            return " | ".join(map(describe, options))
        case Record(name=name):
            return name


def accepts(target: Type, source: Type) -> bool:
    """Whether every value of type `source` may be given where `target` is asked for.

    `any` fits both ways, an int fits a float, a record fits a dict, and a choice fits the scalars
    of its values; nothing else is converted. A record fits another whose fields are the same or
    optional, and none is left over.
    """
    if target is source:
        return True
    if isinstance(target, Scalar) and isinstance(source, Scalar):
        asked, given = target.name, source.name
        return asked == given or asked == "any" or given == "any" or (asked == "float" and given == "int")
    if ANY in (target, source):
        return True
    if isinstance(source, UnionOf):
        return all(accepts(target, option) for option in source.options)
    if isinstance(source, Choice):
        return all(_accepts_value(target, value) for value in source.values)
    match target:
        case UnionOf(options=options):
            return any(accepts(option, source) for option in options)
        case ListOf(item=item):
            return isinstance(source, ListOf) and accepts(item, source.item)
        case DictOf(value=value):
            if isinstance(source, Record):
                return all(accepts(value, field.type) for field in source.fields)
            return isinstance(source, DictOf) and accepts(value, source.value)
        case Record():
            return isinstance(source, Record) and _accepts_record(target, source)
        case _:
            return False


def _accepts_record(target: Record, source: Record) -> bool:
    given = {field.name: field for field in source.fields}
    asked = {field.name for field in target.fields}
    return asked.issuperset(given) and all(
        accepts(field.type, given[field.name].type) and (given[field.name].required or not field.required)
        if field.name in given
        else not field.required
        for field in target.fields
    )


def _accepts_value(target: Type, value: str | int | float | bool | None) -> bool:
    match target:
        case Choice(values=values):
            return any(value == known and type(value) is type(known) for known in values)
        case UnionOf(options=options):
            return any(_accepts_value(option, value) for option in options)
        case _:
            return accepts(target, type_of_scalar(value))


def join(types: Iterable[Type]) -> Type:
    """The narrowest type that takes the values of all. `Any` for no types, and where one is `Any`."""
    found: list[Type] = []
    for type_ in types:
        if type_ == ANY:
            return ANY
        if not any(accepts(known, type_) for known in found):
            found = [*(known for known in found if not accepts(type_, known)), type_]
    if not found:
        return ANY
    return found[0] if len(found) == 1 else UnionOf(tuple(found))


def type_of_scalar(value: str | int | float | bool | None) -> Scalar:
    """The plain type of one JSON scalar."""
    if value is None:
        return NONE
    return {bool: BOOL, int: INT, float: FLOAT, str: STR}[type(value)]


def type_of(value: Any) -> Type:
    """The narrowest type of a JSON value. An empty list is `list[Any]`.

    Raises `TypeError` for what is not JSON.
    """
    if value is None or isinstance(value, bool | int | float | str):
        return type_of_scalar(value)
    if isinstance(value, list | tuple):
        return ListOf(join(type_of(item) for item in value))
    if isinstance(value, dict):
        return DictOf(join(type_of(item) for item in value.values()))
    raise TypeError(f"{type(value).__name__} is not a JSON value")


def type_of_literal(value: Any) -> Type:
    """The type of a JSON value that stands in a workflow, as far as its parts can be relied on.

    An object has its fields; a list whose elements have no type in common is a list of anything, since
    each of them is known and checked where it is used.

    >>> describe(type_of_literal([["svm", 0.1], ["forest", 1.0]]))
    'list[list[Any]]'
    """
    if isinstance(value, dict):
        return Record("dict", tuple(Field(str(key), type_of_literal(item)) for key, item in value.items()))
    if isinstance(value, list | tuple):
        common = join(type_of_literal(item) for item in value)
        return ListOf(ANY if isinstance(common, UnionOf) else common)
    return type_of(value)


def mismatch(type_: Type, value: Any, where: str = "") -> str | None:
    """Why a JSON value is not of the type, naming the place inside it; None where it is.

    A float may be given as an int, or as one of the strings "NaN", "Infinity", "-Infinity", which
    is how such numbers travel.
    """
    at = f" at {where}" if where else ""

    def wrong() -> str:
        return f"{_short(value)}{at} is not {describe(type_)}"

    match type_:
        case Scalar(name=name):
            return None if _is_scalar(name, value) else wrong()
        case ListOf(item=item):
            if not isinstance(value, list | tuple):
                return wrong()
            return _first(mismatch(item, element, f"{where}[{i}]") for i, element in enumerate(value))
        case DictOf(value=inner):
            if not isinstance(value, dict):
                return wrong()
            bad = next((key for key in value if not isinstance(key, str)), None)
            if bad is not None:
                return f"the key {bad!r}{at} is not a string"
            return _first(mismatch(inner, element, f"{where}[{key!r}]") for key, element in value.items())
        case Choice(values=values):
            fits = any(value == known and type(value) is type(known) for known in values)
            return None if fits else f"{_short(value)}{at} is not one of {', '.join(map(repr, values))}"
        case UnionOf(options=options):
            return None if any(mismatch(option, value) is None for option in options) else wrong()
        case Record(fields=fields, name=name):
            if not isinstance(value, dict):
                return wrong()
            unknown = sorted(set(value) - {field.name for field in fields})
            if unknown:
                return f"{name}{at} has no field {unknown[0]!r}"
            missing = [field.name for field in fields if field.required and field.name not in value]
            if missing:
                return f"{name}{at} lacks the field {missing[0]!r}"
            return _first(
                mismatch(field.type, value[field.name], f"{where}[{field.name!r}]")
                for field in fields
                if field.name in value
            )


def _is_scalar(name: ScalarName, value: Any) -> bool:
    match name:
        case "any":
            return True
        case "none":
            return value is None
        case "str":
            return isinstance(value, str)
        case "datetime":
            return isinstance(value, str) and _is_time(value)
        case "bool":
            return isinstance(value, bool)
        case "int":
            return isinstance(value, int) and not isinstance(value, bool)
        case "float":
            number = isinstance(value, int | float) and not isinstance(value, bool)
            return number or (isinstance(value, str) and value in ("NaN", "Infinity", "-Infinity"))


def _is_time(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return "T" in text.upper()


def _first(messages: Any) -> str | None:
    return next((message for message in messages if message is not None), None)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
