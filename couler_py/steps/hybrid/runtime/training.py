"""A training that watches its ranks: it profiles, plans, trains, and changes plans when ranks get slow or healthy."""

from __future__ import annotations

import os
import time
from pathlib import Path

import msgspec
import torch
import torch.distributed as dist

from couler_py.steps.checkpoint.peers import peers
from couler_py.steps.checkpoint.saving import any_saved
from couler_py.steps.corpus.tokens import Rows
from couler_py.steps.hybrid.plan import Hardware, Plan
from couler_py.steps.hybrid.runtime.emulated import Timed
from couler_py.steps.hybrid.runtime.state import Adam
from couler_py.steps.hybrid.runtime.trainer import Trainer
from couler_py.steps.hybrid.straggler import plan_straggler, uniform
from couler_py.steps.hybrid.task import Task
from couler_py.steps.hybrid.watching import Watch


class Stepped(msgspec.Struct, frozen=True):
    """A step that was done."""

    step: int
    loss: float
    seconds: float


class Changed(msgspec.Struct, frozen=True):
    """A plan, and since when it holds."""

    step: int
    plan: Plan
    why: str
    predicted: float | None
    """Seconds of a step by formula; None before it is known how long a healthy rank takes."""
    moved: int = 0
    """Bytes that all ranks received to change to it."""
    seconds: float = 0.0


class Told(msgspec.Struct, frozen=True):
    """What a training was like, from where it last began."""

    steps: tuple[Stepped, ...]
    plans: tuple[Changed, ...]
    news: tuple[tuple[int, str], ...]
    """After which step which rank was found slow, and what followed."""
    seconds: float
    ranks: int
    consumed: int
    """Samples, from the beginning of all."""


def train(
    task: Task,
    data: str | Path,
    checkpoints: str | os.PathLike[str] | None = None,
    *,
    device: torch.device | str = "cpu",
) -> tuple[Trainer, Told]:
    """Train on a folder of tokens, on all processes of the default group; from the newest checkpoint, if there is one.

    The number of ranks may be another than before. Raises `ValueError` for a corpus that is too short, a task that says
    to save and not where, or too few ranks for its pipelines.
    """
    if task.save_every is not None and checkpoints is None:
        raise ValueError(f"checkpoints are to be saved every {task.save_every} steps, and it isn't said where")
    rows = Rows(data, task.sequence)
    count = len(rows) - task.held_out
    if count < 1:
        raise ValueError(f"{len(rows)} rows of {task.sequence} tokens, and {task.held_out} are held out: none is left")
    hardware = Hardware((1.0,) * dist.get_world_size(), task.node, task.tensor)
    plan = _first(task, hardware)
    slow: dict[int, float] = {}
    compute = None
    if task.emulated is not None:
        compute = Timed(task.emulated.forward, task.emulated.backward, slow)
    trainer = Trainer(
        plan, task.model, adam=Adam(rate=task.rate), seed=task.seed, compute=compute, node=task.node, device=device
    )
    if checkpoints is not None and any_saved(checkpoints):
        trainer.load(checkpoints)
    watch = Watch(hardware, plan, task.memory)
    plans, steps, news = [Changed(trainer.steps, plan, "the first plan", None)], [], []
    moving, begun = 0.0, time.monotonic()
    each = task.micros * task.samples
    while trainer.steps < task.steps:
        if task.emulated is not None:
            slow.clear()
            slow.update(task.emulated.at(trainer.steps))
        numbers = [(trainer.consumed + number) % count for number in range(each)]
        done = trainer.step(torch.from_numpy(rows.take(numbers)))
        steps.append(Stepped(done.step, done.loss, done.seconds))
        found = None
        if task.planning:
            idle = {rank: slow.get(rank, 1.0) for rank in watch.plan.suspended} if task.emulated is not None else {}
            found = watch.see(trainer.timings(), task.steps - trainer.steps, moving, idle)
        if found is not None:
            news.append((done.step, str(found)))
            _say(f"after step {done.step}: {found}")
        if found is not None and found.plan is not None:
            switched = trainer.switch(found.plan)
            received, taken = zip(*peers(None).gather((switched.received, switched.seconds)), strict=True)
            moving = max(taken)  # the same on all ranks, as what they decide by it
            plans.append(
                Changed(
                    done.step,
                    found.plan,
                    str(found),
                    found.step,
                    sum(received),
                    moving,
                )
            )
        if task.save_every is not None and checkpoints is not None and trainer.steps % task.save_every == 0:
            trainer.save(checkpoints)
    told = Told(
        tuple(steps), tuple(plans), tuple(news), time.monotonic() - begun, dist.get_world_size(), trainer.consumed
    )
    return trainer, told


def _first(task: Task, hardware: Hardware) -> Plan:
    """Equal shares for all, or where there are none the best plan for healthy ranks."""
    try:
        return uniform(hardware, task.model.layers, task.micros, task.pipelines)
    except ValueError:
        return plan_straggler(hardware, task.model.layers, task.micros, task.pipelines, memory=task.memory)


def _say(what: str) -> None:
    if dist.get_rank() == 0:
        print(what, flush=True)  # noqa: T201 - the step's log
