"""Numbers that must lie in a range, and how it is said when they don't."""

from __future__ import annotations

import math


def held(where: str, *, above: float | None = None, least: float | None = None, **numbers: float | None) -> None:
    """Raise `ValueError` for a number that is not finite, or not above or at least what it must be."""
    for name, number in numbers.items():
        if number is None:
            continue
        low = above is not None and number <= above
        if low or (least is not None and number < least) or not math.isfinite(number):
            bound = f"above {above:g}" if above is not None else f"at least {least:g}"
            raise ValueError(f"{where}: {name} is {number}: it is {bound}")
