"""Some steps of some jobs on one stage of a pipeline: who does what in which order is fixed beforehand.

What this stage can't do of a job ends the job here: the others are sent numbers that are none in its place, so that
nobody waits, and a norm that is below 0 tells them.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch

from couler_py.steps.hybrid.runtime.channels import Like
from couler_py.steps.hybrid.runtime.section import Passing
from couler_py.steps.hybrid.timeline import Op
from couler_py.steps.lora.losses import loss_of
from couler_py.steps.lora.measuring import out_of_memory
from couler_py.steps.lora.objectives import DPO
from couler_py.steps.lora.passes import Batch, Piece, batch_of
from couler_py.steps.lora.planning.messages import with_norms
from couler_py.steps.models.decoder import next_token_loss, rotary

if TYPE_CHECKING:
    from torch import Tensor

    from couler_py.steps.hybrid.runtime.handing import Handing
    from couler_py.steps.hybrid.runtime.section import SectionModule
    from couler_py.steps.lora.hosting import Host
    from couler_py.steps.lora.planning.pipeline import Schedule
    from couler_py.steps.lora.tuning import Tuning

OVER = -1.0
"""In place of a norm, or of a sum of squares: the job goes no further."""


class Round:
    """Steps of jobs, from where each is, in the order of a schedule; all stages make one each and run it together."""

    def __init__(
        self, stage: int, handing: Handing, module: SectionModule, host: Host, tunings: Sequence[Tuning], plan: Schedule
    ):
        self.stage, self.schedule = stage, plan
        self.did: list[Op] = []
        self.peak = 0
        """The most micro-batches that this stage kept activations of."""
        self.over: dict[int, str] = {}
        """Jobs that went no further, with the reason where it is this stage's."""
        self._handing, self._host, self._module, self._tunings = handing, host, module, tunings
        self._begun = [tuning.progress.step for tuning in tunings]
        self._passing: dict[Op, Passing] = {}
        self._losses: defaultdict[int, float] = defaultdict(float)
        self._norms: dict[int, float] = {}

    def run(self) -> None:
        """Make all steps."""
        order = with_norms(self.schedule)[self.stage]
        self._handing.begin(order, self._like)
        for op in order:
            if op.slice:
                self._norm(op)
            elif op.kind == "F":
                self._forward(op)
            else:
                self._backward(op)
        self._handing.end()

    def _piece(self, micro: int) -> Piece:
        job, step, number = self.schedule.whose[micro]
        return self._tunings[job].piece_of(self._begun[job] + step, number)

    def _like(self, op: Op) -> Like:
        device = self._host.device
        if op.slice:
            return Like((1,), torch.float64, device)
        piece = self._piece(op.micro)
        rows = len(piece.rows) * (2 if isinstance(piece.objective, DPO) else 1)
        length = min(self._host.context, piece.length)
        return Like((rows, length, self._module.config.hidden), next(self._module.parameters()).dtype, device)

    def _nothing(self, op: Op) -> Tensor:
        like = self._like(op)
        return torch.full(like.shape, math.nan, dtype=like.dtype, device=like.device)

    def _forward(self, op: Op) -> None:
        came, left = self._handing.take(op), None
        if self._job(op) not in self.over:
            try:
                left = self._passed(op, came)
            except (RuntimeError, MemoryError) as problem:
                self._no_memory(op, "forward", problem)
        self.did.append(op)
        if not self._module.is_last:
            self._handing.give(op, self._nothing(op) if left is None else left)

    def _passed(self, op: Op, came: Tensor | None) -> Tensor:
        piece = self._piece(op.micro)
        batch = _with_reference(batch_of([piece], self._host.context, self._host.device), piece)
        entered = batch.tokens if came is None else came.requires_grad_()
        config, length = self._module.config, batch.tokens.shape[1]
        positions = torch.arange(length, device=self._host.device)[None]
        turns = rotary(positions, config.head, config.rope_theta, next(self._module.parameters()).dtype)
        with self._host.running(batch.valid, piece.parts(0)):
            left: Tensor = self._module(entered, turns, None, [None] * len(self._module.layers))
        if self._module.is_last:
            told = next_token_loss(left, batch.targets, "none").view(batch.targets.shape)
            rows = len(piece.rows)
            loss = loss_of(piece.objective, told[:rows], told[rows:].detach(), piece.share)
            self._losses[self._job(op)] += float(loss.detach())
            left = loss * piece.scale
        self._passing[op] = Passing(entered, left)
        self.peak = max(self.peak, len(self._passing))
        return left

    def _backward(self, op: Op) -> None:
        grad, found = self._handing.take(op), None
        passing = self._passing.pop(op._replace(kind="F"), None)
        # The first stage has nothing to learn where no adapter stands beside its layers.
        if passing is not None and passing.left.requires_grad:
            try:
                found = passing.backward(grad)
            except (RuntimeError, MemoryError) as problem:
                self._no_memory(op, "backward", problem)
        self.did.append(op)
        if self.stage:
            self._handing.give(op, self._nothing(op) if found is None else found)

    def _norm(self, op: Op) -> None:
        """Pass a norm on: squares up the pipeline, the sum's root down again."""
        job, came = self._job(op), self._handing.take(op)
        number = 0.0 if came is None else float(came)
        if op.kind == "B":
            if job in self.over or number < 0:
                number = OVER
            else:
                norm = float(self._tunings[job].norm())
                number += norm * norm  # of a large one inf, which `finish` knows; a power would be an error
            if self.stage == 0:
                self._finish(job, number if number < 0 else math.sqrt(number))
        elif self.stage:
            self._finish(job, number)
        else:
            number = self._norms[job]
        self._handing.give(op, torch.tensor([number], dtype=torch.float64, device=self._host.device))

    def _finish(self, job: int, norm: float) -> None:
        self._norms[job] = norm
        if norm < 0:
            self._leave(job, "")
        if job in self.over:
            return
        tuning = self._tunings[job]
        tuning.whole(self._losses.pop(job, 0.0))
        problem = tuning.finish(norm)
        if problem:
            self._leave(job, problem)

    def _no_memory(self, op: Op, what: str, problem: BaseException) -> None:
        if not out_of_memory(problem):
            raise problem
        piece = self._piece(op.micro)
        where = f"memory ends on stage {self.stage} in a {what} of {len(piece.rows)} rows of {piece.length} tokens"
        self._leave(self._job(op), f"{where}: take a smaller micro_batch or cutoff, or more stages ({problem})")

    def _leave(self, job: int, reason: str) -> None:
        self.over.setdefault(job, reason)
        self._passing = {op: each for op, each in self._passing.items() if self._job(op) != job}
        self._tunings[job].optimizer.zero_grad(set_to_none=True)

    def _job(self, op: Op) -> int:
        return self.schedule.whose[op.micro][0]


def _with_reference(batch: Batch, piece: Piece) -> Batch:
    """DPO's rows twice: those of its reference, the base, go through the same pass."""
    if not isinstance(piece.objective, DPO):
        return batch
    tokens, targets, valid = (torch.cat([each, each]) for each in batch[:3])
    return Batch(tokens, targets, valid, batch.bounds)
