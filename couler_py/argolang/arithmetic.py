"""Operators on values: numbers of 64 bits and doubles, texts, moments and durations, with Go's rules."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cmp_to_key
from typing import Any

from couler_py.argolang.functions.gotime import Moment
from couler_py.argolang.problems import EvaluationProblem
from couler_py.argolang.values import Byte, Duration, in_bytes, is_integer, is_nil, is_number, kind, truncated, wrapped

LONGEST = 10_000_000  # characters of a text that may be made


def whole(value: Any) -> int:
    """A number as an index."""
    if isinstance(value, float):
        return truncated(value)
    if is_integer(value):
        return int(value)
    raise EvaluationProblem(f"a number is needed, not a {kind(value)}")


def negated(value: Any) -> Any:
    """`-x`."""
    if isinstance(value, float):
        return -value
    if isinstance(value, Byte):
        return Byte(-value % 256)
    if is_integer(value):
        return wrapped(-value)
    raise EvaluationProblem(f"'-' has no meaning for a {kind(value)}")


def equal(left: Any, right: Any) -> bool:
    """`==`: numbers by value, lists by their elements, objects by their keys and (with their types) values."""
    if is_number(left) and is_number(right):
        return _numbers_equal(left, right)
    if is_nil(left) and is_nil(right):
        return True
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(equal, left, right))
    return same(left, right)


def same(left: Any, right: Any) -> bool:
    """Whether two values are alike with their types: `1` and `1.0` aren't."""
    if type(left) is not type(right):
        return False
    if isinstance(left, list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(same(value, right[key]) for key, value in left.items())
    if isinstance(left, Moment):
        return bool(left.nanoseconds == right.nanoseconds)
    return bool(left == right)


def less(left: Any, right: Any) -> bool:
    """`<`. Raises EvaluationProblem for values without an order between them."""
    return bool(OPERATIONS["<"](left, right))


def order(keys: list[Any], *, reverse: bool) -> list[int]:
    """The places of keys in their order. Raises EvaluationProblem for keys without one."""

    def compare(one: int, other: int) -> int:
        a, b = (keys[other], keys[one]) if reverse else (keys[one], keys[other])
        return -1 if less(a, b) else 1 if less(b, a) else 0

    return sorted(range(len(keys)), key=cmp_to_key(compare))


def _numbers_equal(left: Any, right: Any) -> bool:
    if is_integer(left) and is_integer(right):
        return int(left) == int(right)
    return float(left) == float(right)


def _problem(operator: str, left: Any, right: Any) -> EvaluationProblem:
    return EvaluationProblem(f"{operator!r} has no meaning for a {kind(left)} and a {kind(right)}")


def _ordered(operator: str, compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    def operation(left: Any, right: Any) -> bool:
        if is_integer(left) and is_integer(right):
            return compare(left, right)
        if is_number(left) and is_number(right):
            return compare(float(left), float(right))
        if isinstance(left, str) and isinstance(right, str):
            return compare(in_bytes(left), in_bytes(right))
        if isinstance(left, Duration) and isinstance(right, Duration):
            return compare(int(left), int(right))
        if isinstance(left, Moment) and isinstance(right, Moment):
            return compare(left.nanoseconds, right.nanoseconds)
        raise _problem(operator, left, right)

    return operation


def _add(left: Any, right: Any) -> Any:
    if is_integer(left) and is_integer(right):
        return wrapped(left + right)
    if is_number(left) and is_number(right):
        return float(left) + float(right)
    if isinstance(left, str) and isinstance(right, str):
        if len(left) + len(right) > LONGEST:
            raise EvaluationProblem(f"a text of more than {LONGEST:,} characters")
        return left + right
    if isinstance(left, Duration) and isinstance(right, Duration):
        return Duration(wrapped(left + right))
    if isinstance(left, Duration):
        left, right = right, left
    if isinstance(left, Moment) and isinstance(right, Duration):
        return Moment(left.nanoseconds + right, left.zone)
    raise _problem("+", left, right)


def _subtract(left: Any, right: Any) -> Any:
    if is_integer(left) and is_integer(right):
        return wrapped(left - right)
    if is_number(left) and is_number(right):
        return float(left) - float(right)
    if isinstance(left, Duration) and isinstance(right, Duration):
        return Duration(wrapped(left - right))
    if isinstance(left, Moment) and isinstance(right, Moment):
        return Duration(wrapped(left.nanoseconds - right.nanoseconds))
    if isinstance(left, Moment) and isinstance(right, Duration):
        return Moment(left.nanoseconds - right, left.zone)
    raise _problem("-", left, right)


def _multiply(left: Any, right: Any) -> Any:
    if is_integer(left) and is_integer(right):
        return wrapped(left * right)
    if is_number(left) and is_number(right):
        return float(left) * float(right)
    spans = isinstance(left, Duration), isinstance(right, Duration)
    if any(spans) and (is_number(left) or is_number(right) or all(spans)):
        if isinstance(left, float) or isinstance(right, float):
            return Duration(truncated(float(left) * float(right)))
        return Duration(wrapped(int(left) * int(right)))
    raise _problem("*", left, right)


def divided(left: float, right: float) -> float:
    """A quotient of doubles, infinite or no number where there is none."""
    if right:
        return left / right
    if left == 0 or math.isnan(left) or math.isnan(right):
        return math.nan
    return math.copysign(math.inf, left) * math.copysign(1, right)


def _divide(left: Any, right: Any) -> float:
    if is_number(left) and is_number(right):
        return divided(float(left), float(right))
    raise _problem("/", left, right)


def _modulo(left: Any, right: Any) -> int:
    if not is_integer(left) or not is_integer(right):
        raise _problem("%", left, right)
    if right == 0:
        raise EvaluationProblem("'%' by zero")
    rest = abs(int(left)) % abs(int(right))
    return -rest if left < 0 else rest


def power(left: float, right: float) -> float:
    """A power of doubles, infinite or no number where there is none."""
    try:
        return math.pow(left, right)
    except OverflowError:
        return -math.inf if left < 0 and right % 2 == 1 else math.inf
    except ValueError:
        if left == 0:
            return math.copysign(math.inf, left) if right % 2 == 1 else math.inf
        return math.nan


def _power(left: Any, right: Any) -> float:
    if is_number(left) and is_number(right):
        return power(float(left), float(right))
    raise _problem("**", left, right)


def _texts(operator: str, test: Callable[[str, str], bool]) -> Callable[[Any, Any], bool]:
    def operation(left: Any, right: Any) -> bool:
        if is_nil(left) or is_nil(right):
            return False
        if isinstance(left, str) and isinstance(right, str):
            return test(left, right)
        raise _problem(operator, left, right)

    return operation


OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "==": equal,
    "!=": lambda left, right: not equal(left, right),
    "<": _ordered("<", lambda left, right: left < right),
    "<=": _ordered("<=", lambda left, right: left <= right),
    ">": _ordered(">", lambda left, right: left > right),
    ">=": _ordered(">=", lambda left, right: left >= right),
    "+": _add,
    "-": _subtract,
    "*": _multiply,
    "/": _divide,
    "%": _modulo,
    "**": _power,
    "^": _power,
    "contains": _texts("contains", lambda left, right: right in left),
    "startsWith": _texts("startsWith", str.startswith),
    "endsWith": _texts("endsWith", str.endswith),
}
