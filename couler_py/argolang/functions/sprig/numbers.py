"""`sprig`: arithmetic. What isn't a number counts as 0."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal, localcontext
from typing import Any

from couler_py.argolang.arithmetic import divided
from couler_py.argolang.functions.conversions import as_float
from couler_py.argolang.functions.goformat import formatted
from couler_py.argolang.functions.tables import table
from couler_py.argolang.problems import EvaluationProblem
from couler_py.argolang.values import Int64, Integers, truncated, wrapped

_MOST = 100_000
_WHOLE = re.compile(r"([+-]?)(0[xX][0-9a-fA-F]+|0[oO]?[0-7]+|0[bB][01]+|[1-9][0-9]*|0)(\.[0-9]*)?")


def whole(value: Any) -> int:
    """A value as a whole number, with the prefixes of Go, and 0 where it is none."""
    if isinstance(value, str):
        found = _WHOLE.fullmatch(value)
        if found is None:
            return 0
        digits = found[2].lower()
        base = {"0x": 16, "0b": 2, "0o": 8}.get(digits[:2]) or (8 if digits[0] == "0" else 10)
        number = int(digits[2:] if base != 10 and digits[1:2].isalpha() else digits, base)
        number = -number if found[1] == "-" else number
        return number if -(2**63) <= number < 2**63 else 0
    if isinstance(value, float):
        return truncated(value)
    return int(value) if isinstance(value, int) else 0


def double(value: Any) -> float:
    """A value as a double, and 0 where it is none."""
    if isinstance(value, str):
        try:
            return as_float(value)
        except EvaluationProblem:
            return 0.0
    return float(value) if isinstance(value, int | float) else 0.0


def _sum(*values: Any) -> Int64:
    return Int64(wrapped(sum(map(whole, values))))


def _product(first: Any, *others: Any) -> Int64:
    found = whole(first)
    for each in others:
        found = wrapped(found * whole(each))
    return Int64(found)


def _quotient(left: Any, right: Any, *, rest: bool = False) -> Int64:
    a, b = whole(left), whole(right)
    if b == 0:
        raise EvaluationProblem("a division by zero")
    quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    return Int64(wrapped(a - quotient * b if rest else quotient))


def _decimals(apply: Callable[[Decimal, Decimal], Decimal]) -> Callable[..., float]:
    """Arithmetic with decimals: 0.1 and 0.2 are 0.3."""

    def computed(first: Any, *others: Any) -> float:
        numbers = [double(first), *map(double, others)]
        if not all(map(math.isfinite, numbers)):
            raise EvaluationProblem("a number that isn't finite")
        with localcontext() as context:
            context.prec = 2000
            total = Decimal(repr(numbers[0]))
            for number in numbers[1:]:
                total = apply(total, Decimal(repr(number)))
            return float(total)

    return computed


def _divided(left: Decimal, right: Decimal) -> Decimal:
    """A quotient to 16 places after the point, as the library of decimals has it."""
    if right == 0:
        raise EvaluationProblem("a division by zero")
    return (left / right).quantize(Decimal("1e-16"), ROUND_HALF_UP)


def _round(value: Any, places: int, *given: float) -> float:
    on = given[0] if given else 0.5
    factor = math.pow(10, places) if abs(places) < 300 else 0.0
    digits = factor * double(value)
    if not math.isfinite(digits):
        return digits
    rest = math.fmod(digits, 1)
    return divided(float(math.ceil(digits) if rest >= on else math.floor(digits)), factor)


def _steps(start: int, stop: int, step: int) -> Integers:
    if step == 0 or (stop < start) != (step < 0):
        return Integers()
    numbers = range(start, stop, step)
    if len(numbers) > _MOST:
        raise EvaluationProblem(f"a list of more than {_MOST:,} numbers")
    return Integers(numbers)


def _seq(*given: int) -> str:
    if not 1 <= len(given) <= 3:
        return ""
    start, end = (1, given[0]) if len(given) == 1 else (given[0], given[-1])
    towards = -1 if end < start else 1
    step = given[1] if len(given) == 3 else towards
    if len(given) == 3 and end < start and step > 0:
        return ""
    return " ".join(map(str, _steps(start, end + towards, step)))


def _octal(value: Any) -> Int64:
    text = formatted(value)
    return Int64(int(text, 8)) if re.fullmatch(r"[+-]?[0-7]{1,21}", text) else Int64(0)


def _most(first: Any, *others: Any) -> Int64:
    return Int64(max(whole(first), *map(whole, others)) if others else whole(first))


def _least(first: Any, *others: Any) -> Int64:
    return Int64(min(whole(first), *map(whole, others)) if others else whole(first))


def _finite(round_: Callable[[float], int]) -> Callable[[Any], float]:
    return lambda value: float(round_(number)) if math.isfinite(number := double(value)) else number


NUMBERS = table(
    int=("any", whole),
    int64=("any", lambda value: Int64(whole(value))),
    float64=("any", double),
    toDecimal=("any", _octal),
    add1=("any", lambda value: _sum(value, 1)),
    add=("any*", _sum),
    sub=("any any", lambda left, right: Int64(wrapped(whole(left) - whole(right)))),
    div=("any any", _quotient),
    mod=("any any", lambda left, right: _quotient(left, right, rest=True)),
    mul=("any any*", _product),
    add1f=("any", lambda value: _decimals(lambda a, b: a + b)(value, 1)),
    addf=("any*", lambda *values: _decimals(lambda a, b: a + b)(0.0, *values)),
    subf=("any any*", _decimals(lambda a, b: a - b)),
    divf=("any any*", _decimals(_divided)),
    mulf=("any any*", _decimals(lambda a, b: a * b)),
    biggest=("any any*", _most),
    max=("any any*", _most),
    min=("any any*", _least),
    maxf=("any any*", lambda *values: max(map(double, values))),
    minf=("any any*", lambda *values: min(map(double, values))),
    ceil=("any", _finite(math.ceil)),
    floor=("any", _finite(math.floor)),
    round=("any int float*", _round),
    until=("int", lambda count: _steps(0, count, -1 if count < 0 else 1)),
    untilStep=("int int int", _steps),
    seq=("int*", _seq),
)
