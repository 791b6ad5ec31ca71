"""Argo's fields that say how long: Go's words, or a number of seconds, both ways."""

from __future__ import annotations

from typing import Any

from couler_py.backends.argo import durations
from couler_py.backends.argo.document.texts import UNSAID, Root


def duration(given: Any, root: Root) -> Any:
    """Seconds, as a number without a unit too."""
    length = durations.loose_seconds_of(given) if type(given) is str else None
    return UNSAID if length is None or length < 0 else length


def written_duration(seconds: float, root: Root) -> str:
    """The duration again, in Go's words."""
    return durations.written(seconds)


def seconds(given: Any, root: Root) -> Any:
    """Seconds as a number, or as a number in quotes."""
    if type(given) is str and given.isascii() and given.isdigit() and len(given) < 16:
        return float(given)
    return float(given) if type(given) is int and abs(given) < 2**53 else UNSAID


def written_seconds(given: float, root: Root) -> Any:
    """Seconds as a number."""
    return int(given) if given == int(given) else given
