"""The language's functions of time: `now`, `date`, `duration`, `timezone`."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, tzinfo
from typing import Any

from couler_py.argolang.functions.gotime import RFC3339, Moment, located, read
from couler_py.argolang.functions.spans import read_duration
from couler_py.argolang.problems import EvaluationProblem
from couler_py.argolang.values import Function

_LAYOUTS = (
    "2006-01-02",
    "15:04:05",
    "2006-01-02 15:04:05",
    RFC3339,
    "02 Jan 06 15:04 MST",
    "Monday, 02-Jan-06 15:04:05 MST",
    "Mon, 02 Jan 2006 15:04:05 MST",
)


def now(clock: Callable[[], int], zone: Any = UTC) -> Moment:
    """The present moment, in UTC as in the controller, or in a zone."""
    if not isinstance(zone, tzinfo):
        raise EvaluationProblem("now needs a zone or nothing")
    return Moment(clock(), zone)


def date(*given: Any) -> Moment:
    """The moment that a text tells, in one of the usual forms or a layout, and in a zone where one is given."""
    zone: tzinfo = UTC
    if isinstance(given[0], tzinfo):
        zone, given = given[0], given[1:]
    if not 1 <= len(given) <= 3 or not all(isinstance(each, str) for each in given):
        raise EvaluationProblem("date needs a text, and may have a layout and a zone")
    text, *more = given
    if len(more) == 2:
        zone = located(more[1])
    if more:
        return read(more[0], text, zone)
    for layout in _LAYOUTS:
        try:
            return read(layout, text, zone)
        except EvaluationProblem:
            continue
    raise EvaluationProblem(f"{text!r} is no date in a form that is known")


TIMES = {
    "now": Function("now", ("any",), apply=now, optional=1, timed=True),
    "date": Function("date", ("any", "any"), variadic=True, apply=date),
    "duration": Function("duration", ("string",), apply=read_duration),
    "timezone": Function("timezone", ("string",), apply=located),
}
