"""Schedules as steps of `hybrid`: how many slices to cut sequences into, and what any schedule or plan comes to.

All that goes in and out is JSON, checked. An operation is `[kind, micro-batch, stage, slice]`, its kind "F" for a
forward, "B" for a backward; with v chunks a worker, stages are counted along the model. The steps need this package
and nothing heavy.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from couler_py.dsl.step import step


class Sliced(NamedTuple):
    """The shape that takes the least time within the memory, and its schedule."""

    slices: int
    chunks: int
    live: int
    """Slices that a worker holds at most."""
    orders: list[list[Any]]
    """What each worker does, in this order."""
    step: float
    bubble: float
    """The share of all workers' time that is waited."""
    memory: float
    """Bytes of the first worker."""
    choices: list[dict[str, Any]]
    """All shapes that fit, the fastest first: `slices`, `chunks`, `live`, `step`, `memory`."""


class Simulated(NamedTuple):
    """What a schedule comes to, in the unit of its durations."""

    makespan: float
    seconds: float
    """The makespan where 1 is so many seconds as `unit` says."""
    busy: list[list[float]]
    """How long each worker of each pipeline works."""
    bubble: float
    """The share of all workers' time that is waited."""
    peak: list[list[int]]
    """The most forwards of each worker whose backward was still to come."""
    trace: Path
    """It in Chrome's trace format, for https://ui.perfetto.dev."""
    picture: Path
    """It as SVG."""


@step(name="plan-slices")
def plan_slices(
    micros: int,
    workers: int,
    forward: float,
    activations: float,
    fixed: float,
    capacity: float,
    slices: list[int] | None = None,
    chunks: list[int] | None = None,
    overhead: float = 0.0,
    backward: float = 2.0,
) -> Sliced:
    """Into how many slices to cut sequences, and stages into chunks, so that a step is short and fits the memory.

    `forward` is the time of a micro-batch's forward through the whole model, `backward` how many times longer its
    backward takes, `overhead` what each slice of a stage adds; `activations` are its bytes, `fixed` those of weights
    and optimizer on a worker, `capacity` all that it has. Raises `ValueError` that names what is wrong, and where
    nothing fits says how much the smallest takes.
    """
    from couler_py.steps.hybrid import given
    from couler_py.steps.hybrid import slices as slicing

    for name, value in (("forward", forward), ("activations", activations), ("capacity", capacity)):
        given.positive(value, name)
    given.positive(backward, "backward")
    given.positive(fixed, "fixed", zero=True)
    given.positive(overhead, "overhead", zero=True)
    tried = {"slices": slices or [1, 2, 4, 8], "chunks": chunks or [1, 2]}
    for name, row in tried.items():
        for at, each in enumerate(row):
            given.whole(each, f"{name}[{at}]")
    found = slicing.plan_slices(
        given.whole(micros, "micros"),
        forward,
        activations,
        fixed=fixed,
        capacity=capacity,
        workers=given.whole(workers, "workers"),
        slices=tuple(tried["slices"]),
        chunks=tuple(tried["chunks"]),
        overhead=overhead,
        backward=backward,
    )
    best = found[0]
    shape = best.shape
    one = forward / (shape.stages * shape.slices)
    cost = {"F": one + overhead, "B": backward * one + overhead}
    played = slicing.bounded(shape, best.live, lambda op: cost[op.kind])
    choices = [
        {"slices": each.shape.slices, "chunks": each.shape.chunks, "live": each.live}
        | {"step": each.step, "memory": each.memory}
        for each in found
    ]
    orders = [[list(op) for op in order] for order in played.orders]
    return Sliced(shape.slices, shape.chunks, best.live, orders, best.step, played.bubble, best.memory, choices)


@step(name="simulate-schedule")
def simulate_schedule(
    plan: dict[str, Any] | None = None,
    rates: list[float | None] | None = None,
    node: int = 8,
    tensor: int = 8,
    alpha: dict[str, float] | None = None,
    orders: list[list[Any]] | None = None,
    forward: list[float] | None = None,
    backward: list[float] | None = None,
    sending: float = 0.0,
    unit: float = 1e-3,
    title: str = "",
) -> Simulated:
    """Play a plan, or the orders of workers: how long it takes, who waits, how much is live, and when each thing runs.

    A plan runs 1F1B on ranks of these `rates`; a layer of a micro-batch takes 1 on a healthy largest group, two thirds
    of it backward. With `orders` give seconds or other durations of each stage's `forward` and `backward`, of one
    slice. `sending` is the time of a message from worker to worker, `unit` how many seconds 1 is in the trace. Raises
    `ValueError` that names what is wrong, and `DeadlockError` for orders that can't go on.
    """
    from couler_py.steps.hybrid import given, playing

    given.positive(sending, "sending", zero=True)
    given.positive(unit, "unit")
    if (plan is None) == (orders is None):
        raise ValueError("plan and orders: one of them is played")
    if plan is not None:
        if rates is None:
            raise ValueError("rates: a plan is played on ranks, and each has one")
        hardware = given.hardware(rates, node, tensor, alpha)
        played = playing.of_plan(given.plan_of(plan, hardware, "plan"), hardware, sending)
    else:
        played = [playing.of_orders(orders, forward, backward, sending)]
    playing.trace(played, unit).write("trace.json")
    Path("schedule.svg").write_text(playing.picture(played, unit, title), encoding="utf-8")
    makespan = max(each.timeline.makespan for each in played)
    busy = [list(each.timeline.busy) for each in played]
    waited = 1.0 - sum(map(sum, busy)) / (makespan * sum(map(len, busy)))
    peak = [list(each.timeline.peak) for each in played]
    return Simulated(makespan, makespan * unit, busy, waited, peak, Path("trace.json"), Path("schedule.svg"))
