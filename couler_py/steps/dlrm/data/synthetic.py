"""Rows in Criteo's format with a structure that is known: who learns from them can be held to what there was to learn.

A row depends on the seed and its number alone. Any part of a set can be made by itself, on any number of machines, and
a set of a hundred million rows needs no more memory than a tiny one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import msgspec
import numpy as np

from couler_py.steps.dlrm.data.mixing import Words, bell, drawn, key, mixed, uniform
from couler_py.steps.dlrm.data.rows import Array, Rows
from couler_py.steps.dlrm.data.schema import CRITEO, Schema

BLOCK = 32_768
"""Rows that are made at once."""


class Synthetic(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is planted.

    The label is a coin whose log-odds are `bias`, plus an effect of each dense feature, plus an effect of each
    category, plus effects of pairs of categories. Categories follow a power law: the k-th most frequent of a column
    comes as often as k to the power of -`exponent`. Each is replaced by a new one once in `renewal` rows, each at its
    own time, so what is frequent drifts, and there are ever more of them. Raises `ValueError` for settings that make no
    sense.
    """

    seed: int = 0
    schema: Schema = CRITEO
    smallest: int = 4
    """Categories at a time of the column that has the fewest."""
    largest: int = 1_000_000
    """And of the one that has the most; those between grow by one factor."""
    exponent: float = 1.2
    renewal: int = 2_000_000
    """Rows after which every category has been replaced once; 0: never."""
    bias: float = -1.0
    dense_effect: float = 0.5
    """Deviation of the log-odds that comes from all dense features together."""
    sparse_effect: float = 1.3
    """That from all categories together."""
    pair_effect: float = 0.5
    """That from pairs of neighbouring columns, which no sum over features explains."""

    def __post_init__(self) -> None:
        if not 2 <= self.smallest <= self.largest <= 1 << 31:
            raise ValueError(f"{self.smallest} to {self.largest} categories: at least 2, at most 2 to the power of 31")
        if self.exponent <= 0 or self.renewal < 0:
            raise ValueError("the exponent is above 0, and renewal at least 0")

    def vocabulary(self, column: int) -> int:
        """How many categories a sparse column has at a time."""
        last = len(self.schema.sparse) - 1
        order = column * 11 % (last + 1) if math.gcd(11, last + 1) == 1 else column  # large ones aren't neighbours
        return round(self.smallest * (self.largest / self.smallest) ** (order / max(1, last)))


def made(spec: Synthetic, first: int, count: int) -> tuple[Rows, Array]:
    """Rows from number `first` on, and their log-odds of being a click (shape (count,)), which no file shows."""
    places = np.arange(first, first + count, dtype=np.uint64)
    dense, dense_known, odds = _dense(spec, places)
    columns = [_identities(spec, places, column) for column in range(len(spec.schema.sparse))]
    known = np.stack([_known(spec, places, column) for column in range(len(columns))], axis=1)
    odds += spec.bias + _effects(spec, columns, known)
    sparse = np.stack([_spelled(spec, each, column) for column, each in enumerate(columns)], axis=1)
    coin = uniform(drawn(places, key(spec.seed, "label")))
    label = (coin < 1 / (1 + np.exp(-odds))).astype(np.uint8)
    return Rows(label, dense, dense_known, np.where(known, sparse, np.uint32(0)), known), odds


def blocks(spec: Synthetic, rows: int, first: int = 0) -> Iterator[Rows]:
    """So many rows, block by block."""
    for start in range(first, first + rows, BLOCK):
        yield made(spec, start, min(BLOCK, first + rows - start))[0]


def _dense(spec: Synthetic, places: Words) -> tuple[Array, Array, Array]:
    """Counts with a long tail, a few below zero, some missing; and what they say about the label."""
    count = len(spec.schema.dense)
    values, known = np.empty((len(places), count), np.int32), np.empty((len(places), count), bool)
    odds = np.zeros(len(places))
    for column in range(count):
        bits = drawn(places, key(spec.seed, "dense", column))
        size = bell(bits)
        spread = 0.8 + 0.15 * (column % 8)
        values[:, column] = np.floor(np.exp(1.0 + 0.4 * (column % 6) + spread * size)) - (column % 5 == 1)
        other = uniform(mixed(bits))
        known[:, column] = other >= (0.45, 0.0, 0.2, 0.2, 0.03)[column % 5]
        sign = 1.0 if key(spec.seed, "sign", column) & np.uint64(1) else -1.0
        odds += np.where(known[:, column], sign * size, 0.0)
    values[~known] = 0
    return values, known, odds * (spec.dense_effect / math.sqrt(count))


def _identities(spec: Synthetic, places: Words, column: int) -> Words:
    """Which category each row has: its rank in the power law, and how often that rank was given anew."""
    size, exponent = spec.vocabulary(column), spec.exponent
    chance = uniform(drawn(places, key(spec.seed, "rank", column)))
    if exponent == 1:
        ranks = np.exp(chance * math.log(size + 1))
    else:  # the inverse of the distribution of a continuous power law from 1 to size + 1
        ranks = (1 + chance * ((size + 1) ** (1 - exponent) - 1)) ** (1 / (1 - exponent))
    rank = np.minimum(ranks, size).astype(np.uint64) - np.uint64(1)
    if not spec.renewal:
        return rank
    phase = drawn(rank, key(spec.seed, "phase", column)) % np.uint64(spec.renewal)
    return rank + np.uint64(size) * ((places + phase) // np.uint64(spec.renewal))


def _known(spec: Synthetic, places: Words, column: int) -> Array:
    missing = (0.0, 0.0, 0.03, 0.0, 0.12, 0.0, 0.4)[column % 7]
    return uniform(drawn(places, key(spec.seed, "missing", column))) >= missing


def _effects(spec: Synthetic, columns: list[Words], known: Array) -> Array:
    """What categories say about the label: each by itself, and each pair of neighbours by the product of two signs."""
    count = len(columns)
    alone, pairs = np.zeros(len(known)), np.zeros(len(known))
    signs = []
    for column, ids in enumerate(columns):
        bits = drawn(ids, key(spec.seed, "effect", column))
        alone += np.where(known[:, column], bell(bits), 0.0)
        signs.append(np.where(known[:, column], np.where(mixed(bits) >> np.uint64(63), 1.0, -1.0), 0.0))
    for column in range(count - 1):
        pairs += signs[column] * signs[column + 1]
    return alone * (spec.sparse_effect / math.sqrt(count)) + pairs * (spec.pair_effect / math.sqrt(max(1, count - 1)))


def _spelled(spec: Synthetic, ids: Words, column: int) -> Array:
    """A category as 32 bits that look random; two of a column are never the same below 2 to the power of 32 of them.

    The finaliser of MurmurHash3 (Appleby, public domain), which is one to one.
    """
    x = ids.astype(np.uint32) ^ key(spec.seed, "name", column).astype(np.uint32)
    x ^= x >> np.uint32(16)
    x *= np.uint32(0x85EBCA6B)
    x ^= x >> np.uint32(13)
    x *= np.uint32(0xC2B2AE35)
    x ^= x >> np.uint32(16)
    return x
