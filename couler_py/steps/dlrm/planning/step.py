"""Planning as a step: `dlrm.plan` says how many workers `dlrm.train` is to have, of how many cores and how much memory.

The step runs this package, with numpy and scipy, in the environment or image that it is given: couler-py[train] has
both.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, Unpack

import msgspec

from couler_py.dsl.options import StepOptions
from couler_py.dsl.step import step
from couler_py.steps.dlrm.planning.allocation import GIB, Goal, Measured, Space
from couler_py.steps.dlrm.planning.similar import Profile
from couler_py.steps.dlrm.shapes import Shape, shape_of
from couler_py.steps.dlrm.task import Task


class Asked(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A training that is to be planned, as a workflow writes it down."""

    job: str
    task: Task
    space: Space
    goal: Goal
    measured: tuple[Measured, ...] = ()
    history: tuple[Profile, ...] = ()
    home: str = ""
    explore: bool = True


class Planned(NamedTuple):
    """What a training is to be given, how fast it is expected to be, and everything that was decided."""

    workers: int
    cores: int
    """Of each worker."""
    memory: int
    """Bytes of each worker."""
    rows_per_second: float
    """0 where nothing was known that could say."""
    confidence: str
    """"high", "part" or "low"."""
    plan: Path
    """JSON: the allocation, its cost, all decisions with inputs and what was rejected, and the undominated ones."""
    report: Path


@step(name="dlrm-plan")
def on_shards(data: Path, asked: str) -> Planned:
    """Plan a training on a folder of shards, given as JSON."""
    from couler_py.steps.dlrm.planning import planned

    found = planned.planned(asked, data)
    print("\n".join(planned.lines(found)))  # noqa: T201
    out = Path("plan")
    planned.write(found, out)
    given = found.allocation
    return Planned(
        given.workers,
        given.worker_cores,
        round(given.worker_memory),
        found.rows_per_second or 0.0,
        found.confidence,
        out / "plan.json",
        out / "plan.html",
    )


def plan(
    data: Any,
    *,
    cores: int | None = None,
    workers: tuple[int, int] = (1, 8),
    worker_cores: Sequence[int] = (1,),
    total_memory: float | None = None,
    node_memory: float = 64.0 * GIB,
    model: str | Shape = "dlrm",
    task: Task = Task(),
    goal: Goal = Goal(),
    measured: Sequence[Measured] = (),
    history: Sequence[Profile] = (),
    job: str = "",
    home: str = "",
    explore: bool = True,
    **options: Unpack[StepOptions],
) -> Any:
    """Plan a training on a folder of shards: how many of `workers`, with which of `worker_cores`.

    All of them together have `cores` and `total_memory` (bytes) at most, each `node_memory`. What is known comes from
    trainings in the store of runs where the step runs (`home`, else `$COULER_HOME`, else the home of its own run), from
    `history`, and from `measured` times of steps. Where that is too little for a model, each run tries what tells most
    that isn't known; without `explore`, it begins as alike runs did. `goal` is speed, or what is worth its price.
    `job` is the name of the training's step, "train-" and the model unless given: its own earlier runs count first.

    Its `workers` go to `dlrm.train`, whose task then says how many micro-batches a step has: as many as the most
    workers. Raises `ValueError` for settings that make no sense.

    >>> planned = dlrm.plan(shards.train, cores=8, task=dlrm.Task(micro_batches=8))  # doctest: +SKIP
    >>> trained = dlrm.train(shards.train, shards.test, workers=planned.workers, task=dlrm.Task(micro_batches=8))
    ... # doctest: +SKIP
    """
    shape = shape_of(model)
    least, most = workers
    if most > 1 and task.micro_batches > 1 and most > task.micro_batches:
        raise ValueError(f"up to {most} workers for {task.micro_batches} micro-batches: some would have nothing to do")
    space = Space((least, most), (0, 0), tuple(worker_cores), (), cores, total_memory, node_memory)
    asked = Asked(
        job or f"train-{shape.kind.replace('_', '-')}",
        msgspec.structs.replace(task, shape=shape),
        space,
        goal,
        tuple(measured),
        tuple(history),
        home,
        explore,
    )
    run = on_shards.with_options(**options) if options else on_shards
    return run(data, msgspec.json.encode(asked).decode())
