"""Spans of time as Go reads and writes them: `1h30m`."""

from __future__ import annotations

import re

from couler_py.argolang.problems import EvaluationProblem
from couler_py.argolang.values import Duration

SECOND = 10**9
_UNITS = {
    "ns": 1,
    "us": 10**3,
    "µs": 10**3,
    "μs": 10**3,
    "ms": 10**6,
    "s": SECOND,
    "m": 60 * SECOND,
    "h": 3600 * SECOND,
}
_DURATION = re.compile(r"(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)")


def read_duration(text: str) -> Duration:
    """A span such as `1h30m`. Raises EvaluationProblem.

    >>> read_duration("1.5h")
    5400000000000
    """
    sign, rest = (-1 if text[:1] == "-" else 1), text[1:] if text[:1] in ("-", "+") else text
    if rest == "0":
        return Duration(0)
    position, total = 0, 0
    while match := _DURATION.match(rest, position):
        whole, _, fraction = match[1].partition(".")
        unit = _UNITS[match[2]]
        total += int(whole or 0) * unit + int(int(fraction or 0) * unit / 10 ** len(fraction))
        position = match.end()
    if not rest or position != len(rest) or total > 2**63 - 1:
        raise EvaluationProblem(f"{text!r} isn't a duration such as '1h30m'")
    return Duration(sign * total)


def duration_text(span: int) -> str:
    """A span as Go writes it.

    >>> duration_text(90 * SECOND), duration_text(1_500_000)
    ('1m30s', '1.5ms')
    """
    sign, left = ("-" if span < 0 else ""), abs(int(span))
    if left == 0:
        return "0s"
    for unit, size in (("ns", 10**3), ("µs", 10**6), ("ms", SECOND)):
        if left < size:
            return f"{sign}{_decimal(left, size // 1000)}{unit}"
    minutes, rest = divmod(left, 60 * SECOND)
    text = f"{_decimal(rest, SECOND)}s"
    if minutes:
        hours, minutes = divmod(minutes, 60)
        text = f"{hours}h{minutes}m{text}" if hours else f"{minutes}m{text}"
    return sign + text


def _decimal(number: int, unit: int) -> str:
    whole, rest = divmod(number, unit)
    digits = str(rest).zfill(len(str(unit)) - 1).rstrip("0") if unit > 1 else ""
    return f"{whole}.{digits}" if digits else str(whole)
