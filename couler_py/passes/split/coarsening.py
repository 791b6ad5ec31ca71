"""Clusters of tasks that belong together, found by contracting the graph again and again.

The first half of multilevel partitioning (Hendrickson and Leland 1995; for graphs without cycles Herrmann et al. 2017,
"Acyclic partitioning of large directed acyclic graphs"). Two kinds of contraction keep a graph free of cycles without
having to look for them:

- an edge whose producer has no other reader, or whose reader has no other producer: a second way between the two would
  begin or end at that other;
- tasks of one level: every edge leads to a higher level, so it still does.
"""

from __future__ import annotations

from collections.abc import Sequence

from couler_py.passes.split.orders import levels
from couler_py.passes.split.problem import Problem

ROUNDS = 40
SHRUNK = 0.9
"""A round that leaves more than this share of the clusters ends the contraction."""


def clusters(problem: Problem, heaviest: int) -> list[int]:
    """The cluster of each task: as few as there are, none of more than `heaviest` tasks."""
    found = list(range(len(problem)))
    after = [dict.fromkeys(each, problem.carried[task]) for task, each in enumerate(problem.after)]
    weight = [1] * len(problem)
    siblings = False
    kept = 0
    for _ in range(ROUNDS):
        before = _turned(after)
        into = _of_siblings(after, before, weight, heaviest) if siblings else _of_edges(after, before, weight, heaviest)
        numbers = {old: number for number, old in enumerate(sorted(set(into)))}
        mapped = [numbers[each] for each in into]
        left = len(numbers)
        kept = kept + 1 if left > SHRUNK * len(after) else 0
        found = [mapped[each] for each in found]
        after, weight = _contracted(after, weight, mapped, left)
        siblings = not siblings
        if kept == 2 or left <= 1:
            break
    return found


def _turned(after: Sequence[dict[int, int]]) -> list[dict[int, int]]:
    before: list[dict[int, int]] = [{} for _ in after]
    for task, readers in enumerate(after):
        for reader, carried in readers.items():
            before[reader][task] = carried
    return before


def _of_edges(
    after: Sequence[dict[int, int]], before: Sequence[dict[int, int]], weight: Sequence[int], heaviest: int
) -> list[int]:
    """Contract edges that are the only one of an end, the rest of a star or chain with it."""
    into = list(range(len(after)))
    size = list(weight)

    def root(task: int) -> int:
        while into[task] != task:
            into[task] = into[into[task]]
            task = into[task]
        return task

    for task in range(len(after)):
        # One rule at a time for each end keeps the contractions of a round independent of each other.
        if len(before[task]) == 1:
            other = next(iter(before[task]))
        elif len(after[task]) == 1:
            other = next(iter(after[task]))
        else:
            continue
        one, two = root(task), root(other)
        if one != two and size[one] + size[two] <= heaviest:
            into[one] = two
            size[two] += size[one]
    return [root(task) for task in range(len(after))]


def _of_siblings(
    after: Sequence[dict[int, int]], before: Sequence[dict[int, int]], weight: Sequence[int], heaviest: int
) -> list[int]:
    """Join pairs of one level that share a producer or reader, the heaviest edges first."""
    depth = levels(after)
    into = list(range(len(after)))
    taken = [False] * len(after)
    for near in (after, before):
        for task in range(len(near)):
            waiting: dict[int, int] = {}
            for other in near[task]:
                if taken[other]:
                    continue
                mate = waiting.pop(depth[other], None)
                if mate is None:
                    waiting[depth[other]] = other
                elif weight[mate] + weight[other] <= heaviest:
                    into[other] = mate
                    taken[other] = taken[mate] = True
                else:
                    waiting[depth[other]] = min(mate, other, key=weight.__getitem__)
    return into


def _contracted(
    after: Sequence[dict[int, int]], weight: Sequence[int], into: Sequence[int], count: int
) -> tuple[list[dict[int, int]], list[int]]:
    found: list[dict[int, int]] = [{} for _ in range(count)]
    weights = [0] * count
    for task, readers in enumerate(after):
        own = into[task]
        weights[own] += weight[task]
        edges = found[own]
        for reader, carried in readers.items():
            other = into[reader]
            if other != own:
                edges[other] = edges.get(other, 0) + carried
    return found, weights
