"""Many jobs in one pipeline of processes: while one job's micro-batch is down the pipe, another's enters (mLoRA, 3.2).

Each stage holds some layers of the base, and of every adapter what stands beside them, with its optimizer. Who does
what in which order is fixed beforehand, so nothing can deadlock, and what a job learns is what it learns alone.
"""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import msgspec
import torch
import torch.distributed as dist

from couler_py.steps.hybrid.layout import lay_out
from couler_py.steps.hybrid.plan import Pipeline, Plan, Stage
from couler_py.steps.hybrid.runtime.channels import Like
from couler_py.steps.hybrid.runtime.course import groups_of
from couler_py.steps.hybrid.runtime.handing import Handing
from couler_py.steps.hybrid.runtime.section import Passing, SectionModule
from couler_py.steps.hybrid.runtime.world import World
from couler_py.steps.hybrid.timeline import Op
from couler_py.steps.lora.data import Encoder, OfBytes, examples_of
from couler_py.steps.lora.hosting import Host
from couler_py.steps.lora.jobs import Job, checked
from couler_py.steps.lora.losses import loss_of
from couler_py.steps.lora.objectives import DPO
from couler_py.steps.lora.passes import Batch, Piece, batch_of
from couler_py.steps.lora.planning.messages import with_norms
from couler_py.steps.lora.planning.pipeline import Job as Turns
from couler_py.steps.lora.planning.pipeline import Schedule, schedule
from couler_py.steps.lora.tuning import Progress, Tuning
from couler_py.steps.lora.weights import Weights
from couler_py.steps.models.decoder import Decoder, next_token_loss, rotary, stream

if TYPE_CHECKING:
    from pathlib import Path


class Piped(NamedTuple):
    """What became of all jobs, the same on every stage."""

    progress: dict[str, Progress]
    weights: dict[str, Weights]
    """Whole adapters, in the host's memory; they stand beside no layers."""
    orders: tuple[tuple[Op, ...], ...]
    """What each stage did, in this order."""
    peak: tuple[int, ...]
    """The most micro-batches that each stage kept activations of."""
    seconds: float


class PipelineTrainer:
    """One stage of a pipeline through which jobs train; all processes of the default process group make one alike.

    `base` is the built-in decoder, whole; of its layers this process keeps its own. `in_flight` is how many
    micro-batches the first stage may keep activations of. A job moves by the norm of its whole gradient, and one whose
    gradient is no number stays where it is while the others go on. Lines that are held out are left out, and nobody is
    judged on the way.

    Raises `ValueError` for more stages than layers, and for what isn't known beforehand or lies in other processes:
    early stopping, an adapter to go on from, a reference that is an adapter, VeRA beside single layers.
    """

    def __init__(
        self,
        base: Decoder,
        jobs: Sequence[Job],
        *,
        encoder: Encoder = OfBytes(),
        root: str | Path = "",
        in_flight: int | None = None,
        timeout: float = 60.0,
    ):
        self.jobs, config = checked(tuple(jobs)), base.config
        self.stage, self.stages = dist.get_rank(), dist.get_world_size()
        if self.stages > config.layers:
            raise ValueError(f"{self.stages} stages of {config.layers} layers: each has at least one")
        edges = [config.layers * at // self.stages for at in range(self.stages + 1)]
        stages = tuple(Stage((at,), (edges[at], edges[at + 1])) for at in range(self.stages))
        layout = lay_out(Plan(config.layers, 1, (Pipeline(stages, 1),)), config)
        self._world = World(self.stage, timeout)
        self._world.prepare(groups_of(layout))
        self._handing = Handing(self._world, layout.pipelines[0], 0)
        own = {name: each for name, each in base.named_parameters() if name in layout.boxes[self.stage]}
        self._module = SectionModule(layout.pipelines[0][self.stage], config, own, None, None)
        self.host = Host(self._module)
        with torch.device("meta"):
            self._whole = Host(Decoder(config))
        self.tunings = [self._tuning(job, encoder, root) for job in self.jobs]
        self.schedule = self._scheduled([each.count for each in stages], in_flight)
        self._passing: dict[Op, Passing] = {}
        self._losses: defaultdict[int, float] = defaultdict(float)
        self._norms: dict[int, float] = {}
        self._ended: dict[int, Progress] = {}
        self._did: list[Op] = []
        self._peak = 0

    def run(self) -> Piped:
        """Train all jobs to their ends."""
        began = time.monotonic()
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
        return self._gathered(time.monotonic() - began)

    def _tuning(self, job: Job, encoder: Encoder, root: str | Path) -> Tuning:
        where, adapter = f"job {job.name!r}", job.adapter
        if job.stop is not None:
            raise ValueError(f"{where} may stop early: a pipeline's order is fixed beforehand")
        if adapter.start or (isinstance(job.objective, DPO) and job.objective.reference):
            raise ValueError(
                f"{where} begins with an adapter or refers to one: pipelines train new ones beside the base"
            )
        names = self._whole.targets(adapter.targets)
        kinds = {name.rpartition(".")[2] for name in names}
        if adapter.method == "vera" and len(names) < len(kinds) * self._module.config.layers:
            raise ValueError(
                f"{where}: VeRA's matrices are those of all layers: target kinds of layers, not single ones"
            )
        samples = examples_of(job, encoder, self.host.vocabulary, self.host.context, root)
        layers = {name: self.host.linears[name] for name in names if name in self.host.linears}
        return Tuning(job, samples, Weights(adapter, layers, stream(job.seed, "adapter")))

    def _scheduled(self, layers: Sequence[int], in_flight: int | None) -> Schedule:
        """The orders of all stages; a pass takes as long as it has tokens, a backward as long as its forward.

        The base is frozen: backward it gives gradients of inputs alone.
        """
        made = []
        for tuning in self.tunings:
            counts = tuple(tuning.pieces_of(step) for step in range(tuning.steps))
            tokens = float(tuning.job.rows * tuning.longest)
            made.append(Turns(tuning.steps, counts, tokens, tokens))
        mean = sum(layers) / len(layers)
        return schedule(made, self.stages, uneven=[count / mean for count in layers], in_flight=in_flight)

    def _piece(self, micro: int) -> Piece:
        job, step, number = self.schedule.whose[micro]
        return self.tunings[job].piece_of(step, number)

    def _like(self, op: Op) -> Like:
        device = self.host.device
        if op.slice:
            return Like((1,), torch.float64, device)
        piece = self._piece(op.micro)
        rows = len(piece.rows) * (2 if isinstance(piece.objective, DPO) else 1)
        length = min(self.host.context, piece.length)
        return Like((rows, length, self._module.config.hidden), self._dtype, device)

    @property
    def _dtype(self) -> torch.dtype:
        return next(self._module.parameters()).dtype

    def _forward(self, op: Op) -> None:
        came, piece = self._handing.take(op), self._piece(op.micro)
        batch = _with_reference(batch_of([piece], self.host.context, self.host.device), piece)
        entered = batch.tokens if came is None else came.requires_grad_()
        config, length = self._module.config, batch.tokens.shape[1]
        positions = torch.arange(length, device=self.host.device)[None]
        turns = rotary(positions, config.head, config.rope_theta, self._dtype)
        with self.host.running(batch.valid, piece.parts(0)):
            left = self._module(entered, turns, None, [None] * len(self._module.layers))
        if self._module.is_last:
            told = next_token_loss(left, batch.targets, "none").view(batch.targets.shape)
            rows = len(piece.rows)
            loss = loss_of(piece.objective, told[:rows], told[rows:].detach(), piece.share)
            self._losses[self.schedule.whose[op.micro][0]] += float(loss.detach())
            left = loss * piece.scale
        self._passing[op] = Passing(entered, left)
        self._peak = max(self._peak, len(self._passing))
        self._did.append(op)
        if not self._module.is_last:
            self._handing.give(op, left)

    def _backward(self, op: Op) -> None:
        grad = self._handing.take(op)
        passing = self._passing.pop(op._replace(kind="F"))
        # The first stage has nothing to learn where no adapter stands beside its layers.
        found = passing.backward(grad) if passing.left.requires_grad else None
        self._did.append(op)
        if found is not None:
            self._handing.give(op, found)

    def _norm(self, op: Op) -> None:
        """Pass a norm on: squares up the pipeline, the sum's root down again."""
        job = self.schedule.whose[op.micro][0]
        came = self._handing.take(op)
        number = 0.0 if came is None else float(came)
        if op.kind == "B":
            number += float(self.tunings[job].norm()) ** 2
            if self.stage == 0:
                self._finish(job, math.sqrt(number))
        elif self.stage:
            self._finish(job, number)
        else:
            number = self._norms[job]
        self._handing.give(op, torch.tensor([number], dtype=torch.float64, device=self.host.device))

    def _finish(self, job: int, norm: float) -> None:
        tuning, self._norms[job] = self.tunings[job], norm
        if job in self._ended:
            tuning.skip()
            return
        tuning.whole(self._losses.pop(job, 0.0))
        problem = tuning.finish(norm)
        if problem or tuning.progress.step == tuning.steps:
            progress = msgspec.structs.replace(tuning.progress)
            progress.state, progress.reason = ("failed", problem) if problem else ("done", "all its steps are made")
            self._ended[job] = progress

    def _gathered(self, seconds: float) -> Piped:
        own = [
            ({name: each.detach().cpu() for name, each in tuning.weights.trained.items()}, tuning.weights.frozen)
            for tuning in self.tunings
        ]
        told = self._world.gather(
            (own, [self._ended[at] for at in range(len(self.jobs))], tuple(self._did), self._peak)
        )
        progress, weights = {}, {}
        for at, job in enumerate(self.jobs):
            progress[job.name] = told[self.stages - 1][1][at]  # losses are known where they are made
            whole = Weights(job.adapter, {}, 0)
            for stage in range(self.stages):
                trained, frozen = told[stage][0][at]
                whole.trained |= {name: torch.nn.Parameter(each) for name, each in trained.items()}
                whole.frozen |= {name: each.cpu() for name, each in frozen.items()}
            weights[job.name] = whole
        orders, peak = (tuple(told[stage][part] for stage in range(self.stages)) for part in (2, 3))
        return Piped(progress, weights, orders, peak, seconds)


def _with_reference(batch: Batch, piece: Piece) -> Batch:
    """DPO's rows twice: those of its reference, the base, go through the same pass."""
    if not isinstance(piece.objective, DPO):
        return batch
    tokens, targets, valid = (torch.cat([each, each]) for each in batch[:3])
    return Batch(tokens, targets, valid, batch.bounds)
