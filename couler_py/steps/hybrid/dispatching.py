"""The sequences of a step to pipelines and into micro-batches, by what they cost (Hydraulis, SIGMOD 2026, online part).

Sequences go one by one to the pipeline that then ends first, in several orders; what its micro-batches add counts from
the start, which the published code leaves out. With few sequences, moves and swaps improve the best. Needs NumPy.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from itertools import accumulate

import msgspec
import numpy as np
from numpy.typing import NDArray

from couler_py.steps.hybrid.packing import Packed, packed
from couler_py.steps.hybrid.schemes import Strategy

ORDERS = (8, 64)
"""How many orders are tried, at least and at most: the fewer sequences, the more (Hetu: 50 to 100)."""
CLOSE = 4
"""Strategies that are tried in several orders: those that are best in the first; and of all tries, those improved."""
SEARCH = 4096
"""Packings that the search by moves and swaps may try."""


class Share(msgspec.Struct, frozen=True):
    """What one pipeline does."""

    micros: tuple[tuple[int, ...], ...]
    """Sequences of each micro-batch, as places in the row of lengths."""
    time: float

    @property
    def sequences(self) -> list[int]:
        """All its sequences."""
        return sorted(place for micro in self.micros for place in micro)


class Dispatch(msgspec.Struct, frozen=True):
    """Who does what in a step, and how long it takes."""

    strategy: int
    """Which of the strategies."""
    shares: tuple[Share, ...]
    """One for each of its pipelines, in their order."""

    @property
    def time(self) -> float:
        """When the last pipeline ends, by the model of costs."""
        return max((share.time for share in self.shares), default=0.0)


def cu_seqlens(lengths: Sequence[int], micro: Sequence[int], align: int = 1) -> list[int]:
    """Where each sequence of a micro-batch starts in the packed one, and its end, filled up to a multiple of `align`.

    The form that variable-length attention takes. What fills up is a sequence of its own.
    """
    found = list(accumulate((lengths[place] for place in micro), initial=0))
    end = -(-found[-1] // align) * align
    return [*found, end] if end > found[-1] else found


def dispatch_and_pack(
    lengths: Sequence[int],
    strategies: Sequence[Strategy],
    *,
    seed: int = 0,
    orders: int | None = None,
    search: int = SEARCH,
) -> Dispatch:
    """The strategy that does these sequences soonest, with who does which in which micro-batch.

    `orders` are the orders in which sequences are dealt out (the longest first, then shuffled by `seed`), `search` how
    many packings of single pipelines may be tried to improve the best. The same arguments give the same answer.
    Raises `ValueError` for no sequences, a length below 1, or a sequence that no strategy holds.
    """
    if not lengths:
        raise ValueError("there are no sequences to dispatch")
    if min(lengths) < 1:
        raise ValueError(f"a sequence of {min(lengths)} tokens: there is at least 1")
    able = [(number, each) for number, each in enumerate(strategies) if each.longest >= max(lengths)]
    if not able:
        limit = max((each.longest for each in strategies), default=0)
        raise ValueError(f"a sequence has {max(lengths)} tokens: no strategy holds more than {limit}")
    if orders is None:
        orders = min(max(ORDERS[0], 1024 // len(lengths)), ORDERS[1])
    dealers = [(_Dealer(lengths, each), number) for number, each in able]
    first = sorted(((dealer.dealt(), dealer, number) for dealer, number in dealers), key=lambda each: each[0].time)
    tried = [(each, number) for dealt, dealer, number in first[:CLOSE] for each in dealer.tries(dealt, seed, orders)]
    unlike = {(number, str(each.places)): (each, number) for each, number in reversed(tried)}
    tried = sorted(unlike.values(), key=lambda each: (each[0].time, each[1]))[:CLOSE]
    for dealt, _ in tried:
        dealt.improve(search // len(tried))
    found, number = min(tried, key=lambda each: (each[0].time, each[1]))
    shares = (
        Share(
            tuple(tuple(places[place] for place in micro) for micro in pack.micros),
            pack.time,
        )
        for places, pack in zip(found.places, found.packs, strict=True)
    )
    return Dispatch(number, tuple(shares))


class _Dealer:
    """Deals sequences to the pipelines of one strategy."""

    def __init__(self, lengths: Sequence[int], strategy: Strategy):
        self._lengths, self._strategy = lengths, strategy
        pipelines = strategy.pipelines
        self._longest = np.array([each.longest for each in pipelines])
        self._stages = np.array([each.stages for each in pipelines])
        self._fixed = np.array([each.fixed for each in pipelines])
        self._square = np.array([each.square for each in pipelines])
        self._linear = np.array([each.linear for each in pipelines])
        row = sorted(range(len(lengths)), key=lambda place: (-lengths[place], place))
        rooms = sorted({each.longest for each in pipelines})
        only = rooms[-2] if len(rooms) > 1 else math.inf
        self._first = [place for place in row if lengths[place] > only]
        self._rest = row[len(self._first) :]

    def dealt(self, rest: Sequence[int] | None = None) -> _Dealt:
        """One order: what only the pipelines with most room hold, then the rest (default: the longest first)."""
        order = [*self._first, *(self._rest if rest is None else rest)]
        return _Dealt(self._lengths, self._strategy, self._deal(order))

    def tries(self, first: _Dealt, seed: int, orders: int) -> Iterator[_Dealt]:
        """One that is there, and those of further orders, shuffled."""
        yield first
        rest = list(self._rest)
        shuffled = random.Random(seed)  # noqa: S311 - orders to try, no secret
        for _ in range(1, orders):
            shuffled.shuffle(rest)
            yield self.dealt(rest)

    def _deal(self, order: Sequence[int]) -> list[list[int]]:
        count = len(self._strategy.pipelines)
        cost: NDArray[np.float64] = np.zeros(count)
        longest: NDArray[np.float64] = np.zeros(count)
        tokens: NDArray[np.int64] = np.zeros(count, dtype=np.int64)
        found: list[list[int]] = [[] for _ in range(count)]
        for place in order:
            length = self._lengths[place]
            own = self._square * length * length + self._linear * length
            micros = -(-(tokens + length) // np.maximum(self._longest, 1))
            most = np.maximum(np.maximum(longest, own), (cost + own) / micros)
            ends = cost + own + micros * self._fixed + (self._stages - 1) * (most + self._fixed)
            ends[self._longest < length] = np.inf
            to = int(ends.argmin())
            found[to].append(place)
            cost[to] += own[to]
            longest[to] = max(longest[to], own[to])
            tokens[to] += length
        return found


class _Dealt:
    """Sequences of each pipeline, packed."""

    def __init__(self, lengths: Sequence[int], strategy: Strategy, places: list[list[int]]):
        self._lengths, self._strategy = lengths, strategy
        self.places = [sorted(each) for each in places]
        packs = [self._packed(number, each) for number, each in enumerate(self.places)]
        self.packs: list[Packed] = [pack for pack in packs if pack is not None]

    @property
    def time(self) -> float:
        """When the last pipeline ends."""
        return max(pack.time for pack in self.packs)

    def _packed(self, number: int, places: Sequence[int]) -> Packed | None:
        return packed([self._lengths[place] for place in places], self._strategy.pipelines[number])

    def improve(self, search: int) -> None:
        """Move and swap sequences of the pipeline that ends last, as long as that helps and the search lasts."""
        left = search
        while True:
            last = max(range(len(self.packs)), key=lambda number: (self.packs[number].time, -number))
            for other, mine, theirs in self._changes(last):
                if left < 2:
                    return
                left -= 2
                now, then = self._packed(last, mine), self._packed(other, theirs)
                if now is None or then is None:
                    continue
                if max(now.time, then.time) < self.packs[last].time * (1 - 1e-12):
                    self.places[last], self.places[other] = mine, theirs
                    self.packs[last], self.packs[other] = now, then
                    break
            else:
                return

    def _changes(self, last: int) -> Iterator[tuple[int, list[int], list[int]]]:
        others = sorted(
            (number for number in range(len(self.packs)) if number != last), key=lambda each: self.packs[each].time
        )
        for other in others:
            mine, theirs = self.places[last], self.places[other]
            for place in mine:
                rest = [each for each in mine if each != place]
                yield other, rest, sorted([*theirs, place])
                for back in theirs:
                    if self._lengths[back] != self._lengths[place]:
                        yield other, sorted([*rest, back]), sorted([*(each for each in theirs if each != back), place])
