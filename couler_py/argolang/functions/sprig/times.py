"""`sprig`: dates and spans of time. Local time is UTC, as in the controller."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC
from typing import Any

from couler_py.argolang.functions.gotime import Moment, located, read, written
from couler_py.argolang.functions.spans import SECOND, duration_text, read_duration
from couler_py.argolang.functions.tables import Table, table
from couler_py.argolang.problems import EvaluationProblem
from couler_py.argolang.values import Byte, Duration, Function, Int64

_ZERO = Moment(-62_135_596_800 * SECOND)  # the first of January of the year 1


def _moment(clock: Callable[[], int], value: Any) -> Moment:
    """A moment, or seconds since 1970; anything else is now."""
    if isinstance(value, Moment):
        return value
    if isinstance(value, int) and not isinstance(value, bool | Byte | Duration):
        return Moment(value * SECOND)
    return Moment(clock())


def _date(clock: Callable[[], int], layout: str, value: Any, zone: str = "UTC") -> str:
    try:
        told = located(zone)
    except EvaluationProblem:
        told = UTC
    return written(Moment(_moment(clock, value).nanoseconds, told), layout)


def _modified(span: str, moment: Moment, *, strict: bool = False) -> Moment:
    try:
        return Moment(moment.nanoseconds + read_duration(span), moment.zone)
    except EvaluationProblem:
        if strict:
            raise
        return moment


def _read(layout: str, text: str) -> Moment:
    try:
        return read(layout, text)
    except EvaluationProblem:
        return _ZERO


def _duration(value: Any) -> str:
    if isinstance(value, str):
        seconds = int(value) if re.fullmatch(r"[+-]?[0-9]{1,18}", value) else 0
    else:
        seconds = int(value) if isinstance(value, Int64) else 0
    return duration_text(seconds * SECOND)


_ROUNDS = (("y", 365 * 24 * 3600), ("mo", 30 * 24 * 3600), ("d", 24 * 3600), ("h", 3600), ("m", 60), ("s", 1))


def _round(clock: Callable[[], int], value: Any) -> str:
    span = 0
    if isinstance(value, str):
        try:
            span = read_duration(value)
        except EvaluationProblem:
            span = 0
    elif isinstance(value, Int64):
        span = int(value)
    elif isinstance(value, Moment):
        span = clock() - value.nanoseconds
    for unit, seconds in _ROUNDS:
        if abs(span) > seconds * SECOND:
            return f"{abs(span) // (seconds * SECOND)}{unit}"
    return "0s"


def _ago(clock: Callable[[], int], value: Any) -> str:
    since = clock() - _moment(clock, value).nanoseconds
    return duration_text((since + SECOND // 2) // SECOND * SECOND)


def _timed(**functions: tuple[str, Callable[..., Any]]) -> Table:
    return {
        name: Function(name, each.parameters, each.variadic, each.apply, timed=True)
        for name, each in table(**functions).items()
    }


TIMES: Table = {
    **_timed(
        now=("", lambda clock: Moment(clock())),
        ago=("any", _ago),
        date=("string any", _date),
        date_in_zone=("string any string", _date),
        dateInZone=("string any string", _date),
        htmlDate=("any", lambda clock, value: _date(clock, "2006-01-02", value)),
        htmlDateInZone=("any string", lambda clock, value, zone: _date(clock, "2006-01-02", value, zone)),
        durationRound=("any", _round),
    ),
    **table(
        date_modify=("string time", _modified),
        dateModify=("string time", _modified),
        must_date_modify=("string time", lambda span, moment: _modified(span, moment, strict=True)),
        mustDateModify=("string time", lambda span, moment: _modified(span, moment, strict=True)),
        toDate=("string string", _read),
        mustToDate=("string string", read),
        duration=("any", _duration),
        unixEpoch=("time", lambda moment: str(moment.nanoseconds // SECOND)),
    ),
}
