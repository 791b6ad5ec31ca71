"""A training that watches its ranks: it profiles, plans, trains, and changes plans when ranks get slow or healthy."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import torch
import torch.distributed as dist

from couler_py.steps.checkpoint.peers import peers
from couler_py.steps.checkpoint.saving import any_saved
from couler_py.steps.corpus.tokens import Rows
from couler_py.steps.hybrid.plan import Hardware, Plan, violations
from couler_py.steps.hybrid.runtime.done import Done
from couler_py.steps.hybrid.runtime.emulated import Timed
from couler_py.steps.hybrid.runtime.probing import Probe
from couler_py.steps.hybrid.runtime.state import Adam
from couler_py.steps.hybrid.runtime.trainer import Trainer
from couler_py.steps.hybrid.straggler import plan_straggler, uniform
from couler_py.steps.hybrid.task import Task
from couler_py.steps.hybrid.telling import Changed, Picture, Stepped, Told
from couler_py.steps.hybrid.watching import Healthy, News, Watch

PICTURED = 2
"""The step under each plan whose spans are kept: the first one warms up."""
PROBING = 0.5
"""Of the last step's time: how long a rank without work may measure itself while the others work."""


class Known(msgspec.Struct):
    """What all ranks know alike, and who comes has to hear."""

    steps: list[Stepped]
    plans: list[Changed]
    news: list[tuple[int, str]]
    pictures: list[Picture]
    begun: float
    """By the clock on the wall, which all ranks share."""
    rates: tuple[float, ...] = ()
    healthy: Healthy | None = None
    moving: float = 0.0
    """Seconds that the last change of plans took."""


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
    training = Training(task, data, checkpoints, seats=dist.get_world_size(), seat=dist.get_rank(), device=device)
    training.begin(range(dist.get_world_size()))
    while training.step():
        pass
    return training.trainer, training.told


class Training:
    """One rank's part of a training, for who decides itself when to do a step: all ranks call it alike.

    There are so many `seats` for ranks, of which this process has one. Raises as `train` does.
    """

    def __init__(
        self,
        task: Task,
        data: str | Path,
        checkpoints: str | os.PathLike[str] | None = None,
        *,
        seats: int,
        seat: int,
        device: torch.device | str = "cpu",
    ):
        if task.save_every is not None and checkpoints is None:
            raise ValueError(f"checkpoints are to be saved every {task.save_every} steps, and it isn't said where")
        self.task, self._checkpoints, self._seats, self.seat, self._device = task, checkpoints, seats, seat, device
        self._rows = Rows(data, task.sequence)
        self._count = len(self._rows) - task.held_out
        if self._count < 1:
            said = f"{len(self._rows)} rows of {task.sequence} tokens, and {task.held_out} are held out"
            raise ValueError(f"{said}: none is left")
        self._slow: dict[int, float] = {}
        self._compute = None
        if task.emulated is not None:
            self._compute = Timed(task.emulated.forward, task.emulated.backward, self._slow)
        self._probe = Probe(task.model.hidden, task.samples * task.sequence, seat, device, self._compute)
        self._probed: float | None = None
        """Seconds of the small computation in this step, where this rank did it."""
        self._trainer: Trainer | None = None
        self._since = 0
        """Steps under this plan."""

    @property
    def trainer(self) -> Trainer:
        """The trainer, when the training has begun."""
        assert self._trainer is not None
        return self._trainer

    def begin(self, present: Sequence[int]) -> None:
        """Begin with the ranks at these seats: with equal shares for all, or where there are none the best plan."""
        rates = tuple(1.0 if seat in present else math.inf for seat in range(self._seats))
        hardware, task = Hardware(rates, self.task.node, self.task.tensor), self.task
        plan = _first(task, hardware)
        self._trainer = self._new(plan)
        if self._checkpoints is not None and any_saved(self._checkpoints):
            self._trainer.load(self._checkpoints)
        first = Changed(self._trainer.steps, plan, "the first plan", None)
        self._known = Known([], [first], [], [], time.time(), rates)
        self._watch = Watch(hardware, plan, task.memory)

    def take_part(self, present: Sequence[int]) -> None:
        """Go on with the ranks at these seats, after some were lost or have come; where nobody had begun, begin.

        Raises `CheckpointError` where what was lost is in no checkpoint, and `InfeasibleError` where too few are left.
        """
        mine = None if self._trainer is None else (self._trainer.steps, self._known)
        told = [each for each in peers(None).gather(mine) if each is not None]
        if not told:
            self.begin(present)
            return
        known: Known = max(told, key=lambda each: each[0])[1]
        before = known.rates
        hardware = Hardware(before, self.task.node, self.task.tensor)
        self._known, self._watch = known, Watch(hardware, known.plans[-1].plan, self.task.memory, known.healthy)
        news = self._watch.regroup(present, self.task.pipelines)
        gone = [f"rank {seat} is lost" for seat, rate in enumerate(before) if seat not in present and rate < math.inf]
        back = [f"rank {seat} is back" for seat in present if math.isinf(before[seat])]
        saved = self._saved()  # all ranks ask this before the first thing that a trainer asks
        if self._trainer is None:
            self._trainer = self._new(None)
        self._change(news, "; ".join(gone + back) or "the same ranks go on", saved)

    def step(self) -> bool:
        """Do one step, look at what ranks took, and change plans where that is worth it; gives whether there are more.

        Raises what torch raises where a rank is lost.
        """
        trainer, task = self.trainer, self.task
        if trainer.steps >= task.steps:
            return False
        if task.emulated is not None:
            self._slow.clear()
            self._slow.update(task.emulated.at(trainer.steps))
        each = task.micros * task.samples
        numbers = [(trainer.consumed + number) % self._count for number in range(each)]
        self._probed = None
        rows = torch.from_numpy(self._rows.take(numbers))
        done = trainer.step(rows, meanwhile=self._measure if task.planning else None)
        self._known.steps.append(Stepped(done.step, done.loss, done.seconds))
        self._since += 1
        found = self._look(done) if task.planning else None
        if found is not None or self._since == PICTURED:
            self._known.pictures.append(Picture(done.step, trainer.spans()))
        if found is not None:
            if found.plan is not None:
                self._change(found, str(found))
            else:
                self._say(str(found))
        if task.save_every is not None and self._checkpoints is not None and trainer.steps % task.save_every == 0:
            trainer.save(self._checkpoints)
        return trainer.steps < task.steps

    def leave(self, error: BaseException) -> None:
        """Let others hear of an error at once: `Trainer.leave`. Then meet them again, and `take_part`."""
        if self._trainer is not None:
            self._trainer.leave(error)

    @property
    def told(self) -> Told:
        """What it was like so far."""
        known = self._known
        rows = (tuple(known.steps), tuple(known.plans), tuple(known.news), tuple(known.pictures))
        return Told(*rows, time.time() - known.begun, self._seats, self.trainer.consumed)

    def _look(self, done: Done) -> News | None:
        watch, known, probes = self._watch, self._known, {}
        if watch.probing:  # the same on all ranks
            if self._probed is None and self.seat in watch.probing:
                self._measure()
            told = peers(None).gather((self.seat, self._probed))
            probes = {seat: seconds for seat, seconds in told if seconds is not None}
        found = watch.see(self.trainer.timings(), self.task.steps - done.step, known.moving, probes)
        known.rates, known.healthy = watch.rates, watch.healthy
        return found

    def _measure(self) -> None:
        last = self._known.steps[-1].seconds if self._known.steps else math.inf
        self._probed = self._probe.seconds(PROBING * last)

    def _change(self, news: News, what: str, saved: str | os.PathLike[str] | None = None) -> None:
        assert news.plan is not None
        trainer, known = self.trainer, self._known
        switched = trainer.switch(news.plan, saved)
        told: list[Any] = peers(None).gather((switched.received, switched.seconds, switched.read))
        received, seconds, read = zip(*told, strict=True)
        known.moving, known.rates = max(seconds), news.rates.rates  # the same on all ranks, as what they decide by it
        if switched.is_back:
            what += f"; all go back to step {switched.step}, of the newest checkpoint"
            known.steps = [each for each in known.steps if each.step <= switched.step]
        known.plans.append(
            Changed(switched.step, news.plan, what, news.step or None, sum(received), known.moving, sum(read))
        )
        self._say(what)
        self._since = 0

    def _saved(self) -> str | os.PathLike[str] | None:
        """Where what nobody has any more is read from."""
        return self._checkpoints if self._checkpoints is not None and any_saved(self._checkpoints) else None

    def _say(self, what: str) -> None:
        step = self.trainer.steps
        self._known.news.append((step, what))
        if dist.get_rank() == 0:
            print(f"after step {step}: {what}", flush=True)  # noqa: T201 - the step's log

    def _new(self, plan: Plan | None) -> Trainer:
        task = self.task
        return Trainer(
            plan,
            task.model,
            adam=Adam(rate=task.rate),
            seed=task.seed,
            seat=self.seat,
            compute=self._compute,
            sharded=not task.elastic,
            node=task.node,
            device=self._device,
        )


def _first(task: Task, hardware: Hardware) -> Plan:
    if all(rate == 1.0 for rate in hardware.rates):
        try:
            equal = uniform(hardware, task.model.layers, task.micros, task.pipelines)
            if not violations(equal, hardware, task.memory):
                return equal
        except ValueError:
            pass  # no equal shares
    return plan_straggler(hardware, task.model.layers, task.micros, task.pipelines, memory=task.memory)
