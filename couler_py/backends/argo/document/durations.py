"""Argo's durations: a number of seconds, or Go's words ("1h30m"), both ways."""

from __future__ import annotations

import re
from typing import Any

from couler_py.backends.argo.document.texts import UNSAID, Root

_UNITS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
_PIECE = re.compile(r"(\d+(?:\.\d+)?)(h|ms|m|s|us|µs|ns)")
_GO = re.compile(rf"(?:{_PIECE.pattern})+")


def duration(given: Any, root: Root) -> Any:
    """Seconds; a number without a unit counts them (pkg/apis/workflow/v1alpha1/utils.go)."""
    if type(given) is not str:
        return UNSAID
    if given.isascii() and given.isdigit() and len(given) < 16:
        return float(given)
    if not _GO.fullmatch(given) or len(given) > 40:
        return UNSAID
    return sum(float(number) * _UNITS[unit] for number, unit in _PIECE.findall(given))


def written_duration(seconds: float, root: Root) -> str:
    """The shortest of Go's words that says it with one unit."""
    if seconds == int(seconds):
        for unit, size in (("h", 3600), ("m", 60)):
            if seconds and int(seconds) % size == 0:
                return f"{int(seconds) // size}{unit}"
        return f"{int(seconds)}s"
    return f"{round(seconds * 1000)}ms"


def seconds(given: Any, root: Root) -> Any:
    """Seconds as a number, or as a number in quotes."""
    if type(given) is str and given.isascii() and given.isdigit() and len(given) < 16:
        return float(given)
    return float(given) if type(given) is int and abs(given) < 2**53 else UNSAID


def written_seconds(given: float, root: Root) -> Any:
    """Seconds as a number."""
    return int(given) if given == int(given) else given
