"""Argo's durations: Go's words ("1h30m"), read and written."""

from __future__ import annotations

import re

from couler_py.argolang.functions.spans import SECOND, read_duration
from couler_py.argolang.problems import EvaluationProblem


def seconds_of(text: str) -> float | None:
    """The length of a duration; None for a text that is none, or beyond 292 years.

    >>> seconds_of("1h30m"), seconds_of("-1.5s"), seconds_of("10"), seconds_of("2d")
    (5400.0, -1.5, None, None)
    """
    try:
        return read_duration(text) / SECOND
    except EvaluationProblem:
        return None


def loose_seconds_of(text: str) -> float | None:
    """The same, where Argo takes a plain number as seconds (pkg/apis/workflow/v1alpha1/utils.go).

    >>> loose_seconds_of("10"), loose_seconds_of("1h30m"), loose_seconds_of("ten")
    (10.0, 5400.0, None)
    """
    return float(text) if re.fullmatch("[-+]?[0-9]{1,18}", text) else seconds_of(text)


def written(seconds: float) -> str:
    """A duration with one unit: the largest that says it in a whole number, and milliseconds at the least.

    >>> written(5400), written(90), written(0.5)
    ('90m', '90s', '500ms')
    """
    if seconds != int(seconds):
        return f"{max(1, round(seconds * 1000))}ms"
    for unit, size in (("h", 3600), ("m", 60)):
        if seconds and int(seconds) % size == 0:
            return f"{int(seconds) // size}{unit}"
    return f"{int(seconds)}s"
