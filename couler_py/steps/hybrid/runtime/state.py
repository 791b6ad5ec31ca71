"""Weights, summed gradients and the optimizer's state on one rank, by the buckets of a layout.

The state of what several ranks hold is shared among them, so that each number is updated once (Rajbhandari et al.,
"ZeRO", SC 2020, stage 1, here over groups of any size), or kept whole by all of them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import msgspec
import torch
import torch.distributed as dist
from torch import nn

from couler_py.steps.checkpoint.boxes import whole
from couler_py.steps.checkpoint.tensors import MODEL, OPTIMIZER, Shard
from couler_py.steps.hybrid.layout import Bucket, Layout, Piece
from couler_py.steps.hybrid.runtime.world import World

if TYPE_CHECKING:
    from torch import Tensor

MOMENTS = ("exp_avg", "exp_avg_sq")


class Adam(msgspec.Struct, frozen=True):
    """AdamW's settings (Loshchilov and Hutter, "Decoupled weight decay regularization", ICLR 2019)."""

    rate: float = 1e-3
    betas: tuple[float, float] = (0.9, 0.95)
    eps: float = 1e-8
    decay: float = 0.0
    clip: float | None = None
    """The largest norm of all gradients together; larger ones are made shorter."""


class _Owned:
    """One bucket on this rank: its numbers in a row, share by share, and the span of them that it updates."""

    def __init__(self, world: World, bucket: Bucket, layout: Layout, sharded: bool):
        self.bucket = bucket
        self.group = world.among(bucket.owners) if len(bucket.owners) > 1 else None
        self.processes = [world.process(rank) for rank in bucket.owners]
        self.copies = layout.copies[world.seat]
        sizes = [sum(piece.box.size for piece in share) for share in bucket.shares]
        starts = [sum(sizes[:at]) for at in range(len(sizes) + 1)]
        self.spans = [slice(first, end) for first, end in itertools.pairwise(starts)]
        self.size = starts[-1]
        self.sharded = sharded and self.group is not None
        place = bucket.owners.index(world.seat)
        self.span = self.spans[place] if self.sharded else slice(0, self.size)
        chosen = [bucket.shares[place]] if self.sharded else list(bucket.shares)
        self.mine = [piece for share in chosen for piece in share]

    def pieces(self) -> Iterator[tuple[Piece, slice]]:
        """All of it, and where each piece is in the row."""
        at = 0
        for piece in (each for share in self.bucket.shares for each in share):
            yield piece, slice(at, at + piece.box.size)
            at += piece.box.size


class State:
    """All that one rank keeps for a plan. `parameters` are by name, this rank's parts."""

    def __init__(
        self, world: World, layout: Layout, dtype: torch.dtype, device: torch.device, adam: Adam, *, sharded: bool
    ):
        self.adam, self._world, self._layout = adam, world, layout
        self.boxes = layout.boxes.get(world.seat, {})
        self.parameters = {
            name: nn.Parameter(torch.zeros(box.shape, dtype=dtype, device=device)) for name, box in self.boxes.items()
        }
        self._owned = [
            _Owned(world, bucket, layout, sharded) for bucket in layout.buckets if world.seat in bucket.owners
        ]
        self._dtype, self._device = dtype, device
        self._wide = torch.promote_types(dtype, torch.float32)
        self.shares = [
            torch.zeros(each.span.stop - each.span.start, dtype=self._wide, device=device) for each in self._owned
        ]
        self._moments = [{moment: torch.zeros_like(share) for moment in MOMENTS} for share in self.shares]
        self._gradients: list[Tensor] = []
        self._step = 0

    def leave(self) -> None:
        """Let go of all groups; what it holds stays."""
        for owned in self._owned:
            owned.group = None

    def begin(self, step: int, *, fresh: bool = False) -> None:
        """Take up the weights that were put into the parameters, after so many steps; `fresh` ones have no masters."""
        for owned, share in zip(self._owned, self.shares, strict=True):
            if fresh or not self._has_masters:
                share.copy_(self._row(owned, gradients=False)[owned.span])
        self._step = step

    def sum_gradients(self) -> None:
        """Give each share the sum of its gradients over all ranks that hold it, and clip."""
        works: list[Any] = []
        self._gradients = []
        for owned in self._owned:
            row = self._row(owned, gradients=True)
            if owned.sharded:
                for span, process in zip(owned.spans, owned.processes, strict=True):
                    if span.stop > span.start:
                        works.append(dist.reduce(row[span], process, group=owned.group, async_op=True))
            elif owned.group is not None:
                works.append(dist.all_reduce(row, group=owned.group, async_op=True))
            self._gradients.append(row[owned.span])
        for work in works:
            work.wait()
        for parameter in self.parameters.values():
            parameter.grad = None

    def square(self) -> float:
        """This rank's part of the square of all gradients' norm, each number counted once over all ranks."""
        total = 0.0
        for owned, part in zip(self._owned, self._gradients, strict=True):
            if not owned.sharded:
                part = part[owned.spans[owned.bucket.owners.index(self._world.seat)]]
            total += float(part.double().square().sum())
        return total

    @torch.no_grad()
    def update(self, norm: float) -> None:
        """One step of AdamW (algorithm 2 of the paper), and everybody's new weights in the parameters."""
        adam, self._step = self.adam, self._step + 1
        shorter = adam.clip / norm if adam.clip is not None and norm > adam.clip else 1.0
        first, second = (1.0 - beta**self._step for beta in adam.betas)
        for share, moments, grad in zip(self.shares, self._moments, self._gradients, strict=True):
            grad.mul_(shorter)
            mean, square = (moments[name] for name in MOMENTS)
            mean.lerp_(grad, 1.0 - adam.betas[0])
            square.mul_(adam.betas[1]).addcmul_(grad, grad, value=1.0 - adam.betas[1])
            share.mul_(1.0 - adam.rate * adam.decay)
            share.addcdiv_(mean, (square / second).sqrt_().add_(adam.eps), value=-adam.rate / first)
        self._gradients = []
        self._spread()

    @torch.no_grad()
    def _spread(self) -> None:
        works, rows = [], []
        for owned, share in zip(self._owned, self.shares, strict=True):
            row = torch.empty(owned.size, dtype=self._dtype, device=self._device)
            row[owned.span] = share.to(row.dtype)
            rows.append(row)
            if owned.sharded:
                for span, process in zip(owned.spans, owned.processes, strict=True):
                    if span.stop > span.start:
                        works.append(dist.broadcast(row[span], process, group=owned.group, async_op=True))
        for work in works:
            work.wait()
        for owned, row in zip(self._owned, rows, strict=True):
            for piece, where in owned.pieces():
                target = self.parameters[piece.tensor].data[piece.box.within(self.boxes[piece.tensor])]
                target.copy_(row[where].view(piece.box.shape))

    def holding(self) -> dict[str, tuple[Shard, ...]]:
        """What this rank keeps, as checkpoints know it: weights, and moments under their names in `load_training`."""
        found: dict[str, list[Shard]] = {}
        for name, parameter in self.parameters.items():
            box = self.boxes[name]
            found[MODEL + name] = [Shard(parameter.detach(), self._layout.shapes[name], box.offset)]
        for owned, share, moments in zip(self._owned, self.shares, self._moments, strict=True):
            rows = {**moments, "master": share} if self._has_masters else moments
            at = 0
            for piece in owned.mine:
                for moment, row in rows.items():
                    part = row[at : at + piece.box.size].view(piece.box.shape)
                    shard = Shard(part, self._layout.shapes[piece.tensor], piece.box.offset)
                    found.setdefault(f"{OPTIMIZER}state.{piece.tensor}.{moment}", []).append(shard)
                at += piece.box.size
        return {name: tuple(shards) for name, shards in found.items()}

    def whole_gradients(self, world: World) -> dict[str, Tensor]:
        """What `sum_gradients` came to, of all tensors, on all ranks: for small models."""
        mine = []
        for owned, row in zip(self._owned, self._gradients, strict=True):
            at = 0
            for piece in owned.mine:
                mine.append((piece, row[at : at + piece.box.size].view(piece.box.shape).cpu()))
                at += piece.box.size
        found = {name: torch.zeros(shape, dtype=self._wide) for name, shape in self._layout.shapes.items()}
        for piece, part in (each for told in world.gather(mine).values() for each in told):
            found[piece.tensor][piece.box.within(whole(found[piece.tensor].shape))] = part
        return found

    @property
    def _has_masters(self) -> bool:
        """Whether weights are kept once more, in a wider type."""
        return self._dtype != self._wide

    @torch.no_grad()
    def _row(self, owned: _Owned, *, gradients: bool) -> Tensor:
        row = torch.zeros(owned.size, dtype=self._wide, device=self._device)
        for piece, where in owned.pieces():
            held: Any = self.parameters[piece.tensor]
            source, copies = (held.grad, owned.copies[piece.tensor]) if gradients else (held.data, 1)
            if source is not None:
                part = source[piece.box.within(self.boxes[piece.tensor])].flatten()
                row[where] = part.to(row.dtype) / copies
        return row
