"""An order of tasks cut into intervals, each a part within its limits."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from couler_py.passes.split.problem import Problem

LEAST = 0.6
"""A part ends where least is handed over, after this share of the tasks that it could have."""


class Filling:
    """What a part weighs while tasks are added to it in a topological order."""

    def __init__(self, problem: Problem):
        self.problem = problem
        self.measures = problem.bounded
        self.limits = [problem.limits[measure] or 0 for measure in self.measures]
        self.sizes = [problem.sizes[measure] for measure in self.measures]
        self.shared = [[shared[measure] for measure in self.measures] for shared in problem.shared]
        self.fixed = [problem.fixed[measure] for measure in self.measures]
        self.entering = [problem.entering[measure] for measure in self.measures]
        self.leaving = [problem.leaving[measure] for measure in self.measures]
        self.place = [-1] * len(problem)
        self.part = -1
        self.empty()

    def empty(self) -> None:
        """Begin the next part."""
        self.part += 1
        self.own = list(self.fixed)
        self.left: dict[int, int] = {}
        self.outside: set[int] = set()
        self.kinds: set[int] = set()

    def add(self, task: int) -> None:
        self.place[task] = self.part
        kind = self.problem.kinds[task]
        for index, sizes in enumerate(self.sizes):
            self.own[index] += sizes[task]
        if kind >= 0 and kind not in self.kinds:
            self.kinds.add(kind)
            for index, size in enumerate(self.shared[kind]):
                self.own[index] += size
        for producer in self.problem.before[task]:
            if self.place[producer] == self.part:
                if self.left[producer] == 1:
                    del self.left[producer]
                else:
                    self.left[producer] -= 1
            else:
                self.outside.add(producer)
        if readers := len(self.problem.after[task]):
            self.left[task] = readers

    @property
    def fits(self) -> bool:
        """Whether it is within the limits as it stands, what it takes and hands over included."""
        taken, given = len(self.outside), len(self.left)
        for index, limit in enumerate(self.limits):
            if self.own[index] + taken * self.entering[index] + given * self.leaving[index] > limit:
                return False
        return True

    @property
    def full(self) -> bool:
        """Whether it is over a limit whatever comes after."""
        return any(own > limit for own, limit in zip(self.own, self.limits, strict=True))


def filled(problem: Problem, order: Sequence[int], fresh: Sequence[bool] | None = None) -> list[int]:
    """The part of each task, each part as full as it may be; where `fresh` is true a new one begins.

    Raises `ValueError` for a task that is over the limits alone.
    """
    return _cut(problem, order, 1.0, fresh)


def cut(problem: Problem, order: Sequence[int]) -> list[int]:
    """The part of each task. A part ends where the fewest values leave it, ties by the tasks' names alone.

    So where it ends depends on what is near, and a change far away moves nothing. Raises `ValueError` for a task that
    is over the limits alone.
    """
    return _cut(problem, order, LEAST, None)


def _cut(problem: Problem, order: Sequence[int], least: float, fresh: Sequence[bool] | None) -> list[int]:
    filling = Filling(problem)
    found = [0] * len(order)
    start, part = 0, 0
    while start < len(order):
        end = _end(filling, order, start, least, fresh)
        if end == start:
            raise ValueError(f"{problem.names[order[start]]} is larger than a part may be")
        for task in order[start:end]:
            found[task] = part
        start, part = end, part + 1
    return found


def _end(filling: Filling, order: Sequence[int], start: int, least: float, fresh: Sequence[bool] | None) -> int:
    """Where the part that begins at `start` ends."""
    filling.empty()
    last, waiting = start, []
    at = start
    while at < len(order):
        task = order[at]
        if fresh is not None and fresh[task] and at > start:
            break
        filling.add(task)
        if filling.full:
            break
        at += 1
        if filling.fits:
            last = at
        waiting.append(len(filling.left))
        if at - last > 2 * (last - start) + 64:
            break
    # What was looked at beyond the end belongs to later parts.
    if at == len(order) == last or least == 1.0 or last <= start:
        return last
    if fresh is not None and at < len(order) and fresh[order[at]]:
        return last
    first = start + max(1, int((last - start) * least))
    names = filling.problem.names
    return min(
        range(first, last + 1),
        key=lambda end: (waiting[end - start - 1], _dice(names[order[end - 1]])),
    )


def _dice(name: str) -> bytes:
    return hashlib.blake2b(name.encode(), digest_size=8).digest()
