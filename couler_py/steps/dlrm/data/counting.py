"""How often each category of a column occurs, and how many different ones there are."""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec
import numpy as np

from couler_py.steps.dlrm.data.mixing import Words, key, mixed
from couler_py.steps.dlrm.data.rows import Array

PENDING = 1 << 20  # counts that wait until they are merged


class Counter:
    """Exact counts of values of 32 bits: 12 bytes for each different one, and as much again while they are merged."""

    def __init__(self) -> None:
        self._values, self._counts = np.empty(0, np.uint32), np.empty(0, np.int64)
        self._pending: list[tuple[Array, Array]] = []

    def add(self, values: Array) -> None:
        """Count some more."""
        self._pending.append(np.unique(values, return_counts=True))
        if sum(len(each) for each, _ in self._pending) > max(PENDING, len(self._values)):
            self._merge()

    def counted(self) -> tuple[Array, Array]:
        """The different values in order, and how often each occurred."""
        self._merge()
        return self._values, self._counts

    def _merge(self) -> None:
        values = np.concatenate([self._values, *(each for each, _ in self._pending)])
        counts = np.concatenate([self._counts, *(each for _, each in self._pending)])
        self._pending = []
        order = np.argsort(values, kind="stable")
        values, counts = values[order], counts[order]
        begins = np.flatnonzero(np.diff(values, prepend=values[:1] ^ np.uint32(1))) if len(values) else np.empty(0, int)
        self._values, self._counts = values[begins], np.add.reduceat(counts, begins) if len(begins) else counts


class Distinct:
    """How many different values there are, from the least `SIZE` of their hashes.

    Exact up to `SIZE`; beyond, the error has a deviation of 1 / √(SIZE - 2), 0.8 % (Bar-Yossef et al., "Counting
    distinct elements in a data stream", RANDOM 2002; Beyer et al., SIGMOD 2007, for the unbiased form).
    """

    SIZE = 16_384

    def __init__(self) -> None:
        self._least: Words = np.empty(0, np.uint64)

    def add(self, values: Array) -> None:
        """See some more."""
        hashes = mixed(values.astype(np.uint64) + key("distinct"))
        if len(self._least) == self.SIZE:
            hashes = hashes[hashes < self._least[-1]]
        if len(hashes):
            self._least = np.unique(np.concatenate([self._least, hashes]))[: self.SIZE]

    def estimate(self) -> int:
        """How many there are."""
        if len(self._least) < self.SIZE:
            return len(self._least)
        return round((self.SIZE - 1) / (float(self._least[-1]) / 2.0**64))


class Growth(msgspec.Struct, frozen=True):
    """Heaps' law: after n rows a column has shown `factor` · n to the power of `exponent` different categories."""

    factor: float
    exponent: float

    def after(self, rows: int) -> float:
        """How many different ones there are after so many rows."""
        return self.factor * rows**self.exponent if rows else 0.0


def growth(points: Sequence[tuple[int, int]]) -> Growth | None:
    """Heaps' law fitted to (rows, different ones) by least squares of the logarithms; None with fewer than two points.

    Heaps, "Information retrieval: computational and theoretical aspects" (1978), section 7.5.
    """
    logs = [(math.log(rows), math.log(count)) for rows, count in points if rows > 0 and count > 0]
    if len({x for x, _ in logs}) < 2:
        return None
    x, y = np.array(logs).T
    slope, base = np.polyfit(x, y, 1)
    return Growth(math.exp(base), float(slope))
