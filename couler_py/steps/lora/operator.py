"""BatchLoRA: one linear layer for the rows of many jobs, each with an adapter of its own, and its derivative by hand.

Ye et al., "mLoRA" (arXiv 2312.02515), 3.3. The frozen matrix is multiplied once for all rows, forward and backward;
each job adds its own small products to its rows. With G the gradient of the output and M the mask of dropout:

    u = (M x) Aᵀ,  v = s G B,  dA = vᵀ (M x),  dB = s Gᵀ u,  dX = G W + M (v A)

Each job writes into its rows of one shared dX, so the derivative of cutting a batch into jobs, a tensor of the whole
batch's size for each of them, never exists. Masks are drawn again in the backward instead of kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch.autograd.function import once_differentiable
from torch.nn import functional

if TYPE_CHECKING:
    from torch import Tensor


class Dropout(NamedTuple):
    """A mask from a stream of its own: the same for a row whatever it is padded to, and whoever stands beside it."""

    part: float
    seed: int
    tokens: Tensor
    """Which places of the rows hold tokens, of shape (rows, sequence): padding draws nothing."""

    def mask(self, width: int, like: Tensor) -> Tensor:
        """0 or 1 / (1 - part), of shape (rows, sequence, width)."""
        draws = torch.Generator(like.device).manual_seed(self.seed)
        count = int(self.tokens.sum())
        kept = torch.rand(count, width, generator=draws, device=like.device) >= self.part
        mask = torch.zeros(*self.tokens.shape, width, dtype=like.dtype, device=like.device)
        mask[self.tokens] = kept.to(like.dtype) / (1 - self.part)
        return mask


class Segment(NamedTuple):
    """The rows of one job in a batch, from `begin` to before `end`, and how its adapter acts on them."""

    begin: int
    end: int
    scale: float
    dropout: Dropout | None = None


class Factors(NamedTuple):
    """An adapter beside one layer: A (rank, in), B (out, rank) and, for DoRA, the rows' magnitudes (out)."""

    a: Tensor
    b: Tensor
    magnitude: Tensor | None = None


def batch_lora(x: Tensor, weight: Tensor, bias: Tensor | None, parts: list[tuple[Segment, Factors]]) -> Tensor:
    """x Wᵀ + bias, and for each part scale · (M x) Aᵀ Bᵀ on its rows; x is of shape (rows, sequence, in).

    Rows of no part get the base alone. Adapters are multiplied in their own type, and their result is of the base's.
    With a magnitude the rows get DoRA's (Liu et al., arXiv 2402.09353, 4.3, the norm taken for a constant):
    x Wᵀ + bias + (m/‖W + s B A‖ - 1) (M x) Wᵀ + m/‖W + s B A‖ · s (M x) Aᵀ Bᵀ. No gradient of W is ever made.

    Raises `ValueError` for parts that overlap or lie outside of the rows.
    """
    last = 0
    for segment, _ in sorted(parts, key=lambda part: part[0].begin):
        if not last <= segment.begin < segment.end <= x.shape[0]:
            raise ValueError(f"rows {segment.begin} to {segment.end} of {x.shape[0]}: they overlap, or there are fewer")
        last = segment.end
    flat = [tensor for _, factors in parts for tensor in factors]
    return _BatchLoRA.apply(x, weight, bias, [segment for segment, _ in parts], *flat)


def row_norms(weight: Tensor, factors: Factors, scale: float) -> Tensor:
    """‖W + s B A‖ of each row of the output, of shape (out): what DoRA divides by, and its first magnitudes."""
    whole = weight.detach().to(factors.a.dtype) + scale * (factors.b.detach() @ factors.a.detach())
    return torch.linalg.vector_norm(whole, dim=1)


class _BatchLoRA(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None, segments: list[Segment], *flat: Tensor | None
    ) -> Tensor:
        out = functional.linear(x, weight, bias)
        kept: list[Tensor | None] = []
        for segment, (a, b, magnitude) in zip(segments, _triples(flat), strict=True):
            rows = slice(segment.begin, segment.end)
            dropped = _dropped(x[rows].to(a.dtype), segment)
            down = dropped @ a.T
            up = segment.scale * (down @ b.T)
            if magnitude is None:
                out[rows] += up.to(out.dtype)
                kept += [a, b, None, down, None, None]
                continue
            plain = functional.linear(dropped, weight.to(a.dtype))
            norms = row_norms(weight, Factors(a, b), segment.scale)
            directed = plain + up
            out[rows] += (magnitude / norms * directed - plain).to(out.dtype)
            kept += [a, b, magnitude, down, directed, norms]
        ctx.segments = segments
        ctx.save_for_backward(x, weight, *kept)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        x, weight, *kept = ctx.saved_tensors
        wants_x, wanted = ctx.needs_input_grad[0], _triples(ctx.needs_input_grad[4:])
        dx = grad @ weight if wants_x else None
        given: list[Tensor | None] = []
        for number, segment in enumerate(ctx.segments):
            a, b, magnitude, down, directed, norms = kept[6 * number : 6 * number + 6]
            wants_a, wants_b, wants_magnitude = wanted[number]
            rows = slice(segment.begin, segment.end)
            outer = grad[rows].to(a.dtype)
            through = outer if magnitude is None else outer * (magnitude / norms)
            v = segment.scale * (through @ b) if wants_a or wants_x else None
            mask = _mask(x[rows].to(a.dtype), segment)
            inner = x[rows].to(a.dtype)
            dropped = inner if mask is None else inner * mask
            given.append(_summed(v, dropped) if wants_a else None)
            given.append(segment.scale * _summed(through, down) if wants_b else None)
            given.append((outer * directed).sum((0, 1)) / norms if wants_magnitude else None)
            if dx is not None and v is not None:
                back = v @ a
                if magnitude is not None:
                    back += (through - outer) @ weight.to(a.dtype)
                dx[rows] += (back if mask is None else back * mask).to(dx.dtype)
        return dx, None, None, None, *given


def _triples(flat: Any) -> list[tuple[Any, Any, Any]]:
    return [(flat[n], flat[n + 1], flat[n + 2]) for n in range(0, len(flat), 3)]


def _mask(x: Tensor, segment: Segment) -> Tensor | None:
    return None if segment.dropout is None else segment.dropout.mask(x.shape[-1], x)


def _dropped(x: Tensor, segment: Segment) -> Tensor:
    mask = _mask(x, segment)
    return x if mask is None else x * mask


def _summed(left: Tensor, right: Tensor) -> Tensor:
    """Σ over rows and sequence of left ⊗ right, of shape (left's width, right's width)."""
    return left.flatten(0, 1).T @ right.flatten(0, 1)
