"""Values of expressions: those of JSON, and the types of Go between which Argo's functions tell.

A text is a `str` (bytes that aren't UTF-8 are kept as lone surrogates), a list a `list`, an object a `dict`, a number
an `int` of 64 bits or a `float`. The classes here stand for types that behave otherwise: a `[]string` is no `[]any`, an
`int64` isn't an `int` to a function that wants one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import msgspec

LEAST, MOST = -(2**63), 2**63 - 1


class Int64(int):
    """Go's int64."""


class Byte(int):
    """One byte of a text, Go's uint8."""


class Duration(int):
    """A span of time in nanoseconds."""


class Strings(list[Any]):
    """Go's []string."""


class Integers(list[Any]):
    """Go's []int."""


class NoList(list[Any]):
    """A list that isn't there: it is empty, and nil."""


class Pair(list[Any]):
    """A key and a value of `toPairs`."""


class AnyMap(dict[Any, Any]):
    """An object with keys of any kind, which can't be written as JSON."""


class StringMap(dict[str, str]):
    """Go's map[string]string: what isn't in it is "", not nil."""


class Function(msgspec.Struct, frozen=True, eq=False):
    """A function that expressions may call.

    `parameters` are the kinds of its arguments; with `variadic`, the last one may come any number of times, and
    the last `optional` ones may be left out. `apply` is
    None for what is known by name only, and `why` says why. One that is `timed` gets the clock first.
    """

    name: str
    parameters: tuple[str, ...] = ()
    variadic: bool = False
    apply: Callable[..., Any] | None = None
    why: str = ""
    optional: int = 0
    timed: bool = False

    @property
    def least(self) -> int:
        """The fewest arguments."""
        return len(self.parameters) - self.variadic - self.optional

    @property
    def most(self) -> int | None:
        """The most arguments, or None where there may be any number."""
        return None if self.variadic else len(self.parameters)


def is_nil(value: Any) -> bool:
    """Whether a value is nil: to `??`, `?.` and `== nil`."""
    return value is None or isinstance(value, NoList)


def is_integer(value: Any) -> bool:
    """Whether a value is a whole number, a byte included; booleans and durations aren't."""
    return isinstance(value, int) and not isinstance(value, bool | Duration)


def is_number(value: Any) -> bool:
    """Whether a value is a number."""
    return isinstance(value, float) or is_integer(value)


def wrapped(number: int) -> int:
    """A number as it is after an overflow of 64 bits."""
    return number if LEAST <= number <= MOST else (number - LEAST) % 2**64 + LEAST


def truncated(number: float) -> int:
    """A double as an integer, towards zero; what doesn't fit is the least one, as on the machines that Argo runs on."""
    return int(number) if math.isfinite(number) and -(2.0**63) <= number < 2.0**63 else LEAST


def in_bytes(text: str) -> bytes:
    """The bytes of a text."""
    return text.encode("utf-8", "surrogateescape")


def from_bytes(data: bytes) -> str:
    """The text of bytes, whatever they are."""
    return data.decode("utf-8", "surrogateescape")


def kind(value: Any) -> str:
    """The type of a value as messages and the function `type` name it."""
    if value is None:
        return "nil"
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, Byte):
        return "uint"
    if isinstance(value, Duration):
        return "time.Duration"
    for python, name in ((int, "int"), (float, "float"), (str, "string"), (list, "array"), (dict, "map")):
        if isinstance(value, python):
            return name
    return "func" if isinstance(value, Function) or callable(value) else "time.Time"
