"""Which of several equal groups takes which stage of a plan: the one that has most of its layers already.

Groups of one size and one rate are the same to a planner, not to the network: whoever keeps its layers needs no bytes
(Malleus, SIGMOD 2025, its step B, "the largest overlap with the old layer range").
"""

from __future__ import annotations

from collections import defaultdict

import msgspec

from couler_py.steps.hybrid.plan import Hardware, Pipeline, Plan, Stage, certify

Place = tuple[int, int]
"""A stage: the number of its pipeline, and its own there."""


def placed(plan: Plan, old: Plan, hardware: Hardware) -> Plan:
    """The plan with its equal groups dealt out so that little of the old plan moves; nothing else changes.

    Stage and group that share most go together first, then the next: at least half of what could stay stays.
    """
    had = {rank: stage.layers for each in old.pipelines for stage in each.stages for rank in stage.ranks}
    wanted: defaultdict[tuple[float, int], list[Place]] = defaultdict(list)
    groups: defaultdict[tuple[float, int], list[tuple[int, ...]]] = defaultdict(list)
    for number, pipeline in enumerate(plan.pipelines):
        for at, stage in enumerate(pipeline.stages):
            kind = (hardware.rate(stage.ranks), len(stage.ranks))
            wanted[kind].append((number, at))
            groups[kind].append(stage.ranks)
    taken: dict[Place, tuple[int, ...]] = {}
    for kind, places in wanted.items():
        taken.update(_dealt(plan, places, groups[kind], had))
    pipelines = tuple(
        Pipeline(
            tuple(Stage(taken[number, at], stage.layers) for at, stage in enumerate(pipeline.stages)), pipeline.micros
        )
        for number, pipeline in enumerate(plan.pipelines)
    )
    made = msgspec.structs.replace(plan, pipelines=pipelines)
    return msgspec.structs.replace(made, certificate=certify(made, hardware))


def _dealt(
    plan: Plan, places: list[Place], groups: list[tuple[int, ...]], had: dict[int, tuple[int, int]]
) -> dict[Place, tuple[int, ...]]:
    layers: defaultdict[int, list[Place]] = defaultdict(list)  # who wants a layer
    for number, at in places:
        for layer in range(*plan.pipelines[number].stages[at].layers):
            layers[layer].append((number, at))
    shared: defaultdict[tuple[Place, tuple[int, ...]], int] = defaultdict(int)
    for ranks in groups:
        for rank in ranks:
            for layer in range(*had.get(rank, (0, 0))):
                for place in layers.get(layer, ()):
                    shared[place, ranks] += 1
    found: dict[Place, tuple[int, ...]] = {}
    left = set(groups)
    for (place, ranks), _ in sorted(shared.items(), key=lambda each: (-each[1], each[0])):
        if place not in found and ranks in left:
            found[place] = ranks
            left.discard(ranks)
    rest = sorted(left)
    for place in places:
        if place not in found:
            found[place] = rest.pop(0)
    return found
