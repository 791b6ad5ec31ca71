"""Calls of functions: whether the arguments fit, and the methods of moments and durations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from couler_py.argolang.functions.gotime import Moment, written
from couler_py.argolang.functions.semver import Version, compared
from couler_py.argolang.functions.spans import SECOND, duration_text
from couler_py.argolang.problems import EvaluationProblem
from couler_py.argolang.values import (
    AnyMap,
    Byte,
    Duration,
    Function,
    Int64,
    Integers,
    Pair,
    StringMap,
    Strings,
    kind,
)

_ZEROS: dict[str, Any] = {"string": "", "int": 0, "int64": Int64(0), "float": 0.0, "bool": False}


def called(function: Function, arguments: list[Any], clock: Callable[[], int], *, zeros: bool = True) -> Any:
    """The value of a call; nil counts as "", 0 or false where a function wants such, unless `zeros` says otherwise.

    Raises EvaluationProblem where the arguments don't fit, and where there is no value.
    """
    if function.apply is None:
        raise EvaluationProblem(f"{function.name} isn't evaluated here: {function.why}", late=True)
    least, most = function.least, function.most
    if len(arguments) < least or (most is not None and len(arguments) > most):
        wanted = str(least) if most == least else f"{least} or more" if most is None else f"{least} to {most}"
        raise EvaluationProblem(f"{function.name} takes {wanted} arguments, not {len(arguments)}")
    given = [_fitting(function, number, value, zeros) for number, value in enumerate(arguments)]
    try:
        return function.apply(clock, *given) if function.timed else function.apply(*given)
    except (ArithmeticError, IndexError, KeyError, TypeError, ValueError) as problem:
        if isinstance(problem, EvaluationProblem):
            raise
        raise EvaluationProblem(f"{function.name}: {problem}") from problem


def _fitting(function: Function, number: int, value: Any, zeros: bool) -> Any:
    wanted = function.parameters[min(number, len(function.parameters) - 1)]
    if zeros and value is None and wanted in _ZEROS:
        return _ZEROS[wanted]
    if _FITS[wanted](value):
        return value
    raise EvaluationProblem(f"{function.name} needs a {wanted} as argument {number + 1}, not a {kind(value)}")


def _plain_map(value: Any) -> bool:
    return value is None or (isinstance(value, dict) and not isinstance(value, AnyMap | StringMap))


_FITS: dict[str, Callable[[Any], bool]] = {
    "any": lambda value: True,
    "string": lambda value: isinstance(value, str),
    "bool": lambda value: isinstance(value, bool),
    "int": lambda value: isinstance(value, int) and not isinstance(value, bool | Duration | Int64 | Byte),
    "int64": lambda value: isinstance(value, Int64),
    "float": lambda value: isinstance(value, float),
    "map": _plain_map,
    "anymap": lambda value: isinstance(value, dict),
    "duration": lambda value: isinstance(value, Duration),
    "version": lambda value: isinstance(value, Version),
    "time": lambda value: isinstance(value, Moment),
    "list": lambda value: isinstance(value, list),
    "texts": lambda value: isinstance(value, list) and not isinstance(value, Integers | Pair),
    "strings": lambda value: isinstance(value, Strings),
}


# ---- methods

_MOMENT: dict[str, tuple[tuple[str, ...], Callable[..., Any]]] = {
    "Year": ((), lambda t: t.year),
    "Month": ((), lambda t: t.told().month),
    "Day": ((), lambda t: t.told().day),
    "Hour": ((), lambda t: t.told().hour),
    "Minute": ((), lambda t: t.told().minute),
    "Second": ((), lambda t: t.told().second),
    "Nanosecond": ((), lambda t: t.nanoseconds % SECOND),
    "Weekday": ((), lambda t: (t.told().weekday() + 1) % 7),
    "YearDay": ((), lambda t: t.told().timetuple().tm_yday),
    "Unix": ((), lambda t: Int64(t.nanoseconds // SECOND)),
    "UnixMilli": ((), lambda t: Int64(t.nanoseconds // 10**6)),
    "UnixMicro": ((), lambda t: Int64(t.nanoseconds // 10**3)),
    "UnixNano": ((), lambda t: Int64(t.nanoseconds)),
    "Format": (("string",), written),
    "String": ((), lambda t: t.text()),
    "UTC": ((), lambda t: Moment(t.nanoseconds)),
    "Add": (("duration",), lambda t, span: Moment(t.nanoseconds + span, t.zone)),
    "Sub": (("time",), lambda t, other: Duration(t.nanoseconds - other.nanoseconds)),
    "Before": (("time",), lambda t, other: t.nanoseconds < other.nanoseconds),
    "After": (("time",), lambda t, other: t.nanoseconds > other.nanoseconds),
    "Equal": (("time",), lambda t, other: t.nanoseconds == other.nanoseconds),
}
_SPAN: dict[str, tuple[tuple[str, ...], Callable[..., Any]]] = {
    "Hours": ((), lambda span: span / (3600 * SECOND)),
    "Minutes": ((), lambda span: span / (60 * SECOND)),
    "Seconds": ((), lambda span: span / SECOND),
    "Milliseconds": ((), lambda span: Int64(int(span / 10**6))),
    "Microseconds": ((), lambda span: Int64(int(span / 10**3))),
    "Nanoseconds": ((), lambda span: Int64(span)),
    "String": ((), duration_text),
}


_VERSION: dict[str, tuple[tuple[str, ...], Callable[..., Any]]] = {
    "Major": ((), lambda version: version.numbers[0]),
    "Minor": ((), lambda version: version.numbers[1]),
    "Patch": ((), lambda version: version.numbers[2]),
    "Prerelease": ((), lambda version: version.numbers[3]),
    "Metadata": ((), lambda version: version.metadata),
    "Original": ((), lambda version: version.original),
    "String": ((), lambda version: version.text()),
    "Compare": (("version",), lambda version, other: compared(version.numbers, other.numbers)),
    "Equal": (("version",), lambda version, other: compared(version.numbers, other.numbers) == 0),
    "LessThan": (("version",), lambda version, other: compared(version.numbers, other.numbers) < 0),
    "GreaterThan": (("version",), lambda version, other: compared(version.numbers, other.numbers) > 0),
}
_METHODS = ((Moment, _MOMENT), (Duration, _SPAN), (Version, _VERSION))


def method(base: Any, name: str) -> Function | None:
    """The method of a moment, a duration or a version, or None where the value has none of this name."""
    table = next((methods for type_, methods in _METHODS if isinstance(base, type_)), {})
    if name not in table:
        return None
    parameters, apply = table[name]
    return Function(name, parameters, apply=lambda *arguments: apply(base, *arguments))
