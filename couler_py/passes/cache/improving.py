"""A plan made better: many starts, and moves that let go of one thing for others that save more."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Mapping, Sequence

from couler_py.passes.cache.planning import Interval, Planning, span
from couler_py.passes.cache.shelf import Expected
from couler_py.passes.cache.trace import Artifact

EXCHANGES = 400
"""So many exchanges of intervals are tried at each start."""

STARTS, SPREAD = 5, 0.3
"""So many starts; all but the first two with what intervals are worth drawn around what it is, by so much."""

EFFORT = 100_000
"""Where artifacts times intervals are more, there is one start, and exchanges weigh no more than so many intervals."""

BETTER = 1 - 1e-9


def planned(
    known: Mapping[str, Artifact], there: Collection[str], future: Sequence[Expected], budget: int
) -> list[frozenset[str]]:
    """What to hold after each round, this one first. `there` can be held now, `future` are the rounds to come."""
    plan = Planning(known, there, future, budget)
    drawn = random.Random(0)  # noqa: S311 - the same plan for the same rounds
    best, least = plan.kept(), float("inf")
    few = len(plan.intervals) * len(plan.keys) <= EFFORT
    for start in range(STARTS if few else 1):
        if start:
            plan.clear()
        if start > 1:
            plan.taste = {each: drawn.lognormvariate(0.0, SPREAD) for each in plan.intervals}
        taken = plan.fill(plan.certain)[1] if start == 1 or not plan.scarce() else []
        taken += plan.fill(plan.intervals)[1]
        plan.taste = {}
        _exchange(plan, taken, EXCHANGES if few else EFFORT // len(plan.intervals))
        if few:
            _rearrange(plan)
        cost = plan.mended()
        if cost < least * BETTER:
            best, least = plan.kept(), cost
        if not plan.scarce():
            break  # there is room for all
    return plan.names(best)


def _exchange(plan: Planning, taken: list[Interval], tries: int) -> None:
    """Let one interval go for others that save more, as long as there are such."""
    better = True
    while better and tries > 0:
        better = False
        for interval in sorted(taken, key=lambda each: (each.start, each.artifact, each.end)):
            moments = [moment for moment in span(interval) if interval.artifact in plan.held[moment]]
            if not moments or not plan.scarce(moments):
                continue
            tries -= 1
            if tries <= 0:
                break
            better |= _exchanged(plan, interval, moments, taken)


def _exchanged(plan: Planning, interval: Interval, moments: list[int], taken: list[Interval]) -> bool:
    """Try to do without one interval; it stays where that is better."""
    before = plan.kept()
    lost = plan.drop(interval.artifact, moments)
    first, last = moments[0], moments[-1]
    others = [each for each in plan.intervals if each.artifact != interval.artifact]
    gained, fresh = plan.fill([each for each in others if each.start < last and each.end >= first])
    again, more = plan.fill([each for each in plan.intervals if each.artifact == interval.artifact])
    if gained + again > lost / BETTER:
        taken[:] = [each for each in taken if each != interval] + fresh + more
        return True
    plan.restore(before)
    return False


def _rearrange(plan: Planning) -> None:
    """Try of each artifact to hold it nowhere, and wherever it is surely needed."""
    moves: tuple[Callable[[Planning, int], None], ...] = (_without, _with)
    for each in range(len(plan.keys)):
        for move in moves:
            before, cost = plan.kept(), plan.cost()
            move(plan, each)
            plan.fill(plan.intervals)
            if plan.cost() >= cost * BETTER:
                plan.restore(before)


def _without(plan: Planning, each: int) -> None:
    plan.drop(each, [moment for moment, held in enumerate(plan.held) if each in held])
    plan.fill([interval for interval in plan.intervals if interval.artifact != each])


def _with(plan: Planning, each: int) -> None:
    """Hold it, and let go what stands in its way: what is cheapest for its bytes."""
    for moment in sorted({m for interval in plan.certain if interval.artifact == each for m in span(interval)}):
        if each in plan.held[moment]:
            continue
        others = sorted(plan.held[moment], key=lambda other: plan.seconds[other] / max(1, plan.size[other]))
        for other in others:
            if plan.load[moment] + plan.size[each] <= plan.budget:
                break
            plan.drop(other, _around(plan, other, moment))
        plan.hold(each, moment)


def _around(plan: Planning, each: int, moment: int) -> list[int]:
    """The rounds around one in which something is held without a break."""
    first = last = moment
    while each in plan.held[first - 1]:
        first -= 1
    while last < plan.rounds and each in plan.held[last + 1]:
        last += 1
    return list(range(first, last + 1))
