"""All stages for one job: where to begin, what is better, how much memory, and rules where no model can be fitted."""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from couler_py.steps.dlrm.planning import rules
from couler_py.steps.dlrm.planning.allocation import GIB, Allocation, Goal, Load, Measured, Space
from couler_py.steps.dlrm.planning.decisions import Confidence, Decision, Rejected, Value
from couler_py.steps.dlrm.planning.memory import MARGIN, USABLE, Reading, forecast
from couler_py.steps.dlrm.planning.performance import Fit, fit, points
from couler_py.steps.dlrm.planning.probing import probe
from couler_py.steps.dlrm.planning.scaling import Needs, Scaled, scale
from couler_py.steps.dlrm.planning.similar import Features, Profile, clamped, similarity, warm_start

ALIKE_ENOUGH = 0.85
"""Measures of a job that is at least so similar count as the job's own, whichever data it had: a step takes as long."""


class Wanted(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A job that is to be planned, and what is known of it."""

    job: str
    features: Features
    load: Load
    space: Space
    goal: Goal = Goal()
    needs: Needs = Needs()
    current: Allocation | None = None
    """What it has, if it runs."""
    measured: tuple[Measured, ...] = ()
    seen: rules.Seen = rules.Seen()
    readings: tuple[Reading, ...] = ()
    """Bytes of all its servers (or ranks) together, if it runs; they take the place of `needs.shared`."""
    rows: float = 0.0
    """That it will have trained on at its end."""
    pause: float = 0.0
    """Seconds without training that another allocation costs, if it runs."""
    explore: bool = False
    """Whether to try what tells most, where no model can be fitted yet."""


class Decided(msgspec.Struct, frozen=True):
    """What a job is to be given, and every decision that led there."""

    allocation: Allocation
    rows_per_second: float | None
    """As expected; None where no model could say."""
    cost: float
    """An hour."""
    confidence: Confidence
    decisions: tuple[Decision, ...]
    front: tuple[tuple[Allocation, float, float], ...] = ()
    """Undominated allocations with their cost an hour and their rows a second."""


def decide(wanted: Wanted, history: Sequence[Profile] = ()) -> Decided:
    """Plan a job from what is known of it and of earlier ones.

    What comes out keeps the quota and the bounds of nodes, except that a running job is not made smaller for them.
    """
    decisions: list[Decision] = []
    begun, alike, decision = warm_start(wanted.job, wanted.features, wanted.load, wanted.space, history)
    if wanted.current is None:
        decisions.append(decision)
    else:
        begun = wanted.current
    needs, decision = _needs(wanted, alike)
    measured = (*wanted.measured, *_measured(wanted, history))
    fitted = fit(measured) if measured else None
    found: Scaled | None = None
    if fitted is not None:
        found = scale(
            fitted, wanted.load, wanted.space, current=begun, needs=needs, goal=wanted.goal,
            moving=lambda _: wanted.pause, left=_left(wanted, fitted),
        )  # fmt: skip
        decisions.append(found.decision)
    if found is None or found.decision.confidence == "low":
        tried = probe(wanted.load, wanted.space, needs, measured) if wanted.explore else None
        allocation, fallen = tried or rules.fallback(begun, wanted.space, wanted.seen)
        allocation = clamped(allocation, wanted.space) if wanted.current is None else allocation
        decisions.append(fallen)
        sure, speed = fallen.confidence, None
    else:
        allocation, sure, speed = found.allocation, found.decision.confidence, found.rows_per_second
    allocation, decision = _with_memory(allocation, needs, wanted.space, decision)
    decisions.append(decision)
    front = found.front if found is not None else ()
    return Decided(allocation, speed, wanted.goal.prices.hour(allocation), sure, tuple(decisions), front)


def _left(wanted: Wanted, fitted: Fit) -> float:
    """Seconds to the end of a job that runs, as it is; of one that doesn't, or whose rows aren't known, no end."""
    if wanted.current is None or not wanted.rows:
        return math.inf
    done = wanted.readings[-1].rows if wanted.readings else 0.0
    speed = float(fitted.throughput(wanted.load, points([wanted.current]))[0])
    return max(wanted.rows - done, 1.0) / max(speed, 1e-9)


def _measured(wanted: Wanted, history: Sequence[Profile]) -> list[Measured]:
    return [
        Measured(each.allocation, each.load, each.seconds)
        for each in history
        if each.seconds is not None
        and each.load.kind == wanted.load.kind
        and similarity(each.features, msgspec.structs.replace(wanted.features, data="")) >= ALIKE_ENOUGH
    ]


def _needs(wanted: Wanted, alike: Sequence[Profile]) -> tuple[Needs, Decision]:
    """Bytes that nodes are to have, of which `USABLE` is what they will need at the end; and why."""
    alone = wanted.load.kind == "ranks"
    own = [
        each.worker_memory - (wanted.needs.shared / each.allocation.workers if alone else 0.0)
        for each in alike
        if each.worker_memory is not None
    ]
    node, shared = max([wanted.needs.node, *own]), wanted.needs.shared
    why, sure = "tables and what they are trained with, and a margin", "high"
    rejected: tuple[Rejected, ...] = ()
    if len(wanted.readings) > 1:
        found = forecast(wanted.readings, max(wanted.rows, wanted.readings[-1].rows), margin=0.0)
        shared, why = found.peak, f"it grows by the law {found.law!r} to the end of the job, and a margin"
        now = wanted.readings[-1].bytes
        rejected = (
            Rejected(f"{now / GIB:.2f} GiB", "that is what there is now", {"bytes": now}),
            Rejected(f"{found.linear / GIB:.2f} GiB", "a line, without a margin", {"bytes": found.linear}),
            Rejected(f"{found.heaps / GIB:.2f} GiB", "Heaps' law, without a margin", {"bytes": found.heaps}),
        )
    elif not shared:
        shared = max([(each.server_memory or 0.0) * each.allocation.servers for each in alike], default=0.0)
        why, sure = ("alike jobs had so much", "part") if node or shared else ("nothing is known of it", "low")
    inputs: dict[str, Value] = {
        "GiB of a worker's own": node / GIB,
        "GiB that are shared": shared / GIB,
        "margin": MARGIN,
        "part that is filled": USABLE,
        "readings": len(wanted.readings),
        "alike jobs": len(alike),
    }
    confidence: Confidence = "high" if sure == "high" else "part" if sure == "part" else "low"
    times = (1 + MARGIN) / USABLE
    return Needs(node * times, shared * times), Decision("memory", "", why, inputs, rejected, confidence)


def _with_memory(allocation: Allocation, needs: Needs, space: Space, decision: Decision) -> tuple[Allocation, Decision]:
    """The same nodes with the memory that they need, no more than a node has; the decision says where that is less."""
    alone = allocation.servers == 0
    worker = max(needs.node + (needs.shared / allocation.workers if alone else 0.0), allocation.worker_memory)
    server = 0.0 if alone else max(needs.shared / allocation.servers, allocation.server_memory)
    given = [min(each, space.node_memory) for each in (worker, server)]
    found = msgspec.structs.replace(allocation, worker_memory=given[0], server_memory=given[1])
    if max(worker, server) > space.node_memory:
        most = max(worker, server) / GIB
        why = f"a node has no more; {most:.1f} GiB would be needed: it will run out with so few nodes"
        decision = msgspec.structs.replace(decision, why=why, confidence="low")
    return found, msgspec.structs.replace(decision, choice=_memory_of(found))


def _memory_of(allocation: Allocation) -> str:
    if not allocation.memory:
        return "unknown"
    parts = [f"{allocation.worker_memory / GIB:.2f} GiB a worker"]
    if allocation.servers:
        parts.append(f"{allocation.server_memory / GIB:.2f} GiB a server")
    return ", ".join(parts)
