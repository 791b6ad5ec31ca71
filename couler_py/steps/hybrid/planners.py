"""The planners of `hybrid` as steps: who is slow, which plan suits, how to go on without some, and how to get there.

All that goes in and out is JSON, checked, so that a plan of one step is what the next takes. Rates are times of a
layer as multiples of a healthy rank's, `None` where a rank is gone. Plans are those of `plan.Plan`. The steps need this
package and nothing heavy; without a workflow around them they are plain functions.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from couler_py.dsl.step import step


class Profiled(NamedTuple):
    """How slow ranks are, whether a plan should be made anew for that, and who is slow, the slowest first."""

    rates: list[float | None]
    changed: bool
    slow: list[int]


class Planned(NamedTuple):
    """A plan with its certificate; times are in those of a layer of a micro-batch on a healthy largest group."""

    plan: dict[str, Any]
    step: float
    """The longest pipeline's Σt + (m - 1)·max t."""
    bound: float
    """No plan of these groups has a smaller m·max t."""
    simulated: float
    """The step as an event simulation of 1F1B has it, without communication."""
    suspended: list[int]
    memory: list[list[float]]
    """MB of each pipeline's stages; empty without a table of memory."""


class Migrated(NamedTuple):
    """How everybody gets from one plan to another; sizes are bytes."""

    messages: list[dict[str, Any]]
    """`source`, `target`, `size`, and `parts`: of which layer which bytes (first, and the one after the last)."""
    local: list[dict[str, Any]]
    """What ranks keep: `rank`, `size`, `parts`."""
    missing: dict[str, list[list[int]]]
    """Bytes of layers that nobody has any more: a checkpoint must give them."""
    kept: int
    moved: int
    read: int


class Replanned(NamedTuple):
    """The plan of those who are left, and how they get there."""

    plan: dict[str, Any]
    slower: float
    """How many times longer a step takes than before, by formula."""
    messages: list[dict[str, Any]]
    local: list[dict[str, Any]]
    needs_checkpoint: dict[str, list[list[int]]]


@step(name="profile-devices")
def profile_devices(
    window: list[dict[str, dict[str, Any]]],
    baselines: list[float],
    planned: list[float | None] | None = None,
    suspended: list[int] | None = None,
    lost: list[int] | None = None,
) -> Profiled:
    """Rates of ranks from what they computed in the last steps.

    `window` has for each step, by rank, what it computed without waiting for others: `seconds`, `layers`, `micros`, and
    `alpha` where its group isn't of the largest size. `baselines` are healthy seconds of a layer of a micro-batch, by
    rank, `planned` the rates that the current plan was made for. Less than 1.2 counts as healthy, a move of less than
    0.3 as no news. Raises `ValueError` that names what is wrong.

    >>> profile_devices([{"0": {"seconds": 5.0, "layers": 2, "micros": 1}}], [1.0]).rates
    [2.5]
    """
    from couler_py.steps.hybrid import given, rates

    for at, each in enumerate(baselines):
        given.positive(each, f"baselines[{at}]")
    steps = given.read(list[dict[int, rates.Timing]], window, "window")
    for at, timings in enumerate(steps):
        for rank, timing in timings.items():
            for name in ("seconds", "layers", "micros", "alpha"):
                given.positive(getattr(timing, name), f"window[{at}][{rank}].{name}")
    before = None if planned is None else given.rates(planned, "planned")
    if before is not None and len(before) != len(baselines):
        raise ValueError(f"planned: there are {len(before)} rates, and {len(baselines)} baselines")
    found = rates.profile_devices(
        steps,
        baselines,
        before,
        suspended=given.ranks(suspended or [], len(baselines), "suspended"),
        lost=given.ranks(lost or [], len(baselines), "lost"),
    )
    return Profiled(given.told(found.rates), found.changed, [rank for rank, _ in found.slow])


@step(name="plan-straggler")
def plan_straggler(
    rates: list[float | None],
    layers: int,
    micros: int,
    pipelines: list[int],
    node: int = 8,
    tensor: int = 8,
    alpha: dict[str, float] | None = None,
    memory: dict[str, Any] | None = None,
    current: dict[str, Any] | None = None,
) -> Planned:
    """The plan with the shortest step that is found for ranks that aren't equally fast.

    `pipelines` are the numbers of pipelines to try, `node` how many ranks a machine has, `tensor` the size of the
    largest group (a power of two), `alpha` how many times longer a layer takes on a group so many times smaller,
    `memory` a table as `plan.MemoryModel`, `current` the plan that stays where nobody is slow. Raises `ValueError` that
    names what is wrong, and `InfeasibleError` where nothing fits.

    >>> round(plan_straggler([2.57, 1, 1, 1], 12, 8, [1], tensor=1).step, 2)
    41.57
    """
    from couler_py.steps.hybrid import given, straggler
    from couler_py.steps.hybrid.plan import simulated
    from couler_py.steps.hybrid.splitting import InfeasibleError

    hardware, table = given.hardware(rates, node, tensor, alpha), given.memory_of(memory)
    before = None if current is None else given.plan_of(current, hardware, "current")
    if before is not None and (before.layers, before.micros) != (layers, micros):
        raise ValueError(f"current: it has {before.layers} layers and {before.micros} micro-batches, not these")
    found = []
    why: InfeasibleError | None = None
    for at, count in enumerate(pipelines):
        given.whole(count, f"pipelines[{at}]")
        try:
            found.append(
                straggler.plan_straggler(
                    hardware,
                    given.whole(layers, "layers"),
                    given.whole(micros, "micros"),
                    count,
                    memory=table,
                    current=before,
                )
            )
        except InfeasibleError as error:
            why = error
    if not found:
        raise why or ValueError("pipelines: there are none to try")
    best = min(found, key=lambda each: each.certificate.step if each.certificate else float("inf"))
    assert best.certificate is not None
    return Planned(
        given.plain(best),
        best.certificate.step,
        best.certificate.bound,
        simulated(best, hardware),
        list(best.suspended),
        table.of_plan(best, tensor) if table else [],
    )


@step(name="plan-elastic")
def plan_elastic(
    plan: dict[str, Any],
    lost: list[int],
    sizes: list[int],
    rates: list[float | None],
    node: int = 8,
    tensor: int = 8,
    alpha: dict[str, float] | None = None,
    memory: dict[str, Any] | None = None,
    pipelines: int | None = None,
) -> Replanned:
    """The plan for the ranks that are left, and who sends what to whom to get there.

    `rates` are those while all lived, `sizes` bytes of each layer, `pipelines` how many to have, if there can be
    (default: as many as before). The global batch stays. Raises `ValueError` that names what is wrong, and
    `InfeasibleError` where too few are left for any plan.
    """
    from couler_py.steps.hybrid import elastic, given

    hardware = given.hardware(rates, node, tensor, alpha)
    old = given.plan_of(plan, hardware, "plan")
    found = elastic.plan_elastic(
        hardware,
        old,
        given.ranks(lost, len(rates), "lost"),
        given.sizes_of(sizes, old.layers),
        memory=given.memory_of(memory),
        pipelines=None if pipelines is None else given.whole(pipelines, "pipelines"),
    )
    moves = found.migration
    return Replanned(given.plain(found.plan), found.slower, given.moved(moves), given.kept(moves), given.missing(moves))


@step(name="plan-migration")
def plan_migration(
    old: dict[str, Any], new: dict[str, Any], sizes: list[int], node: int = 8, lost: list[int] | None = None
) -> Migrated:
    """How ranks get the layers of a new plan: what they keep, who sends what to whom, and what must be read.

    `sizes` are the bytes of each layer; memory of `lost` ranks is gone. Raises `ValueError` that names what is wrong.
    """
    from couler_py.steps.hybrid import given, migration
    from couler_py.steps.hybrid.plan import Hardware, Plan

    plans = []
    for name, value in (("old", old), ("new", new)):
        found = given.read(Plan, value, name)
        groups = [stage.ranks for each in found.pipelines for stage in each.stages]
        count = 1 + max((rank for ranks in (*groups, found.suspended) for rank in ranks), default=0)
        largest = 1 << max((len(ranks) - 1).bit_length() for ranks in groups) if groups else 1
        plans.append(given.plan_of(value, Hardware((1.0,) * count, given.whole(node, "node"), largest), name))
    here, there = plans
    if here.layers != there.layers:
        raise ValueError(f"new: it has {there.layers} layers, and the old plan {here.layers}")
    moves = migration.plan_migration(
        here, there, given.sizes_of(sizes, here.layers), node=node, lost=[*lost] if lost else []
    )
    return Migrated(given.moved(moves), given.kept(moves), given.missing(moves), moves.kept, moves.moved, moves.read)
