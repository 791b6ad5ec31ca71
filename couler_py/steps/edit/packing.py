"""How pseudo-gradients travel between replicas: as they are, or in fewer bytes with an error that is measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from couler_py.steps.edit.channel import Channel, Pending

if TYPE_CHECKING:
    from torch import Tensor

    from couler_py.steps.edit.settings import Compression

TYPES = {"bf16": torch.bfloat16, "fp16": torch.float16}


class Parcel:
    """A sum over replicas on its way. `error` is how far what this rank sent is from what it meant, relative to it."""

    def __init__(self, numbers: Tensor, pending: list[Pending], scales: Tensor | None = None, error: float = 0.0):
        self._numbers, self._pending, self._scales, self.error = numbers, pending, scales, error

    def open(self) -> Tensor:
        """Wait for the sum; it is float32, and equal on all ranks that sent."""
        for pending in self._pending:
            pending.wait()
        if self._scales is None:
            return self._numbers.float()
        total = torch.zeros_like(self._numbers[0], dtype=torch.float32)
        for row, scale in zip(self._numbers, self._scales, strict=True):  # in the order of ranks: everywhere the same
            total.add_(row.float().mul_(scale))
        return total


def send(flat: Tensor, compression: Compression, between: Channel, what: str) -> Parcel:
    """Begin to add up a vector over replicas.

    `bf16` and `fp16` halve the bytes. `int8` sends 255 steps between the vector's largest number and its negative to
    everybody, a quarter of the bytes of float32 among two replicas: it is gathered, not summed on the way, so that with
    more replicas it pays less.
    """
    if between.alone or not flat.numel():
        return Parcel(flat, [])
    if compression == "none":
        return Parcel(flat, [between.total(flat, what)])
    if compression == "int8":
        scale = (flat.abs().max() / 127).reshape(1)
        packed = torch.where(scale > 0, flat / scale, 0).round_().to(torch.int8)
        error = _error(flat, packed.float() * scale)
        scales, first = between.everybodys(scale, f"scale: {what}")
        rows, second = between.everybodys(packed, what)
        return Parcel(rows, [first, second], scales, error)
    narrow = flat.to(TYPES[compression])
    error = _error(flat, narrow.float())
    return Parcel(narrow, [between.total(narrow, what)], None, error)


def _error(meant: Tensor, sent: Tensor) -> float:
    size = float(torch.linalg.vector_norm(meant).item())
    return float(torch.linalg.vector_norm(meant - sent).item()) / size if size else 0.0
