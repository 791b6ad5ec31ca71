"""What our parts are measured against: slices of levels, the paper's algorithm, a part for each component."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from couler_py.passes.split.cutting import Filling, filled
from couler_py.passes.split.orders import between, by_component, by_level, topological
from couler_py.passes.split.problem import Problem


def level_slices(problem: Problem) -> list[int]:
    """Level after level, each part as full as it may be."""
    return filled(problem, by_level(problem))


def per_component(problem: Problem) -> list[int]:
    """A part for each connected component, in level slices where one is too large."""
    order, component = by_component(problem)
    fresh = [True] * len(problem)
    for before, task in pairwise(order):
        fresh[task] = component[before] != component[task]
    return filled(problem, order, fresh)


def of_the_paper(problem: Problem) -> list[int]:
    """Algorithm 3 of the Couler paper (arXiv 2403.07608): a depth-first walk from each vertex that wasn't visited, each
    vertex put into the part at hand until the budget is reached.

    Vertices are taken when they are first met, before all that they wait for. So parts can wait for each other.
    """
    found = [-1] * len(problem)
    filling = _Greedy(problem)
    part = 0
    for root in range(len(problem)):
        stack = [root]
        while stack:
            task = stack.pop()
            if found[task] >= 0:
                continue
            if not filling.takes(task):
                filling.empty()
                filling.takes(task)
                part += 1
            found[task] = part
            stack.extend(reader for reader in reversed(problem.after[task]) if found[reader] < 0)
    return found


class _Greedy(Filling):
    """A part that tasks are put into in any order: what is handed over is taken as if every edge left the part."""

    def takes(self, task: int) -> bool:
        kind = self.problem.kinds[task]
        new = kind >= 0 and kind not in self.kinds
        after = list(self.own)
        for index, sizes in enumerate(self.sizes):
            after[index] += sizes[task] + (self.shared[kind][index] if new else 0)
            after[index] += len(self.problem.before[task]) * self.entering[index]
            after[index] += self.leaving[index] if self.problem.after[task] else 0
        if self.own != self.fixed and any(own > limit for own, limit in zip(after, self.limits, strict=True)):
            return False
        self.own = after
        if new:
            self.kinds.add(kind)
        return True


def acyclic(problem: Problem, parts: Sequence[int]) -> bool:
    """Whether the parts can run one after the other, none waiting for itself by way of another."""
    after = between(problem, parts)
    return len(topological(after)) == len(after)
