"""What is known of a value before it is computed."""

from __future__ import annotations

from datetime import tzinfo
from typing import Any

import msgspec

from couler_py.argolang.functions.gotime import Moment
from couler_py.argolang.values import AnyMap, Byte, Duration, Function, StringMap, Strings


class Nature(msgspec.Struct, frozen=True):
    """A kind of value, "unknown" where it shows only at run time.

    `element` is the nature of the elements of a list, where they share one. `function` is what can be called.
    """

    kind: str
    element: Nature | None = None
    function: Function | None = None


UNKNOWN, NIL, BOOL = Nature("unknown"), Nature("nil"), Nature("bool")
INT, FLOAT, STRING = Nature("int"), Nature("float"), Nature("string")
TIME, DURATION, ZONE, OTHER = Nature("time"), Nature("duration"), Nature("zone"), Nature("other")
LIST, STRINGS = Nature("list"), Nature("strings", STRING)
MAP, ANYMAP = Nature("map"), Nature("anymap")

LISTS, MAPS, NUMBERS = ("list", "strings"), ("map", "anymap"), ("int", "float")


def nature_of(value: Any) -> Nature:
    """The nature of a variable's value: what a list or an object holds isn't looked at, as Argo doesn't."""
    if value is None:
        return NIL
    if isinstance(value, Function):
        return Nature("function", function=value)
    for types, nature in _NATURES:
        if isinstance(value, types):
            return nature
    return OTHER


_NATURES: tuple[tuple[type | tuple[type, ...], Nature], ...] = (
    (bool, BOOL),
    (Duration, DURATION),
    (Byte, INT),
    (int, INT),
    (float, FLOAT),
    (str, STRING),
    (Strings, STRINGS),
    (list, LIST),
    ((AnyMap, StringMap), ANYMAP),
    (dict, MAP),
    (Moment, TIME),
    (tzinfo, ZONE),
)


def list_of(element: Nature) -> Nature:
    """A list whose elements have a nature."""
    return Nature("list", element)


def element_of(nature: Nature) -> Nature:
    """The nature of the elements of a list or of the values of an object."""
    return nature.element or UNKNOWN


def assignable(given: Nature, wanted: Nature) -> bool:
    """Whether a value of one nature may stand for one of another."""
    if given.kind == "nil":
        return wanted.kind in (*LISTS, *MAPS, "function")
    return given.kind == wanted.kind and given.kind not in ("unknown", "other")


def comparable(left: Nature, right: Nature) -> bool:
    """Whether `==` has a meaning."""
    if {"unknown", "nil"} & {left.kind, right.kind}:
        return True
    if left.kind in NUMBERS and right.kind in NUMBERS:
        return True
    if left.kind in LISTS and right.kind in LISTS:
        return True
    return assignable(left, right)


def compatible(left: Nature, right: Nature, *kinds: str) -> bool:
    """Whether one side or both are unknown and the other is of one of these kinds."""
    if left.kind == "unknown":
        return right.kind == "unknown" or right.kind in kinds
    return right.kind == "unknown" and left.kind in kinds
