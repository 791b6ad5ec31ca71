"""Sequences of a pipeline into micro-batches: what costs most goes first, to where least is (Hydraulis, second stage).

Longest processing time first with room for tokens; the tests hold it against all ways of packing.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from couler_py.steps.hybrid.schemes import Scheme

TRIED = 16
"""Numbers of micro-batches that are tried at most, besides those that don't fit (Hetu, `new_planning.py`)."""


class Packed(msgspec.Struct, frozen=True):
    """Micro-batches, as places in the row of lengths; most tokens first."""

    micros: tuple[tuple[int, ...], ...]
    time: float


def packed(lengths: Sequence[int], scheme: Scheme) -> Packed | None:
    """The best micro-batches that are found; None where a sequence is longer than a micro-batch may be.

    Tries numbers of micro-batches from as few as hold all tokens to where they would have too few to be useful.
    """
    if not lengths:
        return Packed((), 0.0)
    if max(lengths) > scheme.longest:
        return None
    costs = [scheme.cost(length) for length in lengths]
    order = sorted(range(len(lengths)), key=lambda place: (-costs[place], place))
    tokens = sum(lengths)
    least = -(-tokens // scheme.longest)
    most = min(len(lengths), tokens // scheme.useful if scheme.useful else len(lengths))
    best: Packed | None = None
    tried = 0
    for count in range(least, len(lengths) + 1):
        if best is not None and (count > most or tried == TRIED):
            break
        bins = _dealt(lengths, costs, order, count, scheme.longest)
        if bins is None:
            continue
        tried += 1
        time = scheme.time([sum(costs[place] for place in each) for each in bins])
        if best is None or time < best.time * (1 - 1e-12):
            best = Packed(tuple(map(tuple, bins)), time)
        if scheme.stages == 1:
            break  # more micro-batches only add what each adds
    assert best is not None  # each sequence alone fits
    micros = sorted(best.micros, key=lambda each: (-sum(lengths[place] for place in each), each))
    return Packed(tuple(micros), best.time)


def _dealt(
    lengths: Sequence[int], costs: Sequence[float], order: Sequence[int], count: int, room: int
) -> list[list[int]] | None:
    bins: list[list[int]] = [[] for _ in range(count)]
    filled, tokens = [0.0] * count, [0] * count
    for place in order:
        able = [each for each in range(count) if tokens[each] + lengths[place] <= room]
        if not able:
            return None
        least = min(able, key=filled.__getitem__)
        bins[least].append(place)
        filled[least] += costs[place]
        tokens[least] += lengths[place]
    return [sorted(each) for each in bins if each]
