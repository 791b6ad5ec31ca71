"""Categories as places in embedding tables: by hashing, or by a dictionary of those that are frequent enough."""

from __future__ import annotations

import math
from typing import Literal, Protocol

import msgspec
import numpy as np

from couler_py.steps.dlrm.data.mixing import drawn, key
from couler_py.steps.dlrm.data.rows import Array

Method = Literal["hash", "dictionary"]

MISSING, RARE, FIRST = 0, 1, 2
"""Places that every table has: for no value, and (in dictionaries) for those too rare to have a place of their own."""
MOST = 2**31 - 1
"""Rows of a table: places are integers of 32 bits."""


class Table(msgspec.Struct, frozen=True):
    """The embedding table of a column: how many rows it must have, and how categories come to their places."""

    column: str
    rows: int
    method: Method
    threshold: int = 1
    distinct: int = 0
    """With "dictionary", how many different categories there were, with those below the threshold."""


class Encoder(Protocol):
    """What gives categories their places."""

    table: Table

    def places(self, values: Array, known: Array) -> Array:
        """Places in the table (type int32) for values of 32 bits; 0 where nothing is known."""


class Hashing:
    """The hashing trick (Weinberger et al., ICML 2009): no pass before, no dictionary, and collisions.

    A place is a multiply of 32 bits, not a remainder (Lemire, "Fast random integer generation in an interval", 2019).
    Raises `ValueError` for a table without room.
    """

    def __init__(self, column: str, rows: int):
        if not 2 <= rows <= MOST:
            raise ValueError(f"a table of {rows} rows for {column}: it has 2 to {MOST}")
        self.table = Table(column, rows, "hash")
        self._key = key("table", column)

    def places(self, values: Array, known: Array) -> Array:
        """1 … rows - 1, and 0 where nothing is known."""
        high = drawn(values.astype(np.uint64), self._key) >> np.uint64(32)
        found = (high * np.uint64(self.table.rows - 1) >> np.uint64(32)).astype(np.int32) + np.int32(1)
        return np.where(known, found, np.int32(MISSING))


class Dictionary:
    """Categories by frequency: the most frequent has place 2, those below the threshold share place 1."""

    def __init__(self, column: str, values: Array, counts: Array, threshold: int = 1, most: int = MOST):
        frequent = np.flatnonzero(counts >= threshold)
        order = frequent[np.argsort(-counts[frequent], kind="stable")][: most - FIRST]  # equal ones by their value
        self.kept = values[np.sort(order)]
        """The values that have places of their own, in order."""
        places = np.empty(len(values), np.int32)
        places[order] = np.arange(FIRST, FIRST + len(order), dtype=np.int32)
        self.places_kept = places[np.sort(order)]
        self.table = Table(column, FIRST + len(order), "dictionary", threshold, len(values))

    def places(self, values: Array, known: Array) -> Array:
        """2 … rows - 1 for values of the dictionary, 1 for others, 0 where nothing is known."""
        if not len(self.kept):
            return np.where(known, np.int32(RARE), np.int32(MISSING))
        at = np.minimum(np.searchsorted(self.kept, values), len(self.kept) - 1)
        found = np.where(self.kept[at] == values, self.places_kept[at], np.int32(RARE))
        return np.where(known, found, np.int32(MISSING))


def expected_collisions(distinct: int, rows: int) -> float:
    """How many of so many different values share their row with one that came before, if places are even.

    n values leave a row empty with probability (1 - 1/m)^n, so m·(1 - (1 - 1/m)^n) rows are used (the occupancy
    problem: Feller, "An introduction to probability theory", volume 1, IV.2).
    """
    used = -rows * math.expm1(distinct * math.log1p(-1 / rows)) if rows > 1 else min(1, distinct)
    return distinct - used


def numeric(values: Array, known: Array) -> Array:
    """Dense features as the reference implementation has them: log(1 + x), negative ones as 0, missing ones as 0.

    facebookresearch/dlrm, data_utils.py. Type float32.
    """
    return np.where(known, np.log1p(np.maximum(values, 0), dtype=np.float32), np.float32(0))
