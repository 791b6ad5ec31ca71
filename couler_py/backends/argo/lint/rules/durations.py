"""Durations as Go writes them."""

from __future__ import annotations

import re

_PART = r"(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)"
_DURATION = re.compile(rf"[-+]?(0|({_PART})+)")
_PARTS = re.compile(_PART)
_SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_LONGEST = 2**63 / 1e9
FORM = "a duration is written as 90s, 1.5h or 1h30m; its units are ns, us, ms, s, m and h"


def seconds(text: str) -> float | None:
    """The length of a duration; None for a text that is none, or beyond 292 years.

    >>> seconds("1h30m"), seconds("-1.5s"), seconds("10"), seconds("2d")
    (5400.0, -1.5, None, None)
    """
    if not _DURATION.fullmatch(text):
        return None
    total = sum(float(number) * _SECONDS[unit] for number, unit in _PARTS.findall(text))
    if total > _LONGEST:
        return None
    return -total if text.startswith("-") else total


def loose_seconds(text: str) -> float | None:
    """The same, where Argo takes a plain number as seconds.

    >>> loose_seconds("10"), loose_seconds("ten")
    (10.0, None)
    """
    return float(text) if re.fullmatch(r"[-+]?\d+", text) else seconds(text)
