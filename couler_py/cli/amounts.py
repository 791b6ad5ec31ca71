"""Times and sizes as they are typed."""

from __future__ import annotations

from couler_py.cli.errors import UsageError
from couler_py.dsl.durations import seconds
from couler_py.settings import size_of


def seconds_of(option: str, text: str) -> float:
    """A length of time, as `30d` or `90m`; 0 is none at all. Raises `UsageError`.

    >>> seconds_of("--older-than", "2d")
    172800.0
    """
    if text.strip() in ("0", "0s"):
        return 0.0
    try:
        return seconds(text)
    except ValueError as problem:
        raise UsageError(f"{option}: {problem}") from None


def bytes_of(option: str, text: str) -> int:
    """A size, as `10GB` or `500Mi`. Raises `UsageError`.

    >>> bytes_of("--budget", "10GB")
    10000000000
    """
    try:
        return size_of(text)
    except ValueError as problem:
        raise UsageError(f"{option}: {problem}") from None
