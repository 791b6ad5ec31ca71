"""A plan of training: which ranks do which layers of how many micro-batches. What all planners emit.

A plan comes with its certificate. `violations` checks both, and knows nothing of how they were found.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

from couler_py.steps.hybrid.timeline import pipeline_step

ALPHA = {1: 1.0, 2: 2.0, 4: 4.0, 8: 8.0}
"""How many times longer a layer takes on a group so many times smaller than the largest, where nothing was measured."""


class Stage(msgspec.Struct, frozen=True):
    """A tensor-parallel group, and the layers that it does: from the first to before the last."""

    ranks: tuple[int, ...]
    layers: tuple[int, int]

    @property
    def count(self) -> int:
        """How many layers."""
        return self.layers[1] - self.layers[0]


class Pipeline(msgspec.Struct, frozen=True):
    """Stages one after the other, which do all layers, and its share of the micro-batches."""

    stages: tuple[Stage, ...]
    micros: int


class Certificate(msgspec.Struct, frozen=True):
    """What a planner claims."""

    step: float
    """The longest pipeline's Σt + (m - 1)·max t, in times of a layer on a healthy largest group."""
    steady: float
    """The longest pipeline's m·max t."""
    bound: float
    """No plan of these groups has a smaller steady part."""


class Plan(msgspec.Struct, frozen=True):
    """A whole plan, as JSON and back."""

    layers: int
    micros: int
    pipelines: tuple[Pipeline, ...]
    suspended: tuple[int, ...] = ()
    """Ranks that do nothing."""
    certificate: Certificate | None = None


class MemoryModel(msgspec.Struct, frozen=True):
    """What layers take on a group of the largest size, in MB: Malleus's table of a model (PKU-DAIR/Hetu).

    `layer` is by the stage's place counted from the pipeline's end, the last one last: under 1F1B the j-th stage of P
    holds the activations of P - j micro-batches. `embedding` is what the first and the last stage have besides, `extra`
    what every stage has, `gap` what stays free of `capacity`.
    """

    layer: tuple[float, ...]
    embedding: float
    extra: float
    capacity: float
    gap: float = 0.0

    def of_layer(self, stage: int, stages: int) -> float:
        """What a layer takes on a stage; pipelines longer than the table go on as its first two entries do."""
        place = len(self.layer) - (stages - stage)
        if place >= 0:
            return self.layer[place]
        slope = self.layer[0] - self.layer[1] if len(self.layer) > 1 else 0.0
        return self.layer[0] - place * slope

    def used(self, stage: int, stages: int, layers: int, shrunk: float) -> float:
        """What a stage takes; `shrunk` says how many times smaller than the largest its group is."""
        ends = self.embedding * (stage in (0, stages - 1))
        return (self.of_layer(stage, stages) * layers + ends) * shrunk + self.extra

    def of_plan(self, plan: Plan, tensor: int) -> list[list[float]]:
        """What each stage of each pipeline takes, where the largest groups have so many ranks."""
        return [
            [
                self.used(at, len(each.stages), stage.count, tensor / len(stage.ranks))
                for at, stage in enumerate(each.stages)
            ]
            for each in plan.pipelines
        ]

    def most(self, stage: int, stages: int, shrunk: float) -> int:
        """How many layers fit a stage."""
        room = (self.capacity - self.gap - self.extra) / shrunk - self.embedding * (stage in (0, stages - 1))
        return max(0, math.floor(room / self.of_layer(stage, stages) + 1e-9))


class Hardware(msgspec.Struct, frozen=True):
    """Ranks, how slow each is (1 is healthy, infinity is dead), and what is known of groups of them."""

    rates: tuple[float, ...]
    node: int = 8
    """Ranks of a machine; tensor parallelism doesn't leave it."""
    tensor: int = 8
    """The size of the largest group."""
    alpha: Mapping[int, float] = {}
    """Time of a layer by how many times smaller than the largest a group is (default: as many times longer)."""

    def rate(self, ranks: Sequence[int]) -> float:
        """The time of a layer on a group of ranks: the slowest sets it."""
        shrunk = self.tensor // len(ranks)
        return (self.alpha.get(shrunk) or ALPHA.get(shrunk, float(shrunk))) * max(self.rates[rank] for rank in ranks)


def stage_times(pipeline: Pipeline, hardware: Hardware) -> list[float]:
    """The time of a micro-batch on each stage."""
    return [hardware.rate(stage.ranks) * stage.count for stage in pipeline.stages]


def certify(plan: Plan, hardware: Hardware) -> Certificate:
    """What holds of a plan: its times by formula, and the bound L·M / Σ 1/y of all groups (work shared as if fluid)."""
    times = [stage_times(each, hardware) for each in plan.pipelines]
    micros = [each.micros for each in plan.pipelines]
    step = max(sum(row) + ((m - 1) * max(row) if m > 1 else 0.0) for row, m in zip(times, micros, strict=True))
    steady = max(m * max(row) for row, m in zip(times, micros, strict=True))
    speed = math.fsum(1 / hardware.rate(stage.ranks) for each in plan.pipelines for stage in each.stages)
    return Certificate(step, steady, plan.layers * plan.micros / speed)


def simulated(plan: Plan, hardware: Hardware, backward: float = 2.0) -> float:
    """The step that an event simulation of 1F1B gives, without communication."""
    return max(pipeline_step(stage_times(each, hardware), each.micros, backward) for each in plan.pipelines)


def violations(plan: Plan, hardware: Hardware, memory: MemoryModel | None = None) -> list[str]:
    """What is wrong with a plan, one line each; none where training may begin."""
    broken: list[str] = []
    used = Counter(rank for each in plan.pipelines for stage in each.stages for rank in stage.ranks)
    used.update(plan.suspended)
    for rank, count in sorted(used.items()):
        if count > 1:
            broken.append(f"rank {rank} is used {count} times")
        if not 0 <= rank < len(hardware.rates):
            broken.append(f"rank {rank} is none of the {len(hardware.rates)}")
    broken += [f"rank {rank} is neither used nor suspended" for rank in range(len(hardware.rates)) if rank not in used]
    if not plan.pipelines:
        broken.append("there is no pipeline")
    for number, pipeline in enumerate(plan.pipelines):
        broken += [f"pipeline {number}: {each}" for each in _broken(pipeline, plan.layers, hardware, memory)]
    total = sum(each.micros for each in plan.pipelines)
    if total != plan.micros:
        broken.append(f"pipelines do {total} micro-batches, not {plan.micros}")
    if not broken and plan.certificate is not None:
        true = certify(plan, hardware)
        for name in ("step", "steady", "bound"):
            claimed, holds = getattr(plan.certificate, name), getattr(true, name)
            if not math.isclose(claimed, holds, rel_tol=1e-9):
                broken.append(f"its certificate says that {name} is {claimed:g}: it is {holds:g}")
    return broken


def _broken(pipeline: Pipeline, layers: int, hardware: Hardware, memory: MemoryModel | None) -> list[str]:
    broken: list[str] = []
    if pipeline.micros < 1:
        broken.append(f"{pipeline.micros} micro-batches")
    at = 0
    for place, stage in enumerate(pipeline.stages):
        if stage.layers[0] != at or stage.count < 1:
            broken.append(f"stage {place} does layers {stage.layers[0]} to {stage.layers[1]}: layer {at} comes next")
        at = stage.layers[1]
        size = len(stage.ranks)
        known = [rank for rank in stage.ranks if 0 <= rank < len(hardware.rates)]
        if size < 1 or size & (size - 1) or size > hardware.tensor:
            broken.append(f"stage {place} has {size} ranks: a group has a power of two, at most {hardware.tensor}")
            continue
        if len({rank // hardware.node for rank in stage.ranks}) > 1:
            broken.append(f"stage {place} has ranks of several machines: {', '.join(map(str, stage.ranks))}")
        broken += [f"rank {rank} of stage {place} is dead" for rank in known if math.isinf(hardware.rates[rank])]
        if memory is not None:
            taken = memory.used(place, len(pipeline.stages), stage.count, hardware.tensor / size)
            room = memory.capacity - memory.gap
            if taken > room * (1 + 1e-9):
                broken.append(f"stage {place} takes {taken:,.0f} MB of {room:,.0f}")
    if at != layers:
        broken.append(f"its stages do {at} layers, not {layers}")
    return broken
