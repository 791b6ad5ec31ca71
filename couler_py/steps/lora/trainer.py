"""Many trainings on one base: who is at work, their passes, and what becomes of each.

>>> trainer = Trainer(host, Policy(concurrency=4))  # doctest: +SKIP
>>> trainer.submit(job)  # doctest: +SKIP
>>> trainer.run()["math"].losses[-1]  # doctest: +SKIP
0.41
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from couler_py.steps.lora.data import Encoder, Example, OfBytes, examples_of
from couler_py.steps.lora.exporting import read
from couler_py.steps.lora.grouping import Shape, groups
from couler_py.steps.lora.jobs import Job, Policy
from couler_py.steps.lora.measuring import Meter, out_of_memory, within_memory
from couler_py.steps.lora.objectives import DPO
from couler_py.steps.lora.passes import Learned, Piece, learn, losses_of
from couler_py.steps.lora.roster import HOST, Roster
from couler_py.steps.lora.tuning import Tuning, share_of
from couler_py.steps.lora.weights import Weights
from couler_py.steps.models.decoder import stream

if TYPE_CHECKING:
    from couler_py.steps.lora.admission import Need
    from couler_py.steps.lora.hosting import Host


class Trainer(Roster):
    """Jobs that train together, one turn of passes after another.

    In each turn every job at work makes one backward; jobs step, end, begin and make room for others between turns.
    What a job learns is the same in any company, within the rounding of sums. `ended` is called with the name of a job
    when it has ended.
    """

    def __init__(
        self,
        host: Host,
        policy: Policy = Policy(),
        *,
        encoder: Encoder = OfBytes(),
        root: str | Path = "",
        ended: Callable[[str], None] = lambda _name: None,
    ):
        super().__init__(host, policy, encoder, root, ended)
        self.meter = Meter(host, policy.memory)
        self.passes = 0
        self.peak = 0
        """The most bytes so far: the base, all that was at work at once, and the largest pass that was measured."""
        self._places = self._tokens = 0

    @property
    def padding(self) -> float:
        """The part of all places in passes that held no token."""
        return 1 - self._tokens / self._places if self._places else 0.0

    def turn(self) -> bool:
        """One backward of every job at work; False where there is none left."""
        running = self._admitted()
        if not running:
            return self.has_more
        self.turns += 1
        found = {tuning.job.name: tuning.piece() for tuning in running}
        shapes = [Shape(len(found[each.job.name].rows), found[each.job.name].length) for each in running]
        room = self._room(running)

        def fits(rows: int, length: int) -> bool:
            small = self.meter.most is None or rows * length < self.meter.most
            return self.policy.fuse and small and (room is None or self.meter.model.bytes(rows, length) <= room)

        for group in groups(shapes, fits, self.policy.overhead):
            members = [running[number] for number in group]
            self._pass(members, [found[each.job.name] for each in members])
        return True

    def _pass(self, members: Sequence[Tuning], pieces: Sequence[Piece]) -> None:
        """One forward and backward; where memory ends in company, each job tries alone, and ends if it must."""
        began = time.monotonic()
        try:
            with self.meter.measured(pieces):
                told = learn(self.host, pieces)
        except (RuntimeError, MemoryError) as problem:
            if not out_of_memory(problem):
                raise
            self.meter.full(pieces)
            if len(members) == 1:
                rows, length = len(pieces[0].rows), pieces[0].length
                reason = f"memory ends in a backward of {rows} rows of {length} tokens: take a smaller micro_batch"
                self._end(members[0], "failed", f"{reason} or cutoff ({problem})")
                return
        else:
            self._counted(pieces)
            self._taken(members, pieces, told, time.monotonic() - began)
            return
        for member, piece in zip(members, pieces, strict=True):
            self._pass([member], [piece])

    def _counted(self, pieces: Sequence[Piece]) -> None:
        length = min(self.host.context, max(piece.length for piece in pieces))
        self.passes += 1
        self._places += length * sum(len(piece.rows) for piece in pieces)
        self._tokens += sum(len(row.tokens) for piece in pieces for row in piece.rows)
        at_work = sum(each.state_bytes for each in self.tunings.values() if each.progress.state == "running")
        self.peak = max(self.peak, self.host.size + at_work + self.meter.peak)

    def _taken(
        self, members: Sequence[Tuning], pieces: Sequence[Piece], told: Sequence[Learned], seconds: float
    ) -> None:
        """Give each job its gradients, and tell those that have a step's worth of them to move."""
        rows = sum(len(piece.rows) for piece in pieces)
        losses = torch.stack([each.loss.double() for each in told]).tolist()
        whole = []
        for member, piece, learned, loss in zip(members, pieces, told, losses, strict=True):
            member.progress.seconds += seconds * len(piece.rows) / rows
            if member.take(piece, learned, loss):
                whole.append(member)
        if whole:
            self._moved(whole)

    def _moved(self, whole: Sequence[Tuning]) -> None:
        """Move the jobs that have all gradients of their step, and see what becomes of them."""
        norms = torch.stack([member.norm().double() for member in whole]).tolist()
        problems = [self._step(member, norm) for member, norm in zip(whole, norms, strict=True)]
        for member, problem in zip(whole, self.anywhere(problems), strict=True):
            if problem:
                self._end(member, "failed", problem)
            elif member.progress.step >= member.steps:
                self._end(member, "done", "all its steps are made")
            elif member.worn_out():
                self._end(member, "stopped", "its loss on held-out lines has stopped falling")

    def _step(self, member: Tuning, norm: float) -> str:
        """Move a job, and look at it where that is due; gives why it can't go on, or nothing."""
        problem = member.finish(norm)
        if problem or not member.evaluate_now():
            return problem
        where = "where its held-out lines are read: take a smaller micro_batch or cutoff"
        return within_memory(lambda: member.look(self.loss(member, member.held_out)), where)

    @torch.no_grad()
    def loss(self, tuning: Tuning, examples: Sequence[Example]) -> float:
        """The loss of a job's adapter as it is now on some examples, with nothing left out."""
        share, micro, total = share_of(tuning.job, examples), tuning.job.micro, 0.0
        for begin in range(0, len(examples), micro):
            some = examples[begin : begin + micro]
            piece = Piece(some, tuning.job.objective, tuning.weights, share, reference=tuning.reference)
            total += float(losses_of(self.host, [piece])[0])
        return total

    @property
    def _memory(self) -> tuple[float | None, Need]:
        return self.meter.budget, self.meter.model.bytes

    def _room(self, running: Sequence[Tuning]) -> float | None:
        budget = self.meter.budget
        return None if budget is None else budget - sum(each.state_bytes for each in running)

    def _prepared(self, job: Job) -> Tuning:
        samples = examples_of(job, self.encoder, self.host.vocabulary, self.host.context, self.root)
        if job.adapter.start:
            weights = read(job.adapter.start, self.host, job.adapter)
        else:
            weights = Weights(job.adapter, self.host.targets(job.adapter.targets), stream(job.seed, "adapter"))
        reference = None
        if isinstance(job.objective, DPO) and job.objective.reference:
            reference = read(job.objective.reference, self.host)
        tuning = Tuning(job, samples, weights, reference)
        tuning.move_to(HOST)
        return tuning
