"""A schedule of jobs in one pipeline with what stages tell each other about norms, so that each job is clipped whole.

A stage has its own layers' gradients. Squares of their norms go up the pipeline behind a step's last backward, and each
stage adds its own; the first stage then knows the norm, and it goes down before the job's next forward. Nobody waits
for it: it goes where activations and their gradients go anyway, in an order that is fixed beforehand.
"""

from __future__ import annotations

from couler_py.steps.hybrid.timeline import Op
from couler_py.steps.lora.planning.pipeline import Schedule

NORM, LAST = 1, 2
"""What `Op.slice` says of a message: a norm behind or before a step, and the last ones of all."""


def with_norms(schedule: Schedule) -> tuple[tuple[Op, ...], ...]:
    """The orders of all stages, with an `Op` for each message about a norm: its `slice` is `NORM`, at the end `LAST`.

    `B` of `NORM` stands behind the last backward of a job's step, `F` of `NORM` before the first forward of its next.
    """
    return tuple(_stage(order, schedule, stage) for stage, order in enumerate(schedule.orders))


def _stage(order: tuple[Op, ...], schedule: Schedule, stage: int) -> tuple[Op, ...]:
    steps = [(job, step) for job, step, _ in schedule.whose]
    left = {each: steps.count(each) for each in steps}
    begun: set[tuple[int, int]] = set()
    found: list[Op] = []
    for op in order:
        own = steps[op.micro]
        if op.kind == "F" and own not in begun:
            begun.add(own)
            if own[1]:
                found.append(Op("F", op.micro, stage, NORM))
        found.append(op)
        if op.kind == "B":
            left[own] -= 1
            if not left[own]:
                found.append(Op("B", op.micro, stage, NORM))
    last = {job: micro for micro, (job, _) in enumerate(steps)}
    return (*found, *(Op("F", micro, stage, LAST) for _, micro in sorted(last.items())))
