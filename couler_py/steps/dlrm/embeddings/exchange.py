"""What ranks send each other: all-to-alls of parts of unequal size, with the gradient going back the way it came."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import torch
from torch import Tensor
from torch import distributed as dist


class Ranks(Protocol):
    """All ranks, this one among them; every rank calls each of these as often as the others."""

    group: Any
    """What `checkpoint.saving` takes for the same ranks."""
    rank: int
    world: int
    waited: float
    """Seconds spent in what follows, so far."""

    def exchange(self, sent: Tensor, given: Sequence[int], taken: Sequence[int]) -> Tensor:
        """Send so many numbers of a vector to each rank, and give what each sends here, in the order of ranks."""

    def total(self, numbers: Tensor) -> Tensor:
        """The sum over ranks, in the tensor itself."""

    def everybodys(self, numbers: Tensor) -> Tensor:
        """What all ranks give, of equal shapes, by rank."""


class Group:
    """The ranks of a process group of torch, or this process alone where none was made."""

    def __init__(self, group: Any = None):
        self.group, self.waited = group, 0.0
        alone = not (dist.is_available() and dist.is_initialized())
        self.rank = 0 if alone else dist.get_rank(group)
        self.world = 1 if alone else dist.get_world_size(group)

    def exchange(self, sent: Tensor, given: Sequence[int], taken: Sequence[int]) -> Tensor:
        """One all-to-all."""
        if self.world == 1:
            return sent
        received = sent.new_empty(sum(taken))
        with self._waiting():
            dist.all_to_all_single(received, sent.contiguous(), list(taken), list(given), group=self.group)
        return received

    def total(self, numbers: Tensor) -> Tensor:
        """One all-reduce."""
        if self.world > 1:
            with self._waiting():
                dist.all_reduce(numbers, group=self.group)
        return numbers

    def everybodys(self, numbers: Tensor) -> Tensor:
        """One all-gather."""
        if self.world == 1:
            return numbers[None]
        rows = [torch.empty_like(numbers) for _ in range(self.world)]
        with self._waiting():
            dist.all_gather(rows, numbers.contiguous(), group=self.group)
        return torch.stack(rows)

    @contextlib.contextmanager
    def _waiting(self) -> Iterator[None]:
        # NCCL's collectives return at once, and waiting for them is part of what follows.
        begun = time.perf_counter()
        yield
        self.waited += time.perf_counter() - begun


def ranks_of(group: Any = None) -> Ranks:
    """The ranks of a process group, of the default one, or those that the caller joins in another way."""
    found: Ranks = group if hasattr(group, "everybodys") else Group(group)
    return found


class _Exchange(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, sent: Tensor, _anchor: Tensor, ranks: Ranks, given: list[int], taken: list[int], scale: float
    ) -> Tensor:
        ctx.told = ranks, given, taken, scale
        return ranks.exchange(sent, given, taken)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        ranks, given, taken, scale = ctx.told
        back = ranks.exchange(gradients[0], taken, given)
        return (back if scale == 1.0 else back * scale), None, None, None, None, None


def exchanged(sent: Tensor, ranks: Ranks, given: Sequence[int], taken: Sequence[int], scale: float = 1.0) -> Tensor:
    """`Ranks.exchange` that gradients go back through, times `scale`; every rank's backward goes through it.

    That holds for a rank too whose numbers need no gradient: others wait for what it sends back.
    """
    if not torch.is_grad_enabled():
        return ranks.exchange(sent, given, taken)
    anchor = torch.zeros((), dtype=sent.dtype, device=sent.device, requires_grad=True)
    found: Tensor = _Exchange.apply(sent, anchor, ranks, list(given), list(taken), scale)
    return found
