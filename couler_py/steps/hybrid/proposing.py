"""Which mixes of pipelines suit the lengths of a corpus: a dynamic program over ranks and lengths (Hydraulis, 2026).

Needs NumPy, which the extra `train` brings.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from couler_py.steps.hybrid.schemes import Scheme, Strategy, homogeneous

Floats = NDArray[np.float64]


class Proposals(msgspec.Struct, frozen=True):
    """Strategies to choose from at each step."""

    strategies: tuple[Strategy, ...]
    """The one for sequences of all lengths first, then those for shorter ones, then the homogeneous ones."""
    value: float
    """The least time of all sequences, where each scheme takes an interval of lengths: the program's value."""


def propose_strategies(
    histogram: Mapping[int, float], schemes: Sequence[Scheme], ranks: int, *, grain: int = 128, unit: int = 1
) -> Proposals:
    """Strategies for a step whose sequences have these lengths so often.

    Lengths are rounded up to multiples of `grain` tokens (or to what a scheme holds, where that is less), ranks are
    dealt out in pieces of `unit`. Raises `ValueError` for a grain or a unit below 1, for no lengths, or a length that
    no scheme holds.
    """
    if grain < 1 or unit < 1:
        raise ValueError(f"a grain of {grain} tokens and pieces of {unit} ranks: both are at least 1")
    lengths, counts = _buckets(histogram, schemes, grain)
    table = _Table(lengths, counts, schemes, ranks, unit)
    traced = [table.strategy(upto) for upto in range(len(lengths), 0, -1)]
    found = [each for each in traced if each is not None]
    if not found or found[0].longest < lengths[-1]:
        raise ValueError(
            f"no pipeline of at most {ranks} ranks holds a sequence of {int(lengths[-1])} tokens: more ranks, or a "
            "scheme that holds it"
        )
    alike = [homogeneous(scheme, ranks) for scheme in schemes if scheme.ranks <= ranks and scheme.longest > 0]
    return Proposals(tuple(dict.fromkeys([*found, *alike])), float(table.best[-1, -1]))


def _buckets(histogram: Mapping[int, float], schemes: Sequence[Scheme], grain: int) -> tuple[Floats, Floats]:
    limits = sorted(scheme.longest for scheme in schemes)
    rounded: dict[int, float] = {}
    for length, count in histogram.items():
        if length < 1 or count < 0:
            raise ValueError(f"{count} sequences of {length} tokens: lengths are at least 1, counts at least 0")
        up = -(-length // grain) * grain
        held = next((limit for limit in limits if length <= limit < up), up)
        rounded[held] = rounded.get(held, 0.0) + count
    if not any(rounded.values()):
        raise ValueError("there are no lengths to plan for")
    lengths = sorted(length for length, count in rounded.items() if count)
    return np.array(lengths, float), np.array([rounded[length] for length in lengths])


class _Table:
    """`best[n, j]`: the least time to do the j shortest lengths on n pieces of ranks."""

    def __init__(self, lengths: Floats, counts: Floats, schemes: Sequence[Scheme], ranks: int, unit: int):
        self._unit = unit
        pieces, rows = ranks // unit, len(lengths)
        self._costs = {scheme: _intervals(lengths, counts, scheme) for scheme in schemes}
        self.best = np.full((pieces + 1, rows + 1), math.inf)
        self.best[:, 0] = 0.0
        self._how: dict[tuple[int, int], tuple[Scheme, int, int]] = {}
        for n in range(1, pieces + 1):
            self._fill(n)

    def _fill(self, n: int) -> None:
        best = self.best[n]
        best[:] = self.best[n - 1]
        which: list[tuple[Scheme, int, int] | None] = [None] * len(best)
        for scheme, costs in self._costs.items():
            size = -(-scheme.ranks // self._unit)
            for copies in range(1, n // size + 1):
                # from the i shortest to the j shortest: both parts at once, and the later one counts
                both = np.maximum(self.best[n - copies * size][:, None], costs / copies)
                start = both.argmin(axis=0)
                value = both[start, np.arange(both.shape[1])]
                for upto in np.flatnonzero(value < best * (1 - 1e-12)).tolist():
                    best[upto] = value[upto]
                    which[upto] = (scheme, copies, int(start[upto]))
        for upto, how in enumerate(which):
            if how is not None:
                self._how[n, upto] = how

    def strategy(self, upto: int) -> Strategy | None:
        """The pipelines that do the shortest lengths best on all ranks."""
        pieces = len(self.best) - 1
        if not math.isfinite(self.best[pieces, upto]):
            return None
        return Strategy(tuple(self._traced(pieces, upto)))

    def _traced(self, n: int, upto: int) -> Iterator[Scheme]:
        while upto:
            how = self._how.get((n, upto))
            if how is None:
                n -= 1
                continue
            scheme, copies, upto = how
            yield from (scheme,) * copies
            n -= copies * -(-scheme.ranks // self._unit)


def _intervals(lengths: Floats, counts: Floats, scheme: Scheme) -> Floats:
    """The time of one pipeline for the lengths from the i-th to before the j-th; infinite where it can't hold them.

    Σ count·(a s² + b s + c) + (stages - 1)·(a s² + b s) of the longest: each sequence a micro-batch of its own, as
    strategies are proposed before anything is packed.
    """
    own = scheme.square * lengths**2 + scheme.linear * lengths
    total = np.concatenate([[0.0], np.cumsum(counts * (own + scheme.fixed))])
    costs = total[None, :] - total[:, None]
    costs[:, 1:] += (scheme.stages - 1) * own[None, :]
    costs[:, 1:][:, lengths > scheme.longest] = math.inf
    below = np.tri(len(total), dtype=bool)  # an interval has at least one length
    costs[below] = math.inf
    return costs
