"""What a policy would have saved: a trace replayed, round by round."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from couler_py.passes.cache.shelf import Expected, Kept, Policy, Shelf
from couler_py.passes.cache.trace import Trace, closure, surely_needed

Forecast = Callable[[Trace, int], Sequence[Expected]]
"""What is expected after so many rounds of a trace."""


class Replayed(msgspec.Struct, frozen=True):
    """What became of a trace. Seconds: of everything that was made, and of what had been made before.

    `hits` of `asked` requests for what was there once found it; `peak` is the most bytes held after a round.
    """

    policy: str
    seconds: float
    again: float
    hits: int
    asked: int
    peak: int


class OverBudgetError(AssertionError):
    """A policy kept more than it may."""


def replay(trace: Trace, policy: Policy, budget: int, forecast: Forecast | None = None) -> Replayed:
    """Replay a trace with a policy under a budget in bytes. What can't be foreseen is expected by the `forecast`.

    Raises `OverBudgetError` for a policy that breaks the rules.
    """
    known = trace.by_key()
    needed = surely_needed(trace)
    coming = [dict.fromkeys(sorted(each), 1.0) for each in needed]
    shelf = Shelf(budget, {}, known)
    made_before: set[str] = set()
    seconds = again = 0.0
    hits = requests = peak = 0
    clock = 0.0
    for number, asked in enumerate(trace.rounds):
        fresh: list[Kept] = []
        if trace.foreseen:
            shelf.future = coming[number + 1 :]
        elif forecast is not None:
            shelf.future = forecast(trace, number + 1)
        used = []
        for key in closure(asked, known, shelf.held):
            clock += 1.0
            requests += key in made_before
            if key in shelf.held:
                hits += 1
                kept = shelf.held[key]
                kept.used, kept.uses = clock, kept.uses + 1
                used.append(kept)
                continue
            seconds += known[key].seconds
            if key in made_before:
                again += known[key].seconds
            made_before.add(key)
            fresh.append(Kept(known[key], clock, clock))
        for kept in used:
            policy.used(shelf, kept)
        policy.offered(shelf, fresh)
        peak = max(peak, shelf.size)
        if policy.bounded and shelf.size > budget:
            raise OverBudgetError(f"{policy.name} keeps {shelf.size} bytes of {budget}")
    return Replayed(policy.name, seconds, again, hits, requests, peak)
