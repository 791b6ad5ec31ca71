"""Lengths of time as people write them, in seconds."""

from __future__ import annotations

import math
import re
from datetime import timedelta
from typing import TypeAlias

Duration: TypeAlias = float | timedelta | str
"""Seconds, a `timedelta`, or a text such as "90s", "10m", "1h30m" or "2d"."""

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|[smhdw])")


def seconds(value: Duration) -> float:
    """The length in seconds. Raises `ValueError` for what isn't one, or isn't positive and finite.

    >>> seconds("1h30m")
    5400.0
    """
    if isinstance(value, timedelta):
        found = value.total_seconds()
    elif isinstance(value, str):
        found = _read(value.strip())
    elif type(value) in (int, float):
        found = float(value)
    else:
        raise ValueError(f"{value!r} is not a length of time: give seconds, a timedelta, or a text such as '10m'")
    if not (math.isfinite(found) and found > 0):
        raise ValueError(f"{value!r} is not a positive length of time")
    return found


def _read(text: str) -> float:
    parts = _PART.findall(text)
    if parts and "".join(number + unit for number, unit in parts) == text:
        return sum(float(number) * _UNITS[unit] for number, unit in parts)
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{text!r} is not a length of time: write it as '90s', '10m', '1h30m' or '2d'") from None
