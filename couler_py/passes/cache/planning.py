"""What could be held when, where the rounds to come are known: intervals packed under the budget.

Holding an artifact from one round that has it to a later one that needs it saves making it, and all that would only be
made for it. Intervals are taken in by what they save for each byte and round that is scarce; `improving.py` then looks
for something better.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from couler_py.passes.cache.shelf import Expected
from couler_py.passes.cache.trace import Artifact, order

SPARE = 0.02
"""What room costs between two rounds where there is enough for all, of what it costs where there isn't."""


class Interval(NamedTuple):
    """An artifact, by its number, held from one round to another."""

    artifact: int
    start: int
    end: int


class Planning:
    """The rounds to come. Round 0 is the one that has just ended, after which `there` is what can be held.

    Artifacts are numbers here, each higher than its inputs. `held[t]` is what round t finds.
    """

    def __init__(self, known: Mapping[str, Artifact], there: Collection[str], future: Sequence[Expected], budget: int):
        self.budget = budget
        relevant = _relevant(known, future)
        self.keys = order(relevant)
        number = {key: place for place, key in enumerate(self.keys)}
        self.size = [relevant[key].size for key in self.keys]
        self.seconds = [relevant[key].seconds for key in self.keys]
        self.inputs = [[number[each] for each in relevant[key].inputs] for key in self.keys]
        self.readers: list[list[int]] = [[] for _ in self.keys]
        for each, inputs in enumerate(self.inputs):
            for producer in inputs:
                self.readers[producer].append(each)
        self.asked = [{}, *({number[key]: chance for key, chance in each.items() if chance > 0} for each in future)]
        self.rounds = len(future)
        self.held: list[set[int]] = [set() for _ in range(self.rounds + 1)]
        self.load = [0] * (self.rounds + 1)
        self.need: list[dict[int, float]] = [{} for _ in range(self.rounds + 1)]
        for each in range(1, self.rounds + 1):
            self.weigh(each)
        self.intervals = list(self._intervals({number[key] for key in there if key in number}))
        self.certain = [each for each in self.intervals if self._is_certain(each)]
        self.price = self._prices()
        self.taste: dict[Interval, float] = {}

    # ---- what is needed

    def weigh(self, moment: int) -> None:
        """How probably each artifact has to be there in a round, with what that round finds."""
        need = dict(self.asked[moment])
        heap = [-each for each in need]
        heapq.heapify(heap)
        done = set()
        while heap:
            each = -heapq.heappop(heap)  # readers before what they read
            if each in done:
                continue
            done.add(each)
            if each in self.held[moment]:
                continue
            for producer in self.inputs[each]:
                if need.get(producer, 0.0) < need[each]:
                    need[producer] = need[each]
                    heapq.heappush(heap, -producer)
                elif producer not in done:
                    heapq.heappush(heap, -producer)
        self.need[moment] = need

    def _saved(self, each: int, moment: int) -> float:
        """The seconds that a round saves by finding an artifact besides what it finds."""
        need, held, asked = self.need[moment], self.held[moment], self.asked[moment]
        own = need.get(each, 0.0)
        if own == 0.0 or each in held:
            return 0.0
        saved = own * self.seconds[each]
        less: dict[int, float] = {each: 0.0}  # what those that are no longer made still ask of their inputs
        heap = [-producer for producer in self.inputs[each]]
        heapq.heapify(heap)
        while heap:
            producer = -heapq.heappop(heap)
            if producer in less:
                continue
            before = need.get(producer, 0.0)
            after = asked.get(producer, 0.0)
            if after < before:
                for reader in self.readers[producer]:
                    if reader not in held:
                        after = max(after, less.get(reader, need.get(reader, 0.0)))
            if after < before and producer not in held:
                less[producer] = after
                saved += (before - after) * self.seconds[producer]
                for more in self.inputs[producer]:
                    heapq.heappush(heap, -more)
        return saved

    # ---- intervals

    def _intervals(self, there: set[int]) -> Iterator[Interval]:
        """From each round that has or may have an artifact to each that may need it, up to one that surely does."""
        sure: dict[int, list[int]] = {each: [0] for each in there}
        may: dict[int, list[int]] = {}
        for moment in range(1, self.rounds + 1):
            for each in self.asked[moment]:
                sure.setdefault(each, []).append(moment)
            for each in self.need[moment]:  # with nothing held, all that may be needed
                may.setdefault(each, []).append(moment)
        for each, certain in sorted(sure.items()):
            if self.size[each] > self.budget:
                continue
            for start in sorted({*certain, *may.get(each, ())}):
                if start < certain[0]:
                    continue
                following = next((moment for moment in certain if moment > start), self.rounds)
                for end in may.get(each, ()):
                    if start < end <= following:
                        yield Interval(each, start, end)

    def _is_certain(self, interval: Interval) -> bool:
        """Whether both rounds ask for the artifact: if all such intervals fit, nothing is made twice."""
        asked = self.asked
        return interval.artifact in asked[interval.end] and (
            interval.start == 0 or interval.artifact in asked[interval.start]
        )

    def _prices(self) -> list[float]:
        """What a byte costs in each round: it is scarce where more could be held than there is room for."""
        wanted = [0] * (self.rounds + 1)
        for each in {(interval.artifact, moment) for interval in self.intervals for moment in span(interval)}:
            wanted[each[1]] += self.size[each[0]]
        return [1.0 if bytes_ > self.budget else SPARE for bytes_ in wanted]

    def _added(self, interval: Interval) -> list[int]:
        """The rounds that an interval adds to what is held."""
        return [moment for moment in span(interval) if interval.artifact not in self.held[moment]]

    def _worth(self, interval: Interval) -> float:
        """What an interval saves for what it costs; 0 where it doesn't fit or saves nothing."""
        each, start = interval.artifact, interval.start
        if start and each not in self.held[start] and each not in self.need[start]:
            return 0.0  # that round doesn't have it
        size = self.size[each]
        added = self._added(interval)
        if not added or any(self.load[moment] + size > self.budget for moment in added):
            return 0.0
        cost = size * sum(self.price[moment] for moment in added) + 1e-9
        return self._gain(interval.artifact, added) * self.taste.get(interval, 1.0) / cost

    def _gain(self, each: int, moments: Sequence[int]) -> float:
        return sum(self._saved(each, moment) for moment in moments)

    def _take(self, interval: Interval) -> float:
        added = self._added(interval)
        gained = self._gain(interval.artifact, added)
        for moment in added:
            self.hold(interval.artifact, moment)
        return gained

    def hold(self, each: int, moment: int) -> None:
        """Hold an artifact when a round begins."""
        self.held[moment].add(each)
        self.load[moment] += self.size[each]
        self.weigh(moment)

    def scarce(self, moments: Sequence[int] | None = None) -> bool:
        """Whether there isn't room for all that could be held, in some rounds or in any."""
        among = self.price if moments is None else [self.price[moment] for moment in moments]
        return any(price >= 1.0 for price in among)

    def drop(self, each: int, moments: Sequence[int]) -> float:
        """Hold an artifact no longer in some rounds: the seconds lost."""
        for moment in moments:
            self.held[moment].discard(each)
            self.load[moment] -= self.size[each]
            self.weigh(moment)
        return self._gain(each, moments)

    def fill(self, intervals: Sequence[Interval]) -> tuple[float, list[Interval]]:
        """Take in what is worth most as long as something fits: the seconds gained, and what was taken."""
        heap = [(-worth, place) for place, each in enumerate(intervals) if (worth := self._worth(each)) > 0]
        heapq.heapify(heap)
        gained, taken = 0.0, []
        while heap:
            _, place = heapq.heappop(heap)
            worth = self._worth(intervals[place])
            if worth <= 0:
                continue
            if heap and -worth > heap[0][0]:
                heapq.heappush(heap, (-worth, place))  # it has become worth less than another one
                continue
            gained += self._take(intervals[place])
            taken.append(intervals[place])
        return gained, taken

    # ---- the plan

    def mended(self) -> float:
        """Take out of the plan what no round makes after all; gives the seconds of all that is made."""
        for moment in range(1, self.rounds + 1):
            if moment > 1:
                made = self.need[moment - 1].keys() | self.held[moment - 1]
                self.held[moment] &= made
            self.weigh(moment)
        return self.cost()

    def cost(self) -> float:
        """The seconds of all that is made, with what is held."""
        total = 0.0
        for need, held in zip(self.need, self.held, strict=True):
            total += sum(chance * self.seconds[each] for each, chance in need.items() if each not in held)
        return total

    def kept(self) -> list[set[int]]:
        """What is held, to come back to it."""
        return [set(each) for each in self.held]

    def restore(self, kept: Sequence[set[int]]) -> None:
        """Hold what was held before."""
        for moment, held in enumerate(kept):
            if held != self.held[moment]:
                self.held[moment] = set(held)
                self.load[moment] = sum(self.size[each] for each in held)
                self.weigh(moment)

    def names(self, kept: Sequence[set[int]]) -> list[frozenset[str]]:
        """By round, the keys of what is held after it, this one first."""
        return [frozenset(self.keys[each] for each in held) for held in kept[1:]]

    def clear(self) -> None:
        """Hold nothing."""
        for moment in range(1, self.rounds + 1):
            self.held[moment], self.load[moment] = set(), 0
            self.weigh(moment)


def span(interval: Interval) -> range:
    """The rounds that find it."""
    return range(interval.start + 1, interval.end + 1)


def _relevant(known: Mapping[str, Artifact], future: Sequence[Expected]) -> dict[str, Artifact]:
    """The artifacts that some round may need."""
    found: dict[str, Artifact] = {}
    stack = [key for expected in future for key, chance in expected.items() if chance > 0]
    while stack:
        key = stack.pop()
        if key not in found:
            found[key] = known[key]
            stack.extend(known[key].inputs)
    return found
