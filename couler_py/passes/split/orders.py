"""Topological orders of a graph. A part is an interval of one, so parts never wait for each other in a circle."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from couler_py.passes.split.problem import Problem


def topological(after: Sequence[Iterable[int]]) -> list[int]:
    """Each number behind those whose readers it is among, the earliest ready first.

    Those that wait for each other, and what waits for them, are missing.
    """
    waiting = _waiting(after)
    found = [number for number, count in enumerate(waiting) if not count]
    for number in found:
        for reader in after[number]:
            waiting[reader] -= 1
            if not waiting[reader]:
                found.append(reader)
    return found


def _waiting(after: Sequence[Iterable[int]]) -> list[int]:
    """For how many each waits."""
    found = [0] * len(after)
    for readers in after:
        for reader in readers:
            found[reader] += 1
    return found


def levels(after: Sequence[Iterable[int]]) -> list[int]:
    """The length of the longest path to each, by the readers of each. Raises `ValueError` for a circle."""
    order = topological(after)
    if len(order) < len(after):
        raise ValueError("these tasks wait for each other")
    found = [0] * len(after)
    for task in order:
        depth = found[task] + 1
        for reader in after[task]:
            if found[reader] < depth:
                found[reader] = depth
    return found


def between(problem: Problem, parts: Sequence[int]) -> list[dict[int, None]]:
    """The parts that read from each part, in the order in which their tasks are met."""
    after: list[dict[int, None]] = [{} for _ in range(max(parts, default=-1) + 1)]
    for task, readers in enumerate(problem.after):
        own = parts[task]
        after[own].update((parts[reader], None) for reader in readers if parts[reader] != own)
    return after


def by_level(problem: Problem) -> list[int]:
    """Level after level, each in program order."""
    depth = levels(problem.after)
    return sorted(range(len(problem)), key=depth.__getitem__)


def depth_first(problem: Problem) -> list[int]:
    """As deep as it goes, then the task that became ready last: chains and what joins them stay together."""
    return _deep(problem.after)


def _deep(after: Sequence[Iterable[int]]) -> list[int]:
    waiting = _waiting(after)
    found: list[int] = []
    stack = [task for task in reversed(range(len(after))) if not waiting[task]]
    while stack:
        task = stack.pop()
        found.append(task)
        ready = []
        for reader in after[task]:
            waiting[reader] -= 1
            if not waiting[reader]:
                ready.append(reader)
        stack.extend(reversed(ready))
    return found


def towards_results(problem: Problem) -> list[int]:
    """Everything that one result needs, then what the next one needs besides: trees that join stay together."""
    found: list[int] = []
    seen = [False] * len(problem)
    for result in range(len(problem)):
        if problem.after[result] or seen[result]:
            continue
        seen[result] = True
        stack = [(result, 0)]
        while stack:
            task, place = stack.pop()
            producers = problem.before[task]
            while place < len(producers) and seen[producers[place]]:
                place += 1
            if place == len(producers):
                found.append(task)
                continue
            stack.append((task, place + 1))
            seen[producers[place]] = True
            stack.append((producers[place], 0))
    return found


def by_component(problem: Problem) -> tuple[list[int], list[int]]:
    """The connected components one after the other, level by level in each; and the component of each task."""
    component = [-1] * len(problem)
    count = 0
    for first in range(len(problem)):
        if component[first] >= 0:
            continue
        component[first] = count
        stack = [first]
        while stack:
            task = stack.pop()
            for near in (*problem.before[task], *problem.after[task]):
                if component[near] < 0:
                    component[near] = count
                    stack.append(near)
        count += 1
    depth = levels(problem.after)
    return sorted(range(len(problem)), key=lambda task: (component[task], depth[task])), component


def by_cluster(problem: Problem, clusters: Sequence[int]) -> list[int]:
    """Cluster after cluster, of which none waits for itself by way of another, each depth-first.

    `clusters` gives the number of the cluster of each task.
    """
    after = between(problem, clusters)
    members: list[list[int]] = [[] for _ in after]
    for task in depth_first(problem):
        members[clusters[task]].append(task)
    order = _deep(after)
    if len(order) < len(after):
        raise ValueError("these clusters wait for each other")
    return [task for cluster in order for task in members[cluster]]
