"""From one plan to another through live memory: who keeps what, who sends what to whom, and what must be read.

The transfers are those of `checkpoint.surviving`, after Hetu's batched send and receive (Malleus, SIGMOD 2025).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from couler_py.steps.checkpoint.boxes import Box
from couler_py.steps.checkpoint.planning import Held
from couler_py.steps.checkpoint.surviving import Rescue, rescue
from couler_py.steps.hybrid.plan import Plan


def plan_migration(old: Plan, new: Plan, sizes: Sequence[int], *, node: int = 8, lost: Collection[int] = ()) -> Rescue:
    """How every rank of the new plan gets its parts of layers, where those of the old one that aren't lost have theirs.

    `sizes` are the bytes of each layer; each rank of a group has an equal part of its layers, in the group's order.
    `node` is how many ranks a machine has. Raises `ValueError` where the plans aren't for so many layers.
    """
    if not old.layers == new.layers == len(sizes):
        raise ValueError(f"plans of {old.layers} and {new.layers} layers, and sizes of {len(sizes)}")
    held = {rank: parts for rank, parts in _parts(old, sizes).items() if rank not in lost}
    needed = _parts(new, sizes)
    return rescue(held, needed, {rank: str(rank // node) for rank in {*held, *needed}})


def _parts(plan: Plan, sizes: Sequence[int]) -> dict[int, dict[str, Held]]:
    """What each rank has of which layer."""
    found: dict[int, dict[str, Held]] = {}
    for pipeline in plan.pipelines:
        for stage in pipeline.stages:
            count = len(stage.ranks)
            for place, rank in enumerate(stage.ranks):
                found[rank] = {
                    f"layer {layer}": Held("U8", (sizes[layer],), (_share(sizes[layer], place, count),))
                    for layer in range(*stage.layers)
                }
    return found


def _share(size: int, place: int, count: int) -> Box:
    start, end = place * size // count, (place + 1) * size // count
    return Box((start,), (end - start,))
