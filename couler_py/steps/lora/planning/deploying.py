"""Which replicas train many adapters: few wide ones for long rows, many small ones for short ones (LobRA, deployment).

Plans are all ways to spend the ranks on kinds of replicas that are worth it. Of those that look good by length, each is
solved whose linear bound is below the best so far.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import msgspec

from couler_py.passes.solver import Program
from couler_py.steps.lora.planning.costs import Config, Costs
from couler_py.steps.lora.planning.dispatching import GAP, Counts, Dispatch, balanced, by_length

NEAR = 1.15
"""Plans that look at most so many times as long as the best are considered (LobRA)."""
LEAST = 8
"""So many are considered in any case."""


class Deployment(msgspec.Struct, frozen=True):
    """Replicas, widest first, and the dispatch of a step with the lengths that they are meant for."""

    replicas: tuple[Config, ...]
    dispatch: Dispatch
    homogeneous: Deployment | None = None
    """The best one of a single kind, for comparison."""

    def gpu_seconds(self) -> float:
        """The step's time on all ranks."""
        return self.dispatch.time * sum(config.ranks for config in self.replicas)

    def __str__(self) -> str:
        kinds = dict.fromkeys(self.replicas)
        return " + ".join(f"{self.replicas.count(kind)}×{kind}" for kind in kinds)


def deploy(
    configs: Sequence[Config], ranks: int, rows: Counts, costs: Costs, *, nodes: int = 200, gap: float = GAP
) -> Deployment:
    """The replicas for so many ranks whose step, with so many rows of each length, ends soonest.

    All ranks are used where kinds of replicas allow it, else as many as they do. Never worse than the best homogeneous
    plan, which comes with it. Each plan's dispatch is solved within so many branches, and to within `gap` of its best
    (LobRA: 0.005). Raises `ValueError` for no rows, or where no plan holds the longest.
    """
    longest = max((length for length, count in rows.items() if count), default=0)
    if not longest:
        raise ValueError("there are no rows to plan for")
    able = [config for config in configs if config.tokens >= longest and config.ranks <= ranks]
    if not able:
        raise ValueError(f"no replica of at most {ranks} ranks holds a row of {longest} tokens")
    same = min(
        (_planned((config,) * (ranks // config.ranks), rows, costs, nodes, gap) for config in sorted(able)),
        key=lambda each: (each.gpu_seconds(), each.replicas),
    )
    kinds = proposed([config for config in configs if config.ranks <= ranks], costs, keep=able)
    plans = [plan for plan in _spent(kinds, ranks) if max(config.tokens for config in plan) >= longest]
    scored = sorted(((_score(plan, rows, costs), plan) for plan in plans), key=lambda each: (each[0], each[1]))
    near = [plan for number, (score, plan) in enumerate(scored) if number < LEAST or score <= NEAR * scored[0][0]]
    found = same
    for bound, plan in sorted((least(plan, rows, costs), plan) for plan in near):
        if bound >= found.dispatch.time:
            break  # nor does any that follows end sooner
        tried = _planned(plan, rows, costs, nodes, gap)
        if tried.dispatch.time < found.dispatch.time:
            found = tried
    return msgspec.structs.replace(found, homogeneous=same)


def least(plan: Sequence[Config], rows: Counts, costs: Costs) -> float:
    """No dispatch over these replicas ends sooner: rows may be parted, and each is in a full micro-batch.

    A linear program over kinds of replicas, in place of LobRA's integer one. Raises `UnsolvableError` where a row fits
    none.
    """
    program = Program()
    end = program.variable(cost=1.0)
    placed: dict[int, dict[int, float]] = {length: {} for length, count in rows.items() if count}
    for config in dict.fromkeys(plan):
        spent = {end: -float(plan.count(config))}
        for length, given in placed.items():
            if most := config.rows(length):
                number = program.variable()
                given[number] = 1.0
                spent[number] = costs.micro(config, most, length) / most
        program.at_most(spent, 0)
    for length, given in placed.items():
        program.equal(given, rows[length])
    return program.solve().bound


def proposed(configs: Sequence[Config], costs: Costs, keep: Sequence[Config] = ()) -> list[Config]:
    """The kinds worth having: for each memory the fastest a rank, and the best of each smaller number of ranks."""
    found: dict[Config, None] = {}
    for tokens in sorted({config.tokens for config in configs}):
        own = [config for config in configs if config.tokens == tokens]
        best = max(own, key=lambda each: (costs.throughput(each), -each.ranks))
        found[best] = None
        for count in sorted({each.ranks for each in own if each.ranks < best.ranks}):
            found[max((each for each in own if each.ranks == count), key=costs.throughput)] = None
    if keep and not any(config in found for config in keep):
        found[min(keep)] = None
    return sorted(found, key=lambda each: (-each.ranks, each))


def _spent(kinds: Sequence[Config], ranks: int) -> Iterator[tuple[Config, ...]]:
    """All multisets that use all ranks; where there is none, those that use as many as any does."""
    reachable = [True] + [False] * ranks
    for total in range(1, ranks + 1):
        reachable[total] = any(kind.ranks <= total and reachable[total - kind.ranks] for kind in kinds)
    total = max(number for number, able in enumerate(reachable) if able)

    def ways(first: int, left: int) -> Iterator[tuple[Config, ...]]:
        if left == 0:
            yield ()
            return
        for number in range(first, len(kinds)):
            if kinds[number].ranks <= left:
                for rest in ways(number, left - kinds[number].ranks):
                    yield (kinds[number], *rest)

    yield from ways(0, total)


def _score(plan: Sequence[Config], rows: Counts, costs: Costs) -> float:
    """The mean time of a rank where each length goes to the smallest memory that holds it: a guess, no bound."""
    found = by_length(plan, rows, costs)
    ranks = sum(config.ranks for config in plan)
    return math.fsum(time * config.ranks for time, config in zip(found.times(plan, costs), plan, strict=True)) / ranks


def _planned(plan: tuple[Config, ...], rows: Counts, costs: Costs, nodes: int, gap: float) -> Deployment:
    return Deployment(plan, balanced(plan, rows, costs, nodes=nodes, gap=gap))
