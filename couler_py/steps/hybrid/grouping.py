"""Tensor-parallel groups of a machine whose ranks are not equally fast (Malleus, SIGMOD 2025, its first step).

Groups are runs of ranks sorted by their rates: for groups of one size, that makes the r-th fastest group as fast as any
way of grouping can. What is slow goes into small groups, since a group is as slow as its slowest rank.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from couler_py.steps.hybrid.plan import Hardware

Grouping = tuple[tuple[int, ...], ...]


def groupings(ranks: Sequence[int], hardware: Hardware) -> list[Grouping]:
    """For each number of groups, the way of making them that does the most work in a time; few groups first.

    Dead ranks are in none, and slow ones may be in none. More and smaller groups do more, as they wait less for each
    other, but make longer pipelines: which is better, only a whole plan says.
    """
    alive = [rank for rank in ranks if math.isfinite(hardware.rates[rank])]
    alive.sort(key=lambda rank: (hardware.rates[rank], rank))
    size = hardware.tensor
    whole = [tuple(sorted(alive[at : at + size])) for at in range(0, len(alive) - size + 1, size)]
    if len(whole) * size == len(ranks) and all(hardware.rates[rank] <= 1.0 for rank in alive):
        return [tuple(whole)]
    front = max(0, len(alive) // size - 1)
    tail = alive[front * size :]
    found: dict[int, Grouping] = {}
    for sizes in _descending(len(tail), size):
        groups = (*whole[:front], *_runs(tail, sizes))
        best = found.get(len(groups))
        if best is None or _speed(groups, hardware) > _speed(best, hardware):
            found[len(groups)] = groups
    return [found[count] for count in sorted(found)]


def _speed(groups: Grouping, hardware: Hardware) -> float:
    return math.fsum(1 / hardware.rate(group) for group in groups)


def _runs(ranks: Sequence[int], sizes: Sequence[int]) -> Iterator[tuple[int, ...]]:
    at = 0
    for size in sizes:
        yield tuple(sorted(ranks[at : at + size]))
        at += size


def _descending(room: int, most: int) -> Iterator[tuple[int, ...]]:
    """All rows of powers of two that don't grow, and that fit; all but the empty one."""
    size = most
    while size:
        if size <= room:
            yield (size,)
            for rest in _descending(room - size, size):
                yield (size, *rest)
        size //= 2
