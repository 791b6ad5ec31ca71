"""How long a run would take with so many worker slots, whole or in parts."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Sequence

from couler_py.passes.split.problem import Problem


def makespan(problem: Problem, slots: int, parts: Sequence[int] | None = None, start: float = 0.0) -> float:
    """The seconds from the first start to the last end.

    A task that can run takes the next free slot, whoever became ready first (list scheduling, Graham 1966). A part
    starts, `start` seconds later, when all parts that it reads have ended; without `parts` the graph is one. Raises
    `ValueError` for parts that wait for each other.
    """
    count = len(problem)
    place = [0] * count if parts is None else parts
    number = max(place, default=-1) + 1
    left = [0] * number
    waiting = [0] * count
    follow: list[dict[int, None]] = [{} for _ in range(number)]
    for task, readers in enumerate(problem.after):
        own = place[task]
        left[own] += 1
        for reader in readers:
            if place[reader] == own:
                waiting[reader] += 1
            else:
                follow[own][place[reader]] = None
    blocked = [0] * number
    for nexts in follow:
        for part in nexts:
            blocked[part] += 1
    first: list[list[int]] = [[] for _ in range(number)]
    for task in range(count):
        if not waiting[task]:
            first[place[task]].append(task)

    # An event is the end of a task (its number), or the start of a part (-1 - its number).
    events = [(start, -1 - part) for part in range(number) if not blocked[part]]
    heapq.heapify(events)
    ready: deque[int] = deque()
    free, now, done = slots, 0.0, 0
    while events or ready:
        while free and ready:
            task = ready.popleft()
            heapq.heappush(events, (now + problem.times[task], task))
            free -= 1
        now, event = heapq.heappop(events)
        if event < 0:
            ready.extend(first[-1 - event])
            continue
        free += 1
        done += 1
        own = place[event]
        for reader in problem.after[event]:
            if place[reader] == own:
                waiting[reader] -= 1
                if not waiting[reader]:
                    ready.append(reader)
        left[own] -= 1
        if not left[own]:
            for part in follow[own]:
                blocked[part] -= 1
                if not blocked[part]:
                    heapq.heappush(events, (now + start, -1 - part))
    if done < count:
        raise ValueError("these parts wait for each other")
    return now
