"""How many rows of each length a replica does in a step, so that the last one ends soonest (LobRA, its dispatch).

An integer program, solved by HiGHS within a number of branches; where there are too many variables or none is found,
the longest rows first to who then ends soonest. Needs SciPy for the program.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import msgspec

from couler_py.passes.solver import Program, UnsolvableError
from couler_py.steps.lora.planning.costs import Config, Costs

NODES = 2000
"""Branches that HiGHS may make: alike on every machine, where a time isn't."""
GAP = 1e-6
"""How near to the best is near enough, relative."""
LARGE = 400
"""Replicas times lengths above which the program isn't tried."""

Counts = Mapping[int, int]
"""Rows by length."""


class Dispatch(msgspec.Struct, frozen=True):
    """Rows of each length for each replica, and how long the step takes."""

    counts: tuple[dict[int, int], ...]
    time: float
    bound: float = 0.0
    """No dispatch ends sooner; 0 where nobody knows."""

    def times(self, replicas: Sequence[Config], costs: Costs) -> list[float]:
        """When each replica ends."""
        return [costs.replica(config, own) for config, own in zip(replicas, self.counts, strict=True)]


def balanced(
    replicas: Sequence[Config], rows: Counts, costs: Costs, *, nodes: int = NODES, gap: float = GAP
) -> Dispatch:
    """The dispatch whose last replica ends soonest, as far as it is found. A replica may have nothing to do.

    Raises `ValueError` for a length that no replica holds, or a count below 0.
    """
    _check(replicas, rows)
    best = min((by_length(replicas, rows, costs), greedy(replicas, rows, costs)), key=lambda each: each.time)
    if len(replicas) * len(rows) > LARGE:
        return best
    try:
        found = _solved(replicas, rows, costs, nodes, gap)
    except UnsolvableError:
        return best
    return found if found.time <= best.time else msgspec.structs.replace(best, bound=found.bound)


def by_length(replicas: Sequence[Config], rows: Counts, costs: Costs) -> Dispatch:
    """Each length wholly to the replicas of the smallest memory that holds it, in equal shares: what LobRA improves."""
    _check(replicas, rows)
    counts: list[dict[int, int]] = [{} for _ in replicas]
    for length, count in sorted(rows.items()):
        room = min(config.tokens for config in replicas if config.rows(length))
        able = [number for number, config in enumerate(replicas) if config.tokens == room]
        for turn, number in enumerate(able):
            share = count // len(able) + (turn < count % len(able))
            if share:
                counts[number][length] = share
    return _made(counts, replicas, costs)


def greedy(replicas: Sequence[Config], rows: Counts, costs: Costs) -> Dispatch:
    """The longest rows first, each to the replica that then ends soonest."""
    _check(replicas, rows)
    counts: list[dict[int, int]] = [{} for _ in replicas]
    for length in sorted(rows, reverse=True):
        for _ in range(rows[length]):
            ends = [
                costs.replica(config, {**own, length: own.get(length, 0) + 1})
                for config, own in zip(replicas, counts, strict=True)
            ]
            to = ends.index(min(ends))
            counts[to][length] = counts[to].get(length, 0) + 1
    return _made(counts, replicas, costs)


def _check(replicas: Sequence[Config], rows: Counts) -> None:
    longest = max((config.tokens for config in replicas), default=0)
    for length, count in rows.items():
        if count < 0 or length < 1:
            raise ValueError(f"{count} rows of {length} tokens: lengths are at least 1, counts at least 0")
        if count and length > longest:
            raise ValueError(f"a row of {length} tokens: no replica holds more than {longest}")


def _made(counts: Sequence[dict[int, int]], replicas: Sequence[Config], costs: Costs, bound: float = 0.0) -> Dispatch:
    own = tuple({length: count for length, count in sorted(each.items()) if count} for each in counts)
    time = max((costs.replica(config, each) for config, each in zip(replicas, own, strict=True)), default=0.0)
    return Dispatch(own, time, bound)


def _solved(replicas: Sequence[Config], rows: Counts, costs: Costs, nodes: int, gap: float) -> Dispatch:
    """LobRA's program: full micro-batches m, rows left r, whether there are any (f) and any full ones (h)."""
    program = Program()
    end = program.variable(cost=1.0)
    given: dict[tuple[int, int], tuple[int, int, int]] = {}  # m, r, and rows of a full micro-batch
    for number, config in enumerate(replicas):
        deep = config.stages - 1
        fill = program.variable()
        spent: dict[int, float] = {end: -1.0, fill: float(deep)}
        for length, count in rows.items():
            most = config.rows(length)
            if not most or not count:
                continue
            per_row, once = (part * costs.layers / config.stages for part in costs.taus[config.tensor].parts(length))
            full = costs.micro(config, most, length)
            m = program.variable(high=count // most, integer=True)
            r = program.variable(high=min(most - 1, count), integer=True)
            f = program.variable(high=1, integer=True)
            spent |= {m: full, r: per_row, f: once}
            program.at_most({r: 1, f: -float(most - 1)}, 0)
            if deep:
                h = program.variable(high=1, integer=True)
                program.at_most({m: 1, h: -float(count // most)}, 0)
                program.at_least({fill: 1, h: -full}, 0)
                program.at_least({fill: 1, r: -per_row, f: -once}, 0)
            given[number, length] = (m, r, most)
        program.at_most(spent, 0)
    for length, count in rows.items():
        terms: dict[int, float] = {}
        for (_, own), (m, r, most) in given.items():
            if own == length:
                terms |= {m: float(most), r: 1.0}
        if count:
            program.equal(terms, count)
    found = program.solve(nodes=nodes, gap=gap)
    counts: list[dict[int, int]] = [{} for _ in replicas]
    for (number, length), (m, r, most) in given.items():
        counts[number][length] = found.whole(m) * most + found.whole(r)
    return _made(counts, replicas, costs, max(0.0, found.bound) if math.isfinite(found.bound) else 0.0)


class Micro(msgspec.Struct, frozen=True):
    """A micro-batch: rows of one length, as (task, number of its row of that length)."""

    length: int
    rows: tuple[tuple[int, int], ...]


def micro_batches(
    dispatch: Dispatch, replicas: Sequence[Config], tasks: Sequence[Counts]
) -> tuple[tuple[Micro, ...], ...]:
    """What each replica runs, most tokens first. `tasks` says how many rows of each length each task has.

    Tasks fill the replicas in their order. Of a length, each task's full micro-batches come first, and what is left of
    all tasks shares others; rows of a task lie together. Raises `ValueError` where tasks and dispatch differ.
    """
    lengths = sorted({length for own in (*dispatch.counts, *tasks) for length in own})
    made: list[list[Micro]] = [[] for _ in replicas]
    for length in lengths:
        waiting = [(task, number) for task, own in enumerate(tasks) for number in range(own.get(length, 0))]
        wanted = sum(own.get(length, 0) for own in dispatch.counts)
        if wanted != len(waiting):
            raise ValueError(f"tasks have {len(waiting)} rows of {length} tokens, the dispatch {wanted}")
        for number, config in enumerate(replicas):
            taken = dispatch.counts[number].get(length, 0)
            mine, waiting = waiting[:taken], waiting[taken:]
            if mine:
                made[number] += [Micro(length, rows) for rows in _cut(mine, config.rows(length))]
    return tuple(
        tuple(sorted(own, key=lambda micro: (-micro.length * len(micro.rows), -micro.length, micro.rows)))
        for own in made
    )


def _cut(rows: Sequence[tuple[int, int]], most: int) -> list[tuple[tuple[int, int], ...]]:
    found: list[tuple[tuple[int, int], ...]] = []
    left: list[tuple[int, int]] = []
    for task in dict.fromkeys(task for task, _ in rows):
        own = [row for row in rows if row[0] == task]
        whole = len(own) // most * most
        found += [tuple(own[at : at + most]) for at in range(0, whole, most)]
        left += own[whole:]
    return found + [tuple(left[at : at + most]) for at in range(0, len(left), most)]
