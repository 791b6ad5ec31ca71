"""Tensor parallelism of a decoder's layers from outside: each rank has columns or rows, and sums go around them.

Shoeybi et al., "Megatron-LM" (arXiv 1909.08053), section 3: its f (identity forward, sum backward) before attention and
the feed-forward part, its g (sum forward, identity backward) behind.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import torch
import torch.distributed as dist
from torch import nn

if TYPE_CHECKING:
    from torch import Tensor

    from couler_py.steps.models.decoder import Layer


class TensorGroup:
    """The ranks that share layers, and how long this one has waited for them."""

    def __init__(self, group: Any):
        self._group = group
        self.seconds = 0.0

    def summed(self, x: Tensor) -> Tensor:
        """The sum over all ranks."""
        started = time.perf_counter()
        x = x.contiguous().clone()
        dist.all_reduce(x, group=self._group)
        self.seconds += time.perf_counter() - started
        return x


class _Entering(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, group: TensorGroup) -> Tensor:
        ctx.group = group
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        return ctx.group.summed(grads[0]), None


class _Leaving(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, group: TensorGroup) -> Tensor:
        return group.summed(x)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        return grads[0], None


def share(layer: Layer, group: TensorGroup) -> None:
    """Put the sums around a layer whose weights are this rank's part."""

    def entering(_: nn.Module, given: tuple[Any, ...]) -> tuple[Any, ...]:
        return _Entering.apply(given[0], group), *given[1:]

    def leaving(_: nn.Module, given: tuple[Any, ...], output: Tensor) -> Tensor:
        return _Leaving.apply(output, group)

    for part in (layer.self_attn, layer.mlp):
        part.register_forward_pre_hook(entering)
        part.register_forward_hook(leaving)
