"""Gradients of weights, computed later than those of inputs, when a rank would only wait.

A backward pass gives the gradients of inputs, for which the stage before waits, and leaves a task for each matrix. Qi
et al., "Zero bubble pipeline parallelism", ICLR 2024, split a backward so; MEPipe, EuroSys 2025, by matrix.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

if TYPE_CHECKING:
    from torch import Tensor


class Later:
    """Tasks that wait, first in first out, and the most bytes that they held at once."""

    def __init__(self) -> None:
        self._tasks: deque[tuple[nn.Parameter, Tensor, Tensor]] = deque()
        self._bytes = 0
        self.peak = 0

    def __len__(self) -> int:
        return len(self._tasks)

    def put(self, weight: nn.Parameter, x: Tensor, grad: Tensor) -> None:
        """Leave a task: the gradient of a weight (out, in), of inputs (…, in) and gradients of outputs (…, out)."""
        self._tasks.append((weight, x, grad))
        self._bytes += _size(x) + _size(grad)
        self.peak = max(self.peak, self._bytes)

    def do(self) -> None:
        """Do the first task."""
        weight, x, grad = self._tasks.popleft()
        self._bytes -= _size(x) + _size(grad)
        found = grad.flatten(0, -2).T @ x.flatten(0, -2)
        weight.grad = found if weight.grad is None else weight.grad.add_(found)


class _Linear(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: nn.Parameter, later: Later) -> Tensor:
        ctx.save_for_backward(x)
        ctx.weight, ctx.later = weight, later
        return nn.functional.linear(x, weight)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None, None]:
        ctx.later.put(ctx.weight, ctx.saved_tensors[0], grads[0])
        return grads[0] @ ctx.weight, None, None


class LateLinear(nn.Module):
    """A linear layer that leaves the gradient of its weight for later."""

    def __init__(self, weight: nn.Parameter, later: Later):
        super().__init__()
        self.weight = weight
        self._later = later

    def forward(self, x: Tensor) -> Tensor:
        """Of shape (…, out) for x of shape (…, in)."""
        return _Linear.apply(x, self.weight, self._later)


def postpone(module: nn.Module, later: Later) -> None:
    """Make all linear layers of a module leave the gradients of their weights."""
    for name, child in list(module.named_children()):
        if isinstance(child, nn.Linear):
            setattr(module, name, LateLinear(child.weight, later))
        else:
            postpone(child, later)


def _size(tensor: Tensor) -> int:
    return tensor.numel() * tensor.element_size()
