"""What the next run of a workflow will ask for, from the runs before it.

A run asks again for whatever didn't change. What changes is a step that somebody edits, or that gets other parameters,
with all that is made from it: so an artifact is asked for again unless its step or one before it changes. Where the
next change will be is estimated from those seen: it is near the last one with some probability, else anywhere.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise

from couler_py.passes.cache.trace import Artifact, Trace

WHERE = {"same": 1.0, "near": 1.0, "far": 1.0}
"""Before anything is seen: how often a change was at the step changed before, next to it, or anywhere else."""

BACK = (0.5, 9.5)
"""Likewise: how often a change was taken back, and how often not."""

COMMON = 0.5
"""Likewise, how often each step was changed, divided by the root of the number of steps that are made from it: people
rather change what stands at the end."""


class Forecast:
    """The changes seen so far between the runs of a workflow."""

    def __init__(self, known: Mapping[str, Artifact], rounds: Sequence[Collection[str]]):
        self._known = known
        self._rounds = rounds
        self._steps = sorted({known[key].step for asked in rounds for key in asked})
        self._counts = self._common()
        self._where = dict(WHERE)
        self._back, self._ahead = BACK
        self._origins: frozenset[str] = frozenset()
        self._changes = 0
        seen: set[str] = set(rounds[0]) if rounds else set()
        for before, after in pairwise(rounds):
            self._learn(before, after, seen)
            seen.update(after)

    def _common(self) -> dict[str, float]:
        """What each step counts for before it was ever changed."""
        behind = dict.fromkeys(self._steps, 0)
        for key in self._rounds[-1] if self._rounds else ():
            for step in self._before(key):
                behind[step] = behind.get(step, 0) + 1
        return {step: COMMON / math.sqrt(max(1, behind[step])) for step in self._steps}

    def _learn(self, before: Collection[str], after: Collection[str], seen: Collection[str]) -> None:
        changed = self._changed(before, after)
        if not changed:
            return
        if any(key in seen for key in after if key not in before and self._known[key].step in changed):
            self._back += 1  # what was there before the last change is there again: no new change
            return
        self._ahead += 1
        near = self._neighbours(after)
        for step in changed:
            self._counts[step] += 1
            if self._origins:
                where = "same" if step in self._origins else "near" if step in near else "far"
                self._where[where] += 1
        self._changes += len(changed)
        self._origins = changed

    def _changed(self, before: Collection[str], after: Collection[str]) -> frozenset[str]:
        """The steps that changed themselves, and not by what they are made from."""
        old = set(before)
        return frozenset(
            self._known[key].step
            for key in after
            if key not in old and all(each in old for each in self._known[key].inputs)
        )

    def _neighbours(self, asked: Collection[str]) -> frozenset[str]:
        """The steps next to those that changed last."""
        found: set[str] = set()
        for key in asked:
            own = self._known[key]
            reads = {self._known[each].step for each in own.inputs}
            if own.step in self._origins:
                found |= reads
            if reads & self._origins:
                found.add(own.step)
        return frozenset((found & self._counts.keys()) - self._origins)

    def next(self) -> dict[str, float]:
        """By key, the probability that the next run asks for it."""
        if not self._rounds:
            return {}
        last = list(self._rounds[-1])
        chance = self._chances(last)
        back = self._back / (self._back + self._ahead)
        found: dict[str, float] = {}
        if len(self._rounds) > 1:
            current = set(last)
            found.update((key, back) for key in self._rounds[-2] if key not in current)
        for key in last:
            found[key] = max(0.01, 1.0 - sum(chance.get(step, 0.0) for step in self._before(key)))
        return found

    def _chances(self, last: Collection[str]) -> dict[str, float]:
        """By step, the probability that it is changed before the next run."""
        among = {"same": self._origins, "near": self._neighbours(last), "far": frozenset(self._steps)}
        places = {where: steps for where, steps in among.items() if steps}
        odds = sum(self._where[where] for where in places)
        rate = (self._changes + 1.0) / max(2.0, len(self._rounds))  # changes between two runs
        found = dict.fromkeys(self._steps, 0.0)
        for where, steps in places.items():
            total = sum(self._counts[step] for step in sorted(steps))
            for step in steps:
                found[step] += rate * self._where[where] / odds * self._counts[step] / total
        return found

    def _before(self, key: str) -> set[str]:
        """The steps that an artifact is made by, its own and all before."""
        seen = {key}
        stack = [key]
        while stack:
            for each in self._known[stack.pop()].inputs:
                if each not in seen:
                    seen.add(each)
                    stack.append(each)
        return {self._known[each].step for each in seen}


FORGOTTEN = 0.8
"""What a run counts for how often its workflow runs, against the run after it."""


def expected(known: Mapping[str, Artifact], runs: Sequence[tuple[str, Collection[str]]]) -> list[dict[str, float]]:
    """What the next run is expected to ask for, after runs of several workflows, each with the name of its workflow.

    That of a workflow counts by how often it was run lately. Gives one round, none where nothing was run.
    """
    share: dict[str, float] = {}
    for place, (name, _) in enumerate(reversed(runs)):
        share[name] = share.get(name, 0.0) + FORGOTTEN**place
    total = sum(share.values())
    found: dict[str, float] = {}
    for name, weight in sorted(share.items()):
        own = [asked for each, asked in runs if each == name]
        for key, chance in Forecast(known, own).next().items():
            found[key] = max(found.get(key, 0.0), chance * weight / total)
    return [found] if found else []


def forecast(trace: Trace, past: int) -> list[dict[str, float]]:
    """What is expected after so many rounds of a trace."""
    return [Forecast(trace.by_key(), trace.rounds[:past]).next()]
