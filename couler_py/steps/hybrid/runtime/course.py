"""One rank's part of a pipeline: its sections, and the order in which slices go forward and backward through them."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

import msgspec
import torch
from torch import nn

from couler_py.steps.hybrid.layout import Layout
from couler_py.steps.hybrid.runtime.batches import Batch, bounds
from couler_py.steps.hybrid.runtime.channels import Like
from couler_py.steps.hybrid.runtime.emulated import Timed, wait_until
from couler_py.steps.hybrid.runtime.handing import Handing
from couler_py.steps.hybrid.runtime.later import Later
from couler_py.steps.hybrid.runtime.section import LayerCache, Passing, SectionModule
from couler_py.steps.hybrid.runtime.tensor import TensorGroup
from couler_py.steps.hybrid.runtime.world import Use, World
from couler_py.steps.hybrid.sending import links, orders
from couler_py.steps.hybrid.slices import Shape
from couler_py.steps.hybrid.timeline import Op
from couler_py.steps.models.config import DecoderConfig
from couler_py.steps.models.decoder import next_token_loss, rotary

MATRICES = 7
"""Of a layer: four of attention, three of the feed-forward part."""


class Slicing(msgspec.Struct, frozen=True):
    """How pipelines cut their work (MEPipe, EuroSys 2025). As it is, they run 1F1B."""

    slices: int = 1
    """Of each sequence."""
    chunks: int = 1
    """Of each stage's layers."""
    live: int | None = None
    """Slices that a rank may hold between forward and backward (default: as many as keep it busy)."""
    late_weights: bool = False
    """Whether gradients of weights are computed apart, when a rank would only wait."""


def groups_of(layout: Layout) -> list[Use]:
    """All groups that a plan takes, in one order."""
    sections = [each for row in layout.pipelines for each in row]
    sums = [*(each.ranks for each in sections), *(each.owners for each in layout.buckets)]
    found: list[Use] = [("sum", ranks) for ranks in sums if len(ranks) > 1]
    found += [(kind, (source, target)) for row in layout.pipelines for kind, source, target in links(row)]
    return list(dict.fromkeys(found))


class Course:
    """What one rank does in a step. All ranks of a pipeline make theirs, and run it, together."""

    def __init__(
        self,
        world: World,
        layout: Layout,
        pipeline: int,
        config: DecoderConfig,
        parameters: Mapping[str, nn.Parameter],
        micros: int,
        slicing: Slicing,
        compute: Timed | None,
    ):
        self._row, self._config, self._slicing, self._compute = layout.pipelines[pipeline], config, slicing, compute
        self._seat = world.seat
        workers = len(self._row) // slicing.chunks
        self._worker = next(at for at in range(workers) if world.seat in self._row[at].ranks)
        mine = self._row[self._worker :: workers]
        self._handing = Handing(world, self._row, mine[0].ranks.index(world.seat))
        self.layers = sum(each.layers[1] - each.layers[0] for each in mine)
        self.size, self.micros = len(mine[0].ranks), micros
        self._like = next(iter(parameters.values())).detach()
        self._order = orders(Shape(workers, slicing.slices, slicing.chunks, micros), slicing.live)[self._worker]
        self.later = Later() if slicing.late_weights else None
        self._tensor = TensorGroup(world.among(mine[0].ranks)) if self.size > 1 else None
        self._modules = {
            each.number: SectionModule(each, config, parameters, self._tensor, self.later) for each in mine
        }
        self.seconds = 0.0
        self.loss = 0.0
        self.spans: list[tuple[str, float, float]] = []

    def run(self, batch: Batch, counted: int) -> None:
        """Go through all micro-batches of the pipeline's samples; gradients add up in the parameters.

        The loss is divided by `counted`, the targets that count in the whole step. `loss` and `seconds`, what this rank
        computed without waiting for others, are there afterwards, and `spans`: kinds of operations ("F", "B", "W"), and
        from when to when they ran, in seconds from the beginning.
        """
        self._began = time.perf_counter()
        self._length = batch.tokens.shape[1]
        if self._length > self._config.context:
            raise ValueError(f"{self._length} tokens: this decoder's context holds {self._config.context}")
        each = len(batch.tokens) // self.micros
        self._batches = [batch.rows(at * each, (at + 1) * each) for at in range(self.micros)]
        self._counted, self._bounds = counted, bounds(self._length, self._slicing.slices)
        self._passing: dict[Op, Passing] = {}
        self._caches: dict[tuple[int, int], list[LayerCache]] = {}
        self._handing.begin(self._order, lambda op: self._like_of(op, each))
        self.seconds, self.loss, self.spans = 0.0, 0.0, []
        for op in self._order:
            if op.kind == "F":
                self._forward(op)
            else:
                self._backward(op)
        while self.later:
            self._weight()
        self._handing.end()

    def _like_of(self, op: Op, samples: int) -> Like:
        first, end = self._bounds[op.slice]
        return Like((samples, end - first, self._config.hidden), self._like.dtype, self._like.device)

    def _forward(self, op: Op) -> None:
        batch, (first, end) = self._batches[op.micro], self._bounds[op.slice]
        came = self._handing.take(op, self.later, self._weight)
        started, waited = time.perf_counter(), self._waited()
        module = self._modules[op.stage]
        entered = batch.tokens[:, first:end] if came is None else came.requires_grad_()
        turns = rotary(batch.positions[:, first:end], self._config.head, self._config.rope_theta, self._like.dtype)
        caches: list[LayerCache] = []
        if self._slicing.slices > 1:
            caches = self._caches.setdefault((op.micro, op.stage), [LayerCache() for _ in module.layers])
        looked: Sequence[LayerCache | None] = caches if caches else [None] * len(module.layers)
        left = module(entered, turns, batch.mask(first, end), looked)
        if module.is_last:
            left = next_token_loss(left, batch.targets[:, first:end], "sum") / self._counted
            self.loss += left.item()
        self._passing[op] = Passing(entered, left, caches)
        self._charge(op.kind, op.stage, started, waited)
        if not module.is_last:
            self._handing.give(op, left)

    def _backward(self, op: Op) -> None:
        grad = self._handing.take(op, self.later, self._weight)
        started, waited = time.perf_counter(), self._waited()
        found = self._passing.pop(op._replace(kind="F")).backward(grad)
        self._charge("B", op.stage, started, waited)
        if found is not None:
            self._handing.give(op, found)

    def _weight(self) -> None:
        if self.later:
            started = time.perf_counter()
            self.later.do()
            self._charge("W", None, started, self._waited(), 1 / MATRICES)

    def _waited(self) -> float:
        return 0.0 if self._tensor is None else self._tensor.seconds

    def _charge(self, kind: str, stage: int | None, started: float, waited: float, layers: float = 0.0) -> None:
        """Add what was computed since a moment, and wait for the rest where computing is emulated."""
        if self._like.is_cuda:
            torch.cuda.synchronize()
        apart = self._waited() - waited
        if self._compute is not None:
            if stage is not None:
                low, high = self._row[stage].layers
                layers = float(high - low)
            seconds = self._compute.seconds(self._seat, kind, layers / self._slicing.slices)
            if kind == "B" and self.later is not None:
                seconds -= self._compute.seconds(self._seat, "W", layers / self._slicing.slices)
            wait_until(started + apart + seconds)
        ended = time.perf_counter()
        self.seconds += ended - started - apart
        self.spans.append((kind, started - self._began, ended - self._began))
