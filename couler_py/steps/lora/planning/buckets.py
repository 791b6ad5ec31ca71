"""Lengths that rows are padded to, so that the least is padded: a dynamic program (LobRA, dynamic bucketing)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate

import msgspec


class Buckets(msgspec.Struct, frozen=True):
    """Lengths to pad to, ascending, and how many tokens of padding that makes."""

    bounds: tuple[int, ...]
    padding: int

    def of(self, length: int) -> int:
        """The bucket of a length. Raises `ValueError` for one longer than all."""
        for bound in self.bounds:
            if length <= bound:
                return bound
        raise ValueError(f"a row of {length} tokens is longer than the longest bucket of {self.bounds[-1]}")


def length_buckets(lengths: Sequence[int], most: int, align: int = 16) -> Buckets:
    """At most so many lengths, multiples of `align`, which pad these lengths least.

    pad[j][i] = min over k < i of pad[j-1][k] + bound_i·(rows in between) - their tokens, over the distinct lengths
    rounded up. Raises `ValueError` for no lengths, for one below 1, or for less than one bucket.
    """
    if not lengths or min(lengths) < 1:
        raise ValueError("lengths are at least 1, and there is at least one")
    if most < 1 or align < 1:
        raise ValueError(f"{most} buckets of multiples of {align}: both are at least 1")
    row = sorted(lengths)
    bounds = sorted({-(-length // align) * align for length in row})
    upto, at = [0], 0  # rows that are no longer than each bound
    for bound in bounds:
        while at < len(row) and row[at] <= bound:
            at += 1
        upto.append(at)
    tokens = list(accumulate(row, initial=0))
    size = len(bounds)
    pads: list[float] = [0.0, *[math.inf] * size]
    came: list[list[int]] = []
    best = (math.inf, 0)
    for used in range(1, min(most, size) + 1):
        after, source = [math.inf] * (size + 1), [0] * (size + 1)
        for i in range(1, size + 1):
            bound, end = bounds[i - 1], upto[i]
            for k in range(i):
                value = pads[k] + bound * (end - upto[k]) - (tokens[end] - tokens[upto[k]])
                if value < after[i]:
                    after[i], source[i] = value, k
        pads = after
        came.append(source)
        best = min(best, (pads[size], used))
    found, i = [], size
    for source in reversed(came[: best[1]]):
        found.append(bounds[i - 1])
        i = source[i]
    return Buckets(tuple(reversed(found)), int(best[0]))
