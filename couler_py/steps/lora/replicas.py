"""Replicas of one base that train many adapters together, each with micro-batches that fit it (LobRA, PVLDB 18(8)).

Every process has the base, all adapters and their optimizers. In each step rows are dealt out anew, gradients of
adapters are summed over processes, and all make the same step: the base is never sent. Losses are divided by a job's
tokens or pairs of the whole step, so what a job learns doesn't depend on who did which rows. What one process can't do
of a job, for want of memory or data, ends that job in all, and no other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import torch

from couler_py.steps.lora.jobs import Job, Policy
from couler_py.steps.lora.measuring import out_of_memory
from couler_py.steps.lora.passes import Learned, Piece, learn
from couler_py.steps.lora.planning.asking import Deployed, Dispatched, Work, dispatched
from couler_py.steps.lora.trainer import Trainer
from couler_py.steps.lora.tuning import share_of
from couler_py.steps.models.decoder import stream

if TYPE_CHECKING:
    from torch import Tensor

    from couler_py.steps.lora.data import Example
    from couler_py.steps.lora.hosting import Host
    from couler_py.steps.lora.planning.costs import Config
    from couler_py.steps.lora.tuning import Tuning


def over_processes(sums: Tensor) -> None:
    """Add up a tensor over the default process group, in place."""
    import torch.distributed as dist

    dist.all_reduce(sums)


class ReplicaTrainer(Trainer):
    """One replica of a plan; the processes of all replicas make one each, submit the same jobs, and run together.

    `number` is this replica's place in the plan, `total` adds up a tensor over all of them. A turn is one step of every
    job at work. Dropout is drawn for each example of a step by itself: as any plan draws it, and unlike `Trainer`,
    which draws for micro-batches. How much fits is what the plan says, so there is no other limit of memory.

    Raises `ValueError` for a place that the plan hasn't, and a replica of several ranks: here each is one process.
    """

    def __init__(
        self,
        host: Host,
        plan: Deployed,
        number: int,
        policy: Policy = Policy(),
        *,
        total: Callable[[Tensor], None] = over_processes,
        **options: Any,
    ):
        if not 0 <= number < len(plan.replicas):
            raise ValueError(f"replica {number} of a plan that has {len(plan.replicas)}")
        if several := [config for config in plan.replicas if config.ranks > 1]:
            raise ValueError(f"replica {several[0]} has {several[0].ranks} ranks: here each is one process")
        super().__init__(host, policy, **options)
        self.plan, self.number, self.total = plan, number, total
        self.meter.budget = None
        self.dispatch: Dispatched | None = None
        """Of the last step: the same on all replicas."""

    def turn(self) -> bool:
        """One step of every job at work; False where there is none left."""
        running = self._admitted()
        if not running:
            return self.has_more
        self.turns += 1
        lengths = {each.job.name: [_tokens(example) for example in each.examples] for each in running}
        self.dispatch = dispatched(self.plan, lengths)
        losses, problems = [0.0] * len(running), [""] * len(running)
        for work in self.dispatch.replicas[self.number]:
            self._work(work, running, losses, problems)
        whole = []
        losses, problems = self._summed(running, losses, problems)
        for member, loss, problem in zip(running, losses, problems, strict=True):
            if problem:
                self._end(member, "failed", problem)
            else:
                member.whole(loss)
                whole.append(member)
        if whole:
            self._moved(whole)
        return True

    def _work(self, work: Work, running: Sequence[Tuning], losses: list[float], problems: list[str]) -> None:
        """One micro-batch: gradients add up in the parameters."""
        wanted: defaultdict[str, list[int]] = defaultdict(list)
        for task, number in work.rows:
            wanted[task].append(number)
        members = [at for at, member in enumerate(running) if member.job.name in wanted and not problems[at]]
        pieces = [_piece(running[at], wanted[running[at].job.name]) for at in members]
        done = []
        for at, piece, learned in zip(members, pieces, self._learned(pieces), strict=True):
            if learned is None:
                rows = f"{len(piece.rows)} rows of {piece.length} tokens"
                problems[at] = f"memory ends in a micro-batch of {rows}: plan with fewer tokens for {self._config}"
                continue
            losses[at] += float(learned.loss)
            for parameter, gradient in zip(piece.weights.parameters, learned.gradients, strict=True):
                parameter.grad = gradient if parameter.grad is None else parameter.grad + gradient
            done.append(piece)
        if done:
            self._counted(done)

    def _learned(self, pieces: Sequence[Piece]) -> list[Learned | None]:
        """Of each piece, from one pass; where memory ends in company, each alone, and None where it ends then."""
        if not pieces:
            return []
        try:
            return list(learn(self.host, pieces))
        except (RuntimeError, MemoryError) as problem:
            if not out_of_memory(problem):
                raise
            self.meter.full(pieces)
        if len(pieces) == 1:
            return [None]
        return [self._learned([piece])[0] for piece in pieces]

    def _summed(
        self, running: Sequence[Tuning], losses: Sequence[float], problems: Sequence[str]
    ) -> tuple[list[float], list[str]]:
        """Add up gradients and losses of all replicas, with who can't go on with what, in one message."""
        parameters = [parameter for member in running for parameter in member.weights.parameters]
        rows = [(torch.zeros_like(each) if each.grad is None else each.grad).flatten() for each in parameters]
        told = torch.tensor(losses, dtype=rows[0].dtype, device=rows[0].device)
        marks = self._marks(problems).to(told)
        sums = torch.cat([*rows, told, marks])
        self.total(sums)
        *parts, told, marks = sums.split([*(each.numel() for each in parameters), len(losses), len(marks)])
        for parameter, part in zip(parameters, parts, strict=True):
            parameter.grad = part.view_as(parameter).clone()
        return [float(loss) for loss in told], self._known(problems, marks)

    def anywhere(self, problems: Sequence[str]) -> list[str]:
        marks = self._marks(problems).to(self.host.device)
        self.total(marks)
        return self._known(problems, marks)

    def _marks(self, problems: Sequence[str]) -> Tensor:
        """By replica and job: 1 where this replica can't go on with it."""
        marks = torch.zeros(len(self.plan.replicas), len(problems))
        marks[self.number] = torch.tensor([float(bool(problem)) for problem in problems])
        return marks.flatten()

    def _known(self, problems: Sequence[str], marks: Tensor) -> list[str]:
        """What is wrong with each job on the first replica that can't go on with it, which alone knows more."""
        found = []
        for problem, column in zip(problems, marks.view(-1, len(problems)).T.tolist(), strict=True):
            replica = column.index(1.0) if 1.0 in column else None
            if replica is not None and not problem:
                problem = f"replica {replica}, {self.plan.replicas[replica]}, can't go on with it, and says why"
            found.append(problem)
        return found

    @property
    def _config(self) -> Config:
        return self.plan.replicas[self.number]

    def _prepared(self, job: Job) -> Tuning:
        tuning = super()._prepared(job)
        longest = max(_tokens(example) for example in tuning.samples)
        most = max(config.tokens for config in self.plan.replicas)
        if longest > most:
            raise ValueError(f"it has an example of {longest} tokens, and no replica holds more than {most}")
        return tuning


def _tokens(example: Example) -> int:
    """What an example takes of a micro-batch: a pair is two rows of its length."""
    return example.length * len(example.rows)


def _piece(member: Tuning, numbers: Sequence[int]) -> Piece:
    """Some examples of a job's step; dropout is drawn for each by itself."""
    job, examples = member.job, member.examples
    seeds = None
    if job.adapter.dropout:
        seeds = [stream(job.seed, f"dropout/{member.progress.step}/example {number}") for number in numbers]
    return Piece(
        [examples[number] for number in numbers],
        job.objective,
        member.weights,
        share_of(job, examples),
        member.progress.scale,
        reference=member.reference,
        seeds=seeds,
    )
