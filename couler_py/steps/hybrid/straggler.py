"""Plan around slow ranks: which make groups, which groups make pipelines, who does how much (Malleus, SIGMOD 2025).

The lower level (layers, micro-batches) is exact; which group goes to which pipeline is searched from several starts by
moving and swapping groups, as the published code does by pruned enumeration. The tests hold it against all ways.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import msgspec

from couler_py.steps.hybrid.grouping import groupings
from couler_py.steps.hybrid.plan import Hardware, MemoryModel, Pipeline, Plan, Stage, certify, violations
from couler_py.steps.hybrid.rows import Group, changed, kinds, kinds_of_rows, ordered, starts
from couler_py.steps.hybrid.splitting import InfeasibleError, share_layers, share_micros

SLOW = 1.2
"""Ranks less slow than this count as healthy (Hetu, `straggler_threshold`)."""


def plan_straggler(
    hardware: Hardware,
    layers: int,
    micros: int,
    pipelines: int,
    *,
    memory: MemoryModel | None = None,
    current: Plan | None = None,
    rounds: int = 200,
) -> Plan:
    """The plan with the shortest step that is found, for so many pipelines, with its certificate.

    Where no rank is slow, `current` stays, where there is one. It is a candidate in any case, so that a plan is never
    worse than it; one that memory doesn't hold counts for nothing. Each pipeline does at least one micro-batch. Malleus
    asks for as many as it has stages, as its objective leaves out filling and emptying; here these count, and a
    pipeline of few micro-batches is taken only where it ends in time all the same. `rounds` bounds the search of each
    start; the same arguments give the same plan.
    Raises `InfeasibleError` where there are fewer groups than pipelines, or memory holds no plan.
    """
    felt = msgspec.structs.replace(hardware, rates=tuple(1.0 if rate < SLOW else rate for rate in hardware.rates))
    kept = _kept(current, felt, memory)
    if kept is not None and all(rate == 1.0 for rate in felt.rates):
        return kept
    search = _Search(felt, layers, micros, memory)
    best: tuple[float, list[list[Group]]] | None = None
    for groups in _group_sets(felt):
        if len(groups) < pipelines:
            continue
        for start in starts(groups, pipelines):
            found = search.improved(start, rounds)
            if found is not None and (best is None or found[0] < best[0] * (1 - 1e-12)):
                best = found
    plan = search.plan(best[1]) if best is not None else None
    if kept is not None and (plan is None or certify(kept, felt).step <= certify(plan, felt).step):
        plan = kept
    if plan is None:
        raise InfeasibleError(
            f"no plan of {pipelines} pipelines holds {layers} layers on {sum(map(math.isfinite, felt.rates))} live "
            "ranks: fewer pipelines, or more memory"
        )
    return plan


def _kept(current: Plan | None, felt: Hardware, memory: MemoryModel | None) -> Plan | None:
    """The plan that there is, certified anew, where training may go on under it: all its ranks live, and it fits."""
    if current is None:
        return None
    certificate = certify(current, felt)
    plan = msgspec.structs.replace(current, certificate=certificate)
    if certificate.step == math.inf or (memory is not None and violations(plan, felt, memory)):
        return None
    return plan


def uniform(hardware: Hardware, layers: int, micros: int, pipelines: int) -> Plan:
    """The plan that asks nobody's rate: whole groups in the order of ranks, the same for all.

    Raises `ValueError` where ranks, layers or micro-batches can't be shared evenly.
    """
    groups = [tuple(range(at, at + hardware.tensor)) for at in range(0, len(hardware.rates), hardware.tensor)]
    depth, odd = divmod(len(groups), pipelines)
    if odd or layers % depth or micros % pipelines:
        raise ValueError(
            f"{len(groups)} groups, {layers} layers and {micros} micro-batches aren't shared evenly by {pipelines} "
            "pipelines"
        )
    each = layers // depth
    rows = [groups[number * depth : (number + 1) * depth] for number in range(pipelines)]
    made = tuple(
        Pipeline(tuple(Stage(ranks, (at * each, (at + 1) * each)) for at, ranks in enumerate(row)), micros // pipelines)
        for row in rows
    )
    plan = Plan(layers, micros, made)
    return msgspec.structs.replace(plan, certificate=certify(plan, hardware))


def _group_sets(hardware: Hardware) -> list[list[Group]]:
    """Sets of groups to try: on every machine the best way, the second best, and so on."""
    machines = [
        groupings(range(at, min(at + hardware.node, len(hardware.rates))), hardware)
        for at in range(0, len(hardware.rates), hardware.node)
    ]
    sets: dict[tuple[tuple[int, ...], ...], list[Group]] = {}
    for choice in range(max(map(len, machines), default=0)):
        chosen = [ranks for ways in machines if ways for ranks in ways[min(choice, len(ways) - 1)]]
        sets.setdefault(tuple(chosen), [(hardware.rate(ranks), len(ranks), ranks) for ranks in chosen])
    return list(sets.values())


class _Search:
    """Pipelines as rows of groups, what they take, and better ones."""

    def __init__(self, hardware: Hardware, layers: int, micros: int, memory: MemoryModel | None):
        self._hardware, self._layers, self._micros, self._memory = hardware, layers, micros, memory
        self._known: dict[tuple[tuple[float, int], ...], tuple[list[int], float, float] | None] = {}

    def improved(self, rows: list[list[Group]], rounds: int) -> tuple[float, list[list[Group]]] | None:
        """Move and swap groups as long as the step gets shorter."""
        best, step = rows, self._step(rows)
        for _ in range(rounds):
            found = min(
                ((self._step(other), number, other) for number, other in enumerate(self._others(best))),
                default=(math.inf, 0, best),
            )
            if found[0] >= step * (1 - 1e-12):
                break
            step, _, best = found
        return (step, best) if math.isfinite(step) else None

    def plan(self, rows: list[list[Group]]) -> Plan:
        """The plan of some rows; groups that get no layer are suspended."""
        shares = self._shares(rows)
        assert shares is not None
        pipelines = []
        for row, micros in zip(rows, shares, strict=True):
            stages, at = [], 0
            groups = ordered(row)
            split = self._split(groups)
            assert split is not None
            for (_, _, ranks), count in zip(groups, split[0], strict=True):
                if count:
                    stages.append(Stage(ranks, (at, at + count)))
                    at += count
            pipelines.append(Pipeline(tuple(stages), micros))
        used = {rank for each in pipelines for stage in each.stages for rank in stage.ranks}
        idle = tuple(rank for rank in range(len(self._hardware.rates)) if rank not in used)
        plan = Plan(self._layers, self._micros, tuple(pipelines), idle)
        return msgspec.structs.replace(plan, certificate=certify(plan, self._hardware))

    def _others(self, rows: list[list[Group]]) -> Iterator[list[list[Group]]]:
        """Rows with one group moved from the row that ends last, or to it, or swapped; one of each kind of group."""
        times = self._ends(rows, self._shares(rows))
        last = max(range(len(rows)), key=lambda number: (times[number], -number))
        for other in kinds_of_rows(rows, last):
            for source, target in ((last, other), (other, last)):
                for group in kinds(rows[source]) if len(rows[source]) > 1 else ():
                    yield changed(rows, source, target, group, None)
            for mine in kinds(rows[last]):
                for theirs in kinds(rows[other]):
                    if mine[:2] != theirs[:2]:
                        yield changed(rows, last, other, mine, theirs)

    def _step(self, rows: list[list[Group]]) -> float:
        shares = self._shares(rows)
        return max(self._ends(rows, shares)) if shares is not None else math.inf

    def _ends(self, rows: list[list[Group]], shares: list[int] | None) -> list[float]:
        """When each row ends; without shares, as memory doesn't hold some row, what one micro-batch takes."""
        found = []
        for number, row in enumerate(rows):
            split = self._split(ordered(row))
            if split is None:
                found.append(math.inf)
            else:
                found.append(split[1] + ((shares[number] if shares else 1) - 1) * split[2])
        return found

    def _shares(self, rows: list[list[Group]]) -> list[int] | None:
        splits = [self._split(ordered(row)) for row in rows]
        known = [split for split in splits if split is not None]
        if len(known) < len(rows):
            return None
        try:
            return share_micros(
                [slow for _, _, slow in known],
                self._micros,
                [1] * len(rows),
                [total - slow for _, total, slow in known],
            )
        except InfeasibleError:
            return None

    def _split(self, row: list[Group]) -> tuple[list[int], float, float] | None:
        """Layers of a row's groups, the sum of its stages' times, and the slowest; None where memory is short."""
        key = tuple((rate, size) for rate, size, _ in row)
        if key not in self._known:
            self._known[key] = self._split_anew(key)
        return self._known[key]

    def _split_anew(self, row: tuple[tuple[float, int], ...]) -> tuple[list[int], float, float] | None:
        memory, largest = self._memory, self._hardware.tensor
        used = list(range(len(row)))
        while used:
            caps = None
            if memory is not None:
                caps = [memory.most(place, len(used), largest / row[at][1]) for place, at in enumerate(used)]
            try:
                counts = share_layers([row[at][0] for at in used], self._layers, caps)
            except InfeasibleError:
                return None
            if all(counts):
                full = [0] * len(row)
                for at, count in zip(used, counts, strict=True):
                    full[at] = count
                times = [row[at][0] * count for at, count in zip(used, counts, strict=True)]
                return full, math.fsum(times), max(times)
            used = [at for at, count in zip(used, counts, strict=True) if count]  # places from the end change
        return None
