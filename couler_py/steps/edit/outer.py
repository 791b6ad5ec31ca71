"""One unit's side of a round: what it sends, and what it makes of what it gets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec
import torch

from couler_py.steps.edit.packing import Parcel, send
from couler_py.steps.edit.weighing import shrunk

if TYPE_CHECKING:
    from torch import Tensor

    from couler_py.steps.edit.channel import Channel
    from couler_py.steps.edit.settings import Settings
    from couler_py.steps.edit.units import Unit


class Moved(msgspec.Struct, frozen=True):
    """What a round did to a unit: the norm of the averaged pseudo-gradient, what it was multiplied by to be no longer
    than it may, and the error of compression, relative to what this rank sent."""

    norm: float
    shrunk: float
    error: float


class Anchored:
    """A unit, with the parameters that all replicas last agreed on (the anchor) and the outer momentum.

    Both are float32 and sharded as the unit is: 8 bytes for each of this rank's parameters, 4 without momentum.
    """

    def __init__(self, unit: Unit, settings: Settings, device: torch.device):
        self.unit, self._settings, self._device = unit, settings, device
        home = torch.device("cpu") if settings.offload else device
        pinned = settings.offload and device.type == "cuda"
        shards = unit.shards()
        kinds = {"dtype": torch.float32, "device": home, "pin_memory": pinned}
        self.anchor = [torch.empty(shard.shape, **kinds).copy_(shard) for shard in shards]
        self.momentum = [torch.zeros(shard.shape, **kinds) for shard in shards] if settings.outer.momentum else []
        self.late: Parcel | None = None
        self._sent: Parcel | None = None

    def square(self) -> float:
        """The sum of squares of this rank's part of the pseudo-gradient, added up in float64."""
        total = 0.0
        for anchor, shard in zip(self.anchor, self.unit.shards(), strict=True):
            far = anchor.to(self._device, non_blocking=True) - shard
            total += float(torch.linalg.vector_norm(far, dtype=torch.float64).item()) ** 2
        return total

    def send(self, weights: tuple[float, ...] | None, between: Channel) -> None:
        """Begin to add up the replicas' pseudo-gradients, anchor minus parameters, each times its weight.

        A weight of 0 sends zeros, never 0 times what might be no number. Nothing is sent where nobody counts.
        """
        if weights is None:
            self._sent = None
            return
        mine = weights[between.rank]
        size = sum(anchor.numel() for anchor in self.anchor)
        flat = torch.zeros(size, dtype=torch.float32, device=self._device)
        if mine:
            places = self.split(flat)
            for place, anchor, shard in zip(places, self._near(self.anchor), self.unit.shards(), strict=True):
                torch.sub(anchor, shard, out=place)
            flat.mul_(mine)
        self._sent = send(flat, self._settings.compression, between, self.unit.name)

    def agree(self, within: Channel) -> Moved:
        """Take the outer step, and give the replica the new anchor; the anchor of before, where nobody counted."""
        arrived = self._sent
        if self._settings.late:
            arrived, self.late = self.late, self._sent
        self._sent = None
        return self.take(arrived, within)

    def take(self, parcel: Parcel | None, within: Channel) -> Moved:
        """Step by what has arrived, if anything has."""
        anchor = self._near(self.anchor)
        moved = Moved(0.0, 1.0, 0.0)
        if parcel is not None:
            total = parcel.open()
            clip = self._settings.penalty.clip if self._settings.penalty else None
            norm = self._norm([total], within, "norm of average")
            factor = shrunk(norm, clip)
            if factor != 1.0:
                total.mul_(factor)
            self._step(anchor, self.split(total), within)
            moved = Moved(norm, factor, parcel.error)
        self.unit.write(anchor)
        return moved

    def _step(self, anchor: list[Tensor], gradient: list[Tensor], within: Channel) -> None:
        # torch.optim.SGD over the same numbers; its first step, which has no buffer, is that of a buffer of zeros.
        outer = self._settings.outer
        step = gradient
        if self.momentum:
            momentum = self._near(self.momentum)
            torch._foreach_mul_(momentum, outer.momentum)
            torch._foreach_add_(momentum, gradient)
            if outer.momentum_clip is not None:
                factor = shrunk(self._norm(momentum, within, "norm of momentum"), outer.momentum_clip)
                torch._foreach_mul_(momentum, factor)
            step = momentum
            if outer.nesterov:
                step = list(torch._foreach_add(gradient, momentum, alpha=outer.momentum))
            _back(self.momentum, momentum)
        torch._foreach_add_(anchor, step, alpha=-outer.lr)
        _back(self.anchor, anchor)

    def _norm(self, parts: Sequence[Tensor], within: Channel, what: str) -> float:
        squares = [float(torch.linalg.vector_norm(part, dtype=torch.float64).item()) ** 2 for part in parts]
        told = within.numbers([sum(squares)], f"{what}: {self.unit.name}", self._device)
        return float(sum(square for (square,) in told)) ** 0.5

    def _near(self, tensors: list[Tensor]) -> list[Tensor]:
        return [tensor.to(self._device, non_blocking=True) for tensor in tensors]

    def split(self, flat: Tensor) -> list[Tensor]:
        """A vector over the unit as views with the parameters' shapes."""
        pieces = flat.split([anchor.numel() for anchor in self.anchor])
        return [piece.view(anchor.shape) for piece, anchor in zip(pieces, self.anchor, strict=True)]


def _back(kept: list[Tensor], near: list[Tensor]) -> None:
    for home, tensor in zip(kept, near, strict=True):
        if home is not tensor:
            home.copy_(tensor, non_blocking=True)
