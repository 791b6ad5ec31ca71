"""Waiting: for a duration, or for a person who may give values."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec

from couler_py.backends.local.context import Call, Context
from couler_py.backends.local.scope import TaskFailure, plain
from couler_py.ir import wire
from couler_py.ir.model import Suspend
from couler_py.ir.types import mismatch
from couler_py.store import runs
from couler_py.store.records import Result


async def run(context: Context, made: Call, body: Suspend) -> Result:
    """Wait as long as it says, or until `resume` comes for it."""
    if body.duration == 0:
        return Result("Succeeded", supplied(made, {}))
    await context.gate.enter()
    approval: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
    context.approvals[made.path] = approval
    task = context.journal.of(made.path)
    task.state = "Suspended"
    if task.started is None:
        task.started = runs.now()
    context.journal.task(task)
    context.looked_at()
    left = None
    if body.duration is not None:
        # The time that passed while no engine ran counts: it is the clock that is waited for.
        left = max(0.0, task.started + body.duration - runs.now())
    try:
        given = await asyncio.wait_for(approval, left)
    except TimeoutError:
        given = {}
    finally:
        del context.approvals[made.path]
        if task.state == "Suspended":
            task.state = "Running"
    return Result("Succeeded", supplied(made, given))


def supplied(made: Call, given: dict[str, Any]) -> dict[str, Any]:
    """The outputs of a suspend: what was given, else their defaults. Raises `TaskFailure` for one without."""
    values: dict[str, Any] = {}
    for output in made.template.outputs.parameters:
        if output.name in given:
            value = given[output.name]
        elif output.default is not msgspec.UNSET:
            value = output.default
        else:
            raise TaskFailure(f"nobody gave the output {output.name!r}: couler resume RUN -o {output.name}=VALUE")
        problem = mismatch(output.type, value)
        if problem is not None:
            raise TaskFailure(f"the output {output.name!r}: {problem}")
        values[output.name] = wire.restore(plain(output.type), value)
    return values
