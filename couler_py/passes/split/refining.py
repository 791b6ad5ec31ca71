"""Tasks moved between parts where that hands over less. Parts stay in their order, so they never wait in a circle."""

from __future__ import annotations

from collections.abc import Sequence

from couler_py.passes.split.problem import Problem

ROUNDS = 2
"""So often all tasks are looked at."""


class Moves:
    """What each part weighs and reads, kept as tasks move (after Fiduccia and Mattheyses 1982).

    A task may go to any part from the last of its producers' to the first of its readers'.
    """

    def __init__(self, problem: Problem, parts: Sequence[int]):
        self.problem = problem
        self.part = list(parts)
        self.count = max(parts, default=-1) + 1
        self.measures = problem.bounded
        self.own = [[problem.fixed[measure]] * self.count for measure in self.measures]
        self.bounds = [
            (problem.limits[measure] or 0, problem.entering[measure], problem.leaving[measure])
            for measure in self.measures
        ]
        self.taken = [0] * self.count
        self.given = [0] * self.count
        self.tasks = [0] * self.count
        self.kinds: list[dict[int, int]] = [{} for _ in range(self.count)]
        self.readers: list[dict[int, int]] = [{} for _ in parts]
        for task, part in enumerate(parts):
            self._weigh(task, part, 1)
            where = self.readers[task]
            for reader in problem.after[task]:
                where[parts[reader]] = where.get(parts[reader], 0) + 1
            outside = len(where) - (part in where)
            self.given[part] += outside > 0
            for other in where:
                self.taken[other] += other != part

    def _weigh(self, task: int, part: int, sign: int) -> None:
        """Add a task to a part, or (-1) take it out."""
        problem = self.problem
        kind = problem.kinds[task]
        once = False
        if kind >= 0:
            known = self.kinds[part].get(kind, 0) + sign
            once = known == (1 if sign > 0 else 0)
            if known:
                self.kinds[part][kind] = known
            else:
                del self.kinds[part][kind]
        self.tasks[part] += sign
        for own, measure in zip(self.own, self.measures, strict=True):
            size = problem.sizes[measure][task] + (problem.shared[kind][measure] if once else 0)
            own[part] += sign * size

    def fits(self, part: int) -> bool:
        taken, given = self.taken[part], self.given[part]
        for own, (limit, entering, leaving) in zip(self.own, self.bounds, strict=True):
            if own[part] + taken * entering + given * leaving > limit:
                return False
        return True

    def gain(self, task: int, to: int) -> int:
        """The bytes that are handed over less when a task goes to another part."""
        problem, part, own = self.problem, self.part, self.part[task]
        found = 0
        where = self.readers[task]
        if where:
            found = problem.carried[task] * ((to in where) - (own in where))
        for producer in problem.before[task]:
            home, there = part[producer], self.readers[producer]
            if there[own] == 1 and own != home:
                found += problem.carried[producer]
            if to not in there and to != home:
                found -= problem.carried[producer]
        return found

    def move(self, task: int, to: int) -> None:
        own = self.part[task]
        where = self.readers[task]
        self._weigh(task, own, -1)
        self._weigh(task, to, 1)
        self.given[own] -= len(where) > (own in where)
        self.given[to] += len(where) > (to in where)
        self.taken[own] += own in where
        self.taken[to] -= to in where
        self.part[task] = to
        for producer in self.problem.before[task]:
            home, there = self.part[producer], self.readers[producer]
            outside = len(there) > (home in there)
            there[own] -= 1
            if not there[own]:
                del there[own]
                self.taken[own] -= own != home
            if to not in there:
                self.taken[to] += to != home
            there[to] = there.get(to, 0) + 1
            self.given[home] += (len(there) > (home in there)) - outside

    def range(self, task: int) -> tuple[int, int]:
        """The first and the last part that a task may be in."""
        part, problem = self.part, self.problem
        first = max((part[producer] for producer in problem.before[task]), default=0)
        last = min((part[reader] for reader in problem.after[task]), default=self.count - 1)
        return first, last


def refined(problem: Problem, parts: Sequence[int]) -> list[int]:
    """The parts with fewer bytes between them: no part leaves its limits, and none is left empty."""
    moves = Moves(problem, parts)
    for _ in range(ROUNDS):
        moved = False
        for task in range(len(problem)):
            own = moves.part[task]
            first, last = moves.range(task)
            if first == last or moves.tasks[own] == 1:
                continue
            best, most = own, 0
            for to in {first, last} if first <= own <= last else ():
                if to != own and (gain := moves.gain(task, to)) > most:
                    best, most = to, gain
            if best == own:
                continue
            moves.move(task, best)
            touched = {best, own, *(moves.part[producer] for producer in problem.before[task])}
            if all(map(moves.fits, touched)):
                moved = True
            else:
                moves.move(task, own)
        if not moved:
            break
    return moves.part


def handed_over(problem: Problem, parts: Sequence[int]) -> int:
    """The bytes that go from part to part, a task's once for each part that reads it."""
    found = 0
    for task, readers in enumerate(problem.after):
        own = parts[task]
        if any(parts[reader] != own for reader in readers):
            found += problem.carried[task] * len({parts[reader] for reader in readers} - {own})
    return found
