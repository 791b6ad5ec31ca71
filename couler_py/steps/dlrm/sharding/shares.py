"""A global batch cut unevenly: a slow rank gets fewer rows of each step, so that nobody waits for it.

Under synchronous steps that some rank asks for work less often helps nobody: all wait for the slowest in every step.
Each rank sums the losses of its rows and divides by the rows of the global batch, so the gradient is that of the
whole batch however it is cut.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from couler_py.steps.hybrid.rates import GAP
from couler_py.steps.hybrid.splitting import share_micros

SMOOTHING = 0.3
"""How much the newest step counts in the time of a row."""


def shares(seconds: Sequence[float], rows: int, unit: int = 1, least: int = 1) -> list[int]:
    """Rows of a global batch for each rank, from the seconds that a row takes it, so that the last ends soonest.

    Rows come in units (micro-batches of one size); each rank gets `least` units, or nobody could measure it. Rows that
    fill no unit go to the rank that ends first. Raises `ValueError` where there are too few rows, or for times that
    are none.
    """
    if not all(0 < each < math.inf for each in seconds):
        raise ValueError(f"{list(seconds)} seconds a row: times are above 0")
    if unit < 1 or rows < unit * least * len(seconds):
        raise ValueError(f"{rows} rows in units of {unit}: {len(seconds)} ranks need {unit * least * len(seconds)}")
    units = share_micros([each * unit for each in seconds], rows // unit, [least] * len(seconds))
    found = [count * unit for count in units]
    first = min(range(len(found)), key=lambda rank: (found[rank] * seconds[rank], rank))
    found[first] += rows % unit
    return found


class Speeds:
    """Measured seconds of a row for each rank, and the shares that follow from them.

    Shares change only where some rank's time has moved by more than 30 % since they were made: cutting anew in each
    step would follow noise, and a step whose shares didn't change is cut as the one before.
    """

    def __init__(self, ranks: int, rows: int, unit: int = 1, least: int = 1):
        self._rows, self._unit, self._least = rows, unit, least
        self._seconds = [0.0] * ranks
        self._cut_for = [1.0] * ranks
        self.shares = shares(self._cut_for, rows, unit, least)
        """Rows of the next step for each rank."""

    def measured(self, seconds: Sequence[float]) -> bool:
        """Hear what each rank computed in its part of a step; whether shares changed. All ranks must hear the same."""
        for rank, (taken, rows) in enumerate(zip(seconds, self.shares, strict=True)):
            each, before = taken / rows, self._seconds[rank]
            self._seconds[rank] = each if not before else before + SMOOTHING * (each - before)
        fastest, was = min(self._seconds), min(self._cut_for)
        rates = [each / fastest for each in self._seconds]
        if all(abs(rate - each / was) <= GAP for rate, each in zip(rates, self._cut_for, strict=True)):
            return False
        self._cut_for = list(self._seconds)
        self.shares = shares(self._cut_for, self._rows, self._unit, self._least)
        return True
