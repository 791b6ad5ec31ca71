"""Plans and orders of workers, played, as a trace and as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from couler_py.report.plots.lanes import Lane, lanes
from couler_py.steps.hybrid import given
from couler_py.steps.hybrid.plan import Hardware, Plan, stage_times
from couler_py.steps.hybrid.timeline import Op, Timeline, one_forward_one_backward, play
from couler_py.steps.trace import Trace

BACKWARD = 2.0
"""How many times longer a backward takes than its forward, where nothing else is said."""
KINDS = {"F": "forward", "B": "backward"}


class Played(msgspec.Struct, frozen=True):
    """A pipeline that was played."""

    name: str
    workers: tuple[str, ...]
    """What each is called."""
    timeline: Timeline


def of_plan(plan: Plan, hardware: Hardware, sending: float = 0.0) -> list[Played]:
    """Each pipeline of a plan under 1F1B. Raises `ValueError` where one of its ranks is gone."""
    found = []
    share = {"F": 1.0 / (1.0 + BACKWARD), "B": BACKWARD / (1.0 + BACKWARD)}
    for number, pipeline in enumerate(plan.pipelines):
        times = stage_times(pipeline, hardware)
        for at, each in enumerate(times):
            given.positive(each, f"the time of stage {at} of pipeline {number}")
        played = play(
            one_forward_one_backward(len(times), pipeline.micros),
            lambda op, times=times: times[op.stage] * share[op.kind],  # type: ignore[misc]
            stages=len(times),
            sending=sending,
        )
        names = tuple(f"ranks {'+'.join(map(str, stage.ranks))}" for stage in pipeline.stages)
        found.append(Played(f"pipeline {number}", names, played))
    return found


def of_orders(orders: Any, forward: Sequence[float] | None, backward: Sequence[float] | None, sending: float) -> Played:
    """Orders of workers, as JSON, with durations by stage. Raises `ValueError` that names what is wrong."""
    rows = given.read(list[list[Op]], orders, "orders")
    stages = 1 + max((op.stage for row in rows for op in row), default=-1)
    slices = 1 + max((op.slice for row in rows for op in row), default=-1)
    if not stages:
        raise ValueError("orders: no worker has anything to do")
    for worker, row in enumerate(rows):
        for at, op in enumerate(row):
            for name in ("micro", "stage", "slice"):
                given.whole(getattr(op, name), f"orders[{worker}][{at}].{name}", 0)
    costs = {}
    for kind, name, times in (("F", "forward", forward), ("B", "backward", backward)):
        if times is None or len(times) != stages:
            raise ValueError(f"{name}: {'none' if times is None else len(times)} given, and there are {stages} stages")
        costs[kind] = [given.positive(each, f"{name}[{at}]") for at, each in enumerate(times)]
    played = play(rows, lambda op: costs[op.kind][op.stage], stages=stages, slices=slices, sending=sending)
    return Played("pipeline", tuple(f"worker {at}" for at in range(len(rows))), played)


def trace(played: Sequence[Played], unit: float) -> Trace:
    """All pipelines as one Chrome trace, in which 1 takes so many seconds."""
    made = Trace()
    for each in played:
        each.timeline.into(made, unit, each.name, each.workers)
    return made


def picture(played: Sequence[Played], unit: float, title: str = "") -> str:
    """All pipelines as SVG, a row for each worker, in seconds."""
    rows = [
        Lane(
            f"{each.name}, {name}" if len(played) > 1 else name,
            tuple(
                (KINDS[op.kind], each.timeline.spans[op][0] * unit, each.timeline.spans[op][1] * unit) for op in order
            ),
        )
        for each in played
        for name, order in zip(each.workers, each.timeline.orders, strict=True)
    ]
    return lanes(rows, title=title)
