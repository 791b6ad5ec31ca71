"""The natures that operators give."""

from __future__ import annotations

from collections.abc import Callable

from couler_py.argolang.checks.natures import (
    BOOL,
    DURATION,
    FLOAT,
    INT,
    LISTS,
    NIL,
    NUMBERS,
    STRING,
    TIME,
    UNKNOWN,
    Nature,
    assignable,
    comparable,
    compatible,
    element_of,
    list_of,
)

Rule = Callable[[Nature, Nature], Nature | None]


def combined(operator: str, left: Nature, right: Nature) -> Nature | None:
    """What an operator gives, or None where it can't be applied."""
    return _RULES[operator](left, right)


def either(left: Nature, right: Nature) -> Nature:
    """The nature of one value or another."""
    if left.kind == "nil" or right.kind == "nil":
        return right if left.kind == "nil" else left
    if not assignable(left, right):
        return UNKNOWN
    if left.kind in LISTS and element_of(left).kind != element_of(right).kind:
        return Nature(left.kind)
    return left


def _comparison(left: Nature, right: Nature) -> Nature | None:
    if left.kind in NUMBERS and right.kind in NUMBERS:
        return BOOL
    if left.kind == right.kind and left.kind in ("string", "time", "duration"):
        return BOOL
    return BOOL if compatible(left, right, *NUMBERS, "string", "time", "duration") else None


def _numbers(left: Nature, right: Nature) -> Nature | None:
    if left.kind in NUMBERS and right.kind in NUMBERS:
        return FLOAT if "float" in (left.kind, right.kind) else INT
    return None


def _add(left: Nature, right: Nature) -> Nature | None:
    sums = {("string", "string"): STRING, ("time", "duration"): TIME, ("duration", "time"): TIME}
    found = _numbers(left, right) or {**sums, ("duration", "duration"): DURATION}.get((left.kind, right.kind))
    return found or (UNKNOWN if compatible(left, right, *NUMBERS, "string", "time", "duration") else None)


def _subtract(left: Nature, right: Nature) -> Nature | None:
    rests = {("time", "time"): DURATION, ("time", "duration"): TIME, ("duration", "duration"): DURATION}
    found = _numbers(left, right) or rests.get((left.kind, right.kind))
    return found or (UNKNOWN if compatible(left, right, *NUMBERS, "time", "duration") else None)


def _multiply(left: Nature, right: Nature) -> Nature | None:
    if found := _numbers(left, right):
        return found
    if {left.kind, right.kind} <= {*NUMBERS, "duration"}:
        return DURATION
    return UNKNOWN if compatible(left, right, *NUMBERS, "duration") else None


def _float(left: Nature, right: Nature) -> Nature | None:
    return FLOAT if _numbers(left, right) or compatible(left, right, *NUMBERS) else None


def _both(kind: str, result: Nature) -> Rule:
    return lambda left, right: result if left.kind == right.kind == kind or compatible(left, right, kind) else None


def _in(left: Nature, right: Nature) -> Nature | None:
    if right.kind == "time" and left.kind in ("unknown", "string"):
        return BOOL
    if right.kind == "map":
        return BOOL if left.kind in ("unknown", "string") else None
    if right.kind == "anymap":
        return BOOL
    if right.kind in LISTS:
        return BOOL if comparable(left, element_of(right)) else None
    if right.kind == "unknown" or (left.kind == "unknown" and right.kind == "string"):
        return BOOL
    return None


def _coalesce(left: Nature, right: Nature) -> Nature | None:
    if left.kind == "nil" and right.kind == "nil":
        return NIL
    if left.kind == "nil" or right.kind == "nil":
        return right if left.kind == "nil" else left
    return left if assignable(right, left) else UNKNOWN


_RULES: dict[str, Rule] = {
    **dict.fromkeys(("==", "!="), lambda left, right: BOOL if comparable(left, right) else None),
    **dict.fromkeys(("or", "||", "and", "&&"), _both("bool", BOOL)),
    **dict.fromkeys(("<", ">", ">=", "<="), _comparison),
    "+": _add,
    "-": _subtract,
    "*": _multiply,
    **dict.fromkeys(("/", "**", "^"), _float),
    "%": _both("int", INT),
    "in": _in,
    **dict.fromkeys(("matches", "contains", "startsWith", "endsWith"), _both("string", BOOL)),
    "..": _both("int", list_of(INT)),
    "??": _coalesce,
}
