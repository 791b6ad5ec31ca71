"""The trainer: one object on each rank, whatever the plan."""

from __future__ import annotations

import math
import os
import time
import traceback
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import torch
import torch.distributed as dist

from couler_py.steps.checkpoint.boxes import whole
from couler_py.steps.checkpoint.saving import Loaded, Saved, load, save
from couler_py.steps.hybrid.layout import Layout, lay_out
from couler_py.steps.hybrid.plan import ALPHA, Plan
from couler_py.steps.hybrid.rates import Timing, longer
from couler_py.steps.hybrid.runtime import moving
from couler_py.steps.hybrid.runtime.batches import Batch
from couler_py.steps.hybrid.runtime.course import Course, Slicing, groups_of
from couler_py.steps.hybrid.runtime.done import Done
from couler_py.steps.hybrid.runtime.emulated import Timed
from couler_py.steps.hybrid.runtime.moving import Switched, Told
from couler_py.steps.hybrid.runtime.state import Adam, State
from couler_py.steps.hybrid.runtime.world import World
from couler_py.steps.models.config import DecoderConfig
from couler_py.steps.models.decoder import first_value

if TYPE_CHECKING:
    from torch import Tensor


class Trainer:
    """Trains a decoder under a plan, on all processes of the default process group; each makes one and calls it alike.

    A plan's ranks are seats; this process sits at `seat` (default: its number among the processes). With no plan it
    has nothing until its first `switch`, as one that comes to a training under way. Weights are those that `build`
    gives the seed; each micro-batch is an equal share of a batch's samples, and pipelines take theirs in the order of
    the data, so that what makes a step doesn't depend on the plan. Loss is divided by all targets that count.

    `sharded`: whether ranks that hold the same share the optimizer's state (ZeRO, stage 1). Sharded, each moment lies
    on one rank, and losing it takes a checkpoint; otherwise another pipeline has it. `node` is how many ranks a
    machine has, `alpha` how many times longer a layer takes on a group so many times smaller than the plan's largest,
    `timeout` how many seconds a rank waits for another before it fails. `compute` emulates slow computation.

    Raises `ValueError` where a plan isn't for the decoder, or has work for a seat where no process sits.
    """

    def __init__(
        self,
        plan: Plan | None,
        config: DecoderConfig,
        *,
        adam: Adam | None = None,
        seed: int = 0,
        seat: int | None = None,
        slicing: Slicing | None = None,
        compute: Timed | None = None,
        sharded: bool = True,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str = "cpu",
        node: int = 8,
        alpha: Mapping[int, float] | None = None,
        timeout: float = 60.0,
    ):
        self.config, self.adam, self.sharded = config, adam or Adam(), sharded
        self._slicing, self._compute, self._dtype = slicing or Slicing(), compute, dtype
        self._device, self._node, self._timeout = torch.device(device), node, timeout
        self._alpha, self._seed = alpha or ALPHA, seed
        self.seat = dist.get_rank() if seat is None else seat
        self._largest = 0
        self.steps = 0
        """Steps that are done."""
        self.consumed = 0
        """Samples that they took."""
        self._is_torn = False
        self._world = World(self.seat, timeout)
        self.plan: Plan | None = None
        self._state: State | None = None
        self._course: Course | None = None
        if plan is not None:
            layout = self._laid_out(plan)
            self._state = self._state_for(layout)
            for name, parameter in self._state.parameters.items():
                value = first_value(name, layout.shapes[name], seed, config.layers)
                parameter.data.copy_(value[layout.boxes[self.seat][name].within(whole(value.shape))])
            self._state.begin(0, fresh=True)
            self._take_up(plan, layout)

    @property
    def parameters(self) -> Mapping[str, torch.nn.Parameter]:
        """This rank's parts of the weights, by the names of `Decoder`."""
        return self._planned()[1].parameters

    def step(self, batch: Batch | Tensor, *, update: bool = True, meanwhile: Callable[[], None] | None = None) -> Done:
        """One step on a global batch: every rank gives the whole of it, and computes its own part.

        `batch` is a `Batch`, or rows of tokens (samples, length + 1). Without `update` gradients are summed and weights
        stay: `gradients()` gives them. `meanwhile` is called on a rank that has no work under this plan.
        Raises `ValueError` where samples aren't as many for each micro-batch, and what the backend raises where a
        process is gone: then end the default process group, so that others hear of it, and `switch` leads on,
        when there is another.
        """
        plan, _ = self._planned()
        if not self._world.is_current:
            raise ValueError("this trainer's process group is gone: make another, and `switch` with all who are in it")
        if not isinstance(batch, Batch):
            batch = Batch.of(batch)
        samples = len(batch.tokens)
        if samples % plan.micros:
            raise ValueError(f"{samples} samples aren't shared evenly by {plan.micros} micro-batches")
        try:
            return self._step(plan, batch.to(self._device), update, meanwhile or (lambda: None))
        except BaseException as error:
            self.leave(error)
            raise

    def timings(self) -> dict[int, Timing]:
        """What each seat computed in the last step, as `profile_devices` takes it; all ranks call it.

        Without what ranks wait for each other, sums and the optimizer. Attention is in it.
        """
        told = self._world.gather(None if self._course is None else self._timing(self._course))
        return {seat: each for seat, each in sorted(told.items()) if each is not None}

    def spans(self) -> dict[int, tuple[tuple[str, float, float], ...]]:
        """When each seat computed what in the last step, as `Course.spans`; all ranks call it."""
        return self._world.gather(() if self._course is None else tuple(self._course.spans))

    def switch(self, plan: Plan, checkpoint: str | os.PathLike[str] | None = None) -> Switched:
        """Go on under another plan, from the step where this one is; all processes call it.

        Weights and moments go from who has them to who needs them. Where processes were lost or have come, make a new
        default process group first. What no process has any more is read from the newest `checkpoint`; where that is
        of an earlier step, all go back to it (`Switched.is_back`), and `consumed` says with which sample to go on.
        Raises `CheckpointError` on all ranks where something is lost and no checkpoint has it; the plan then stays.
        """
        started = time.perf_counter()
        if not self._world.is_current:
            self._world = World(self.seat, self._timeout)
        layout = self._laid_out(plan)
        old = {} if self._state is None or self._is_torn else self._state.holding()
        told = self._world.gather(Told(self.steps, self.consumed, moving.held_of(old)))
        state = self._state_for(layout)
        new = state.holding()
        needed = self._world.gather(moving.held_of(new))
        moves = moving.plan_moves(told, needed, self._node)
        kept, received, sent = moving.transfer(self._world, moves, old, new)
        steps, consumed, read, is_back = moving.recover(checkpoint, moves, moving.newest(told), new, self.seat)
        state.begin(steps)
        self.steps, self.consumed, self._state, self._is_torn = steps, consumed, state, False
        self._take_up(plan, layout)
        return Switched(steps, kept, received, sent, read, is_back, time.perf_counter() - started)

    def leave(self, error: BaseException) -> None:
        """Let go of all groups after an error, whose frames hold them too; what this rank has stays, for `switch`.

        Their connections close when the default group is ended and no thread receives through them any more, so that
        who waits for this rank mostly hears of it at once, else when its group's time-out is over: `timeout` for those
        that plans make, its own for the default group. A step that fails does it itself.
        """
        traceback.clear_frames(error.__traceback__)
        self._course = None
        if self._state is not None:
            self._state.leave()
        self._world.leave()

    def save(self, where: str | os.PathLike[str], facts: Mapping[str, Any] | None = None, **options: Any) -> Saved:
        """Write a checkpoint of this step, which knows no plan; all ranks call it. Options are those of `saving.save`.

        The weights in it are read by `load_training` as well.
        """
        state = self._planned()[1]
        return save(where, self.steps, state.holding(), {"consumed": self.consumed, **(facts or {})}, **options)

    def load(self, where: str | os.PathLike[str], *, step: int | None = None) -> Loaded:
        """Go on from the newest checkpoint, or that of a step, whatever plan it was saved under; all ranks call it."""
        state = self._planned()[1]
        loaded = load(where, state.holding(), step=step)
        state.begin(loaded.step)
        self.steps, self.consumed, self._is_torn = loaded.step, int(loaded.facts["consumed"]), False
        return loaded

    def gradients(self) -> dict[str, Tensor]:
        """The summed gradients of the last step, whole, on every rank; all call it. For tests of small models."""
        return self._planned()[1].whole_gradients(self._world)

    def _step(self, plan: Plan, batch: Batch, update: bool, meanwhile: Callable[[], None]) -> Done:
        state, samples = self._planned()[1], len(batch.tokens)
        dist.barrier()
        started = time.perf_counter()
        loss = 0.0
        if self._course is not None:
            each, first = samples // plan.micros, sum(one.micros for one in plan.pipelines[: self._pipeline])
            mine = batch.rows(first * each, (first + plan.pipelines[self._pipeline].micros) * each)
            self._course.run(mine, batch.counted)
            loss = self._course.loss / self._course.size
        else:
            meanwhile()
        state.sum_gradients()
        told = torch.tensor([loss, state.square()], dtype=torch.float64, device=self._device)
        dist.all_reduce(told)  # whoever is past this knows that all gradients are there
        norm = math.sqrt(float(told[1]))
        if update:
            self._is_torn = True
            state.update(norm)
            self._is_torn = False
            self.steps += 1
            self.consumed += samples
        return Done(self.steps, float(told[0]), norm, time.perf_counter() - started)

    def _planned(self) -> tuple[Plan, State]:
        if self.plan is None or self._state is None:
            raise ValueError("this trainer has no plan yet: `switch` to one, with all other processes")
        return self.plan, self._state

    def _laid_out(self, plan: Plan) -> Layout:
        layout = lay_out(plan, self.config, self._slicing.chunks)
        for seat in layout.boxes:
            self._world.process(seat)
        self._world.prepare(groups_of(layout))
        return layout

    def _state_for(self, layout: Layout) -> State:
        return State(self._world, layout, self._dtype, self._device, self.adam, sharded=self.sharded)

    def _take_up(self, plan: Plan, layout: Layout) -> None:
        """Make what carries out a plan; groups are made in one order on all ranks."""
        state = self._state
        self.plan, self._course, self._pipeline = plan, None, 0
        self._largest = self._largest or max(len(each.ranks) for row in layout.pipelines for each in row)
        for number, row in enumerate(layout.pipelines):
            if state is not None and any(self.seat in each.ranks for each in row):
                self._pipeline = number
                self._course = Course(
                    self._world,
                    layout,
                    number,
                    self.config,
                    state.parameters,
                    plan.pipelines[number].micros,
                    self._slicing,
                    self._compute,
                )

    def _timing(self, course: Course) -> Timing:
        alpha = longer(self._alpha, course.size, self._largest)
        return Timing(course.seconds, course.layers, course.micros, alpha)
