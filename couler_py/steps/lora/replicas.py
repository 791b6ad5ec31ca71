"""Replicas of one base that train many adapters together, each with micro-batches that fit it (LobRA, PVLDB 18(8)).

Every process has the base, all adapters and their optimizers. In each step rows are dealt out anew, gradients of
adapters are summed over processes, and all make the same step: the base is never sent. Losses are divided by a job's
tokens or pairs of the whole step, so what a job learns doesn't depend on who did which rows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import torch

from couler_py.steps.lora.jobs import Policy
from couler_py.steps.lora.passes import Piece, learn
from couler_py.steps.lora.planning.asking import Deployed, Dispatched, Work, dispatched
from couler_py.steps.lora.trainer import Trainer
from couler_py.steps.lora.tuning import share_of
from couler_py.steps.models.decoder import stream

if TYPE_CHECKING:
    from torch import Tensor

    from couler_py.steps.lora.data import Example
    from couler_py.steps.lora.hosting import Host
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
            return False
        self.turns += 1
        lengths = {each.job.name: [_tokens(example) for example in each.examples] for each in running}
        self.dispatch = dispatched(self.plan, lengths)
        losses = [0.0] * len(running)
        for work in self.dispatch.replicas[self.number]:
            self._work(work, running, losses)
        for member, loss in zip(running, self._summed(running, losses), strict=True):
            member.whole(loss)
        self._moved(running)
        return True

    def _work(self, work: Work, running: Sequence[Tuning], losses: list[float]) -> None:
        """One micro-batch: gradients add up in the parameters."""
        wanted: defaultdict[str, list[int]] = defaultdict(list)
        for task, number in work.rows:
            wanted[task].append(number)
        members = [at for at, member in enumerate(running) if member.job.name in wanted]
        pieces = [_piece(running[at], wanted[running[at].job.name]) for at in members]
        for at, piece, learned in zip(members, pieces, learn(self.host, pieces), strict=True):
            losses[at] += float(learned.loss)
            for parameter, gradient in zip(piece.weights.parameters, learned.gradients, strict=True):
                parameter.grad = gradient if parameter.grad is None else parameter.grad + gradient
        self._counted(pieces)

    def _summed(self, running: Sequence[Tuning], losses: Sequence[float]) -> list[float]:
        """Add up gradients and losses of all replicas, in one message."""
        parameters = [parameter for member in running for parameter in member.weights.parameters]
        rows = [(torch.zeros_like(each) if each.grad is None else each.grad).flatten() for each in parameters]
        told = torch.tensor(losses, dtype=rows[0].dtype, device=rows[0].device)
        sums = torch.cat([*rows, told])
        self.total(sums)
        *parts, told = sums.split([*(each.numel() for each in parameters), len(losses)])
        for parameter, part in zip(parameters, parts, strict=True):
            parameter.grad = part.view_as(parameter).clone()
        return [float(loss) for loss in told]


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
