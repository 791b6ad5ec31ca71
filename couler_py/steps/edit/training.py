"""A training loop around `LocalSGD`: the built-in decoder on a folder of tokens, on any number of ranks."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import torch
from torch import distributed
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.utils.checkpoint import checkpoint

from couler_py.steps.checkpoint.saving import any_saved, own
from couler_py.steps.corpus.order import Order
from couler_py.steps.corpus.tokens import Rows
from couler_py.steps.edit import state
from couler_py.steps.edit.local_sgd import LocalSGD
from couler_py.steps.edit.mesh import SHARDS, replica_mesh
from couler_py.steps.edit.rounds import Round
from couler_py.steps.edit.tracing import COMPUTE
from couler_py.steps.models.decoder import Decoder, build, next_token_loss
from couler_py.steps.models.folders import save

if TYPE_CHECKING:
    from torch import Tensor
    from torch.distributed import DeviceMesh

    from couler_py.steps.edit.channel import Listen
    from couler_py.steps.edit.members import Change, Members
    from couler_py.steps.edit.task import Task
    from couler_py.steps.edit.tracing import Tracer

BATCHES = "batches"


class Seen(msgspec.Struct, frozen=True):
    """The loss on held-out rows, with the parameters that all replicas agreed on."""

    steps: float
    """Optimizer steps before it: the mean over replicas."""
    seconds: float
    loss: float


class Told(msgspec.Struct, frozen=True):
    """What a training was like, as its first rank saw it."""

    losses: tuple[float, ...]
    """Of each step of the first replica, on its own rows."""
    seen: tuple[Seen, ...]
    rounds: tuple[Round, ...]
    seconds: float
    tokens: int
    """Of all replicas together."""
    between: int
    """Bytes that this rank put into collectives between replicas."""
    waited: float


def train(
    task: Task,
    data: str | os.PathLike[str],
    *,
    checkpoints: str | os.PathLike[str] | None = None,
    altered: Callable[[int, int, Tensor], Tensor] = lambda _replica, _step, rows: rows,
    pause: Callable[[int, int], None] = lambda _replica, _step: None,
    listen: Listen | None = None,
    members: Members | None = None,
    tracer: Tracer | None = None,
) -> tuple[Decoder, Told]:
    """Train on all ranks, from the newest checkpoint where there is one; gives the model, sharded as it was trained.

    `altered` changes the rows of a replica's step, and `pause` is called before one: for experiments. With `members`
    the ranks are one replica, others come and go, and `task.replicas` are those that begin. Raises `ValueError` for
    checkpoints of such a training: nobody knows who would be there to go on from them.
    """
    if members is not None and (checkpoints is not None or task.save_every is not None):
        raise ValueError("a training that replicas join and leave writes no checkpoints: each goes on from the others")
    cuda = torch.cuda.is_available()
    device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", 0))) if cuda else torch.device("cpu")
    mesh = replica_mesh(1 if members else task.replicas, task.shards, device.type)
    model = _sharded(build(task.model, task.seed, device=device), task, mesh)
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=task.inner.lr, betas=task.inner.betas, weight_decay=task.inner.weight_decay
    )
    rounds: list[Round] = []
    local = LocalSGD(
        model, optimizer, task.settings, mesh, watch=rounds.append, listen=listen, members=members, tracer=tracer
    )
    loop = Loop(task, Rows(Path(data), task.sequence), local, device)
    if members is not None:
        members.facts, members.changed = loop.read, loop.regroup
    with local:
        if checkpoints is not None and any_saved(checkpoints):
            loop.restore(state.load(local, checkpoints).facts)
        loop.run(checkpoints, altered, pause)
    between = sum(each.between for each in rounds) + local.between.bytes
    told = Told(
        losses=tuple(loop.losses),
        seen=tuple(loop.seen),
        rounds=tuple(rounds),
        seconds=time.monotonic() - loop.began,
        tokens=loop.steps * task.batch * task.sequence,
        between=between,
        waited=sum(each.waited for each in rounds),
    )
    return model, told


class Loop:
    """The loop itself, and what it counts."""

    def __init__(self, task: Task, rows: Rows, local: LocalSGD, device: torch.device):
        if len(rows) <= task.held_out:
            raise ValueError(f"{len(rows)} rows of {task.sequence} tokens, and {task.held_out} of them are held out")
        self.task, self.rows, self.local, self.device = task, rows, local, device
        self.order = Order(len(rows) - task.held_out, task.seed)
        self.replica, self.shard = local.between.rank, local.within.rank
        self.replicas = local.between.size
        self.first = 0
        """The batch from which on batches are dealt out in turn to the replicas that there are now."""
        self.batches = 0
        """Batches that this replica has read since then."""
        self.losses: list[float] = []
        self.seen: list[Seen] = []
        self.began = time.monotonic()

    @property
    def progress(self) -> float:
        """Optimizer steps so far: this replica's, or, where the clock calls rounds, the mean of all at the last one."""
        timing, settings = self.local.timing, self.task.settings
        if settings.sync_seconds is None or not self.local.anchored:
            return timing.step
        return settings.warmup + self.local.agreed_steps / self.task.replicas

    @property
    def steps(self) -> int:
        """Optimizer steps of all replicas together."""
        if self.local.members is None:
            return round(self.progress * self.task.replicas)
        return self.task.settings.warmup * self.task.replicas + self.local.agreed_steps

    def read(self) -> tuple[int, ...]:
        """Up to which batch everything has been dealt out."""
        return (self.first + self.batches * self.replicas,)

    def regroup(self, change: Change) -> None:
        """Go on with other replicas, where nobody has read yet."""
        (self.first,) = change.facts
        self.replica, self.replicas, self.batches = change.replica, change.replicas, 0

    def run(
        self,
        checkpoints: str | os.PathLike[str] | None,
        altered: Callable[[int, int, Tensor], Tensor],
        pause: Callable[[int, int], None],
    ) -> None:
        """Step until all steps are made, and agree a last time."""
        marks = self._marks()
        members = self.local.members
        while self.progress < self.task.steps and not (members and members.gone):
            pause(self.replica, self.local.timing.step)
            self._step(altered)
            met, marks = marks, self._marks()
            if met != marks:
                if _every(self.task.evaluate_every, marks):
                    self.seen.append(self._look())
                if checkpoints is not None and _every(self.task.save_every, marks):
                    state.save(self.local, checkpoints, own(f"replica-{self.replica}", {BATCHES: self.batches}))
        self.local.finish()
        self.seen.append(self._look())

    def restore(self, facts: dict[str, object]) -> None:
        """Go on reading where replicas were; other ones share what is left from where all of them were together."""
        kept = [value for name, value in facts.items() if name.endswith(f"/{BATCHES}")]
        counts = [int(value) for value in kept if isinstance(value, int)]
        mine = facts.get(f"own/replica-{self.replica}/{BATCHES}")
        if len(counts) == self.task.replicas and isinstance(mine, int):
            self.batches = mine
        else:
            self.batches = -(-sum(counts) // self.task.replicas)

    def _marks(self) -> int:
        """What evaluations and checkpoints are counted by: the same on all replicas when it changes."""
        if self.task.settings.sync_seconds is None or not self.local.anchored:
            return self.local.timing.step
        return self.local.rounds

    def _step(self, altered: Callable[[int, int, Tensor], Tensor]) -> None:
        task, local, span = self.task, self.local, self.local.tracer.span
        for group in local.optimizer.param_groups:
            group["lr"] = task.inner.rate(self.progress, task.steps)
        begin = (self.first + self.batches * self.replicas + self.replica) * task.batch
        self.batches += 1
        numbers = self.order.batch(begin, task.batch, self.shard, task.shards)
        rows = altered(self.replica, local.timing.step, torch.from_numpy(self.rows.take(numbers)))
        total = 0.0
        for part in rows.to(self.device).chunk(task.accumulate):
            with span(COMPUTE, "forward"):
                loss = self._loss(part) / task.accumulate
            with span(COMPUTE, "backward"):
                loss.backward()
            total += float(loss.detach())
        if task.inner.clip is not None:
            torch.nn.utils.clip_grad_norm_(local.model.parameters(), task.inner.clip)
        with span(COMPUTE, "optimizer"):
            local.optimizer.step()
            local.optimizer.zero_grad()
        self.losses.append(total)

    def _loss(self, rows: Tensor) -> Tensor:
        with self._precision():
            return next_token_loss(self.local.model(rows[:, :-1]), rows[:, 1:])

    def _precision(self) -> AbstractContextManager[object]:
        narrow = self.task.precision == "bf16" and self.task.shards == 1
        return torch.autocast(self.device.type, torch.bfloat16) if narrow else nullcontext()

    @torch.no_grad()
    def _look(self) -> Seen:
        self.local.model.eval()
        with self.local.averaged():
            held = range(len(self.rows) - self.task.held_out, len(self.rows))
            parts = [self.rows.take(held[n : n + 32]) for n in range(0, len(held), 32)]
            losses = [float(self._loss(torch.from_numpy(part).to(self.device))) * len(part) for part in parts]
        self.local.model.train()
        return Seen(self.progress, time.monotonic() - self.began, sum(losses) / len(held))


def save_model(model: Decoder, folder: str | os.PathLike[str]) -> None:
    """Write the whole model as a folder that transformers reads; all ranks call it, the first one writes."""
    options = StateDictOptions(full_state_dict=True, cpu_offload=True)
    gathered = get_model_state_dict(model, options=options)
    if not distributed.is_initialized() or distributed.get_rank() == 0:
        whole = build(model.config)
        whole.load_state_dict(gathered)
        save(whole, Path(folder))


def _sharded(model: Decoder, task: Task, mesh: DeviceMesh) -> Decoder:
    if task.recompute:
        for layer in model.layers:
            layer.forward = _recomputed(layer.forward)
    if task.shards > 1:
        narrow = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
        policy = narrow if task.precision == "bf16" else MixedPrecisionPolicy()
        for layer in model.layers:
            fully_shard(layer, mesh=mesh[SHARDS], mp_policy=policy)
        fully_shard(model, mesh=mesh[SHARDS], mp_policy=policy)
    return model


def _recomputed(forward: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def run(*given: object) -> Tensor:
        made: Tensor = checkpoint(forward, *given, use_reentrant=False)
        return made

    return run


def _every(count: int | None, marks: int) -> bool:
    return count is not None and marks % count == 0
