"""Python values that can stand in a step's source as a literal, written so that reading gives them back."""

from __future__ import annotations

import datetime
import enum
import logging
import math
import re
from typing import Any

LIMIT = 65_536
"""Most bytes of one literal: the source of a step travels inside the workflow, which Kubernetes caps at 1 MiB."""


def literal(value: Any) -> str | None:
    """The value as a Python expression that needs no name; None where it has no such form.

    Sets are sorted by their text, so that the same value always gives the same source.

    >>> literal((1, float("inf"), {"b", "a"}))
    "(1, float('inf'), {'a', 'b'})"
    """
    kind = type(value)
    if value is None or kind in (bool, int, str, bytes):
        return repr(value)
    if kind is float:
        return repr(value) if math.isfinite(value) else f"float({str(value)!r})"
    if kind is complex:
        return f"complex({literal(value.real)}, {literal(value.imag)})"
    if kind in (list, tuple, set, frozenset):
        parts = [literal(item) for item in value]
        if None in parts:
            return None
        return _sequence(kind, [part for part in parts if part is not None])
    if kind is dict:
        pairs = [(literal(key), literal(item)) for key, item in value.items()]
        if any(None in pair for pair in pairs):
            return None
        return "{" + ", ".join(f"{key}: {item}" for key, item in pairs) + "}"
    return _made(value)


def _sequence(kind: type, parts: list[str]) -> str:
    if kind is list:
        return f"[{', '.join(parts)}]"
    if kind is tuple:
        return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
    inner = "{" + ", ".join(sorted(parts)) + "}" if parts else "()"
    if kind is frozenset:
        return f"frozenset({inner})" if parts else "frozenset()"
    return inner if parts else "set()"


def _made(value: Any) -> str | None:
    """Values of the standard library that are made anew from a few arguments."""
    kind = type(value)
    if kind is re.Pattern:
        return f"__import__('re').compile({value.pattern!r}, {int(value.flags)})"
    if kind is logging.Logger:
        return f"__import__('logging').getLogger({value.name!r})"
    if kind in (datetime.date, datetime.timedelta):
        return f"__import__('datetime').{repr(value).removeprefix('datetime.')}"
    if kind is datetime.timezone:
        return f"__import__('datetime').timezone(__import__('datetime').{repr(value.utcoffset(None))[9:]})"
    if kind is datetime.datetime and (value.tzinfo is None or type(value.tzinfo) is datetime.timezone):
        return f"__import__('datetime').datetime.fromisoformat({value.isoformat()!r})"
    return None


def is_member(value: Any) -> bool:
    """Whether a value is a member of an Enum, which travels as `Class.NAME`."""
    return isinstance(value, enum.Enum) and value.name in type(value).__members__
