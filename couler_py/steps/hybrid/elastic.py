"""Go on with the ranks that are left, not only with the machines that are whole (Elastor, PPoPP 2026).

What is left of a machine makes smaller groups, so that groups of several sizes train together. Who is lost has the
rate infinity; the search is that of `straggler.py`, and a plan that drops every hurt machine is one of its candidates.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

import msgspec

from couler_py.steps.checkpoint.boxes import Box
from couler_py.steps.checkpoint.surviving import Rescue
from couler_py.steps.hybrid.migration import plan_migration
from couler_py.steps.hybrid.placing import placed
from couler_py.steps.hybrid.plan import Hardware, MemoryModel, Plan, certify
from couler_py.steps.hybrid.splitting import InfeasibleError
from couler_py.steps.hybrid.straggler import plan_straggler


class Elastic(msgspec.Struct, frozen=True):
    """How training goes on."""

    plan: Plan
    migration: Rescue
    """Who keeps, sends and reads what."""
    slower: float
    """How many times longer a step takes than under the plan before, by formula."""

    @property
    def needs_checkpoint(self) -> dict[str, list[Box]]:
        """Parts of layers that nobody has any more, by layer: bytes of each, to be read from the checkpoint."""
        return self.migration.lost()


def plan_elastic(
    hardware: Hardware,
    old: Plan,
    lost: Collection[int],
    sizes: Sequence[int],
    *,
    memory: MemoryModel | None = None,
    pipelines: int | None = None,
) -> Elastic:
    """The plan for the ranks that are left, and how they get from the old one to it.

    `hardware` are the rates while all ranks lived, `sizes` the bytes of each layer. There are as many `pipelines` as
    before, or as are asked for, where there are groups and memory for them; else there are fewer. The global batch
    stays in any case. The plan is never worse than one that drops every machine which lost a rank, as far as that one
    is found.
    Raises `ValueError` for a rank that isn't there, and `InfeasibleError` where too few are left for any plan.
    """
    strangers = sorted(rank for rank in lost if not 0 <= rank < len(hardware.rates))
    if strangers:
        raise ValueError(f"rank {strangers[0]} can't be lost: there are {len(hardware.rates)}")
    left = without(hardware, lost)
    hurt = {rank // hardware.node for rank in lost}
    whole = without(hardware, [rank for rank in range(len(hardware.rates)) if rank // hardware.node in hurt])
    before = certify(old, hardware).step
    for count in range(pipelines or len(old.pipelines), 0, -1):
        found = [
            plan
            for each in (left, whole)
            if (plan := _planned(each, old.layers, old.micros, count, memory)) is not None
        ]
        if found:
            plan = placed(min(found, key=lambda each: certify(each, left).step), old, left)
            migration = plan_migration(old, plan, sizes, node=hardware.node, lost=lost)
            return Elastic(plan, migration, certify(plan, left).step / before)
    alive = sum(map(math.isfinite, left.rates))
    raise InfeasibleError(
        f"the {alive} ranks that are left don't hold {old.layers} layers: wait for others to come back"
    )


def without(hardware: Hardware, lost: Collection[int]) -> Hardware:
    """The same ranks, some of them dead."""
    gone = set(lost)
    rates = tuple(math.inf if rank in gone else rate for rank, rate in enumerate(hardware.rates))
    return msgspec.structs.replace(hardware, rates=rates)


def _planned(hardware: Hardware, layers: int, micros: int, pipelines: int, memory: MemoryModel | None) -> Plan | None:
    try:
        return plan_straggler(hardware, layers, micros, pipelines, memory=memory)
    except InfeasibleError:
        return None
