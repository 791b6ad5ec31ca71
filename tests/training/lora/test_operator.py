"""BatchLoRA gives what each adapter alone gives, forward and backward, for any mix of ranks, dropout and methods."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from couler_py.steps.lora.operator import Dropout, Factors, Segment, batch_lora, row_norms

IN, OUT, ROWS, LENGTH = 6, 5, 7, 4


def numbers(seed: int, *shape: int, dtype: torch.dtype = torch.float64) -> Tensor:
    drawn = torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return drawn.to(dtype).requires_grad_()


def tokens(rows: int) -> Tensor:
    valid = torch.ones(rows, LENGTH, dtype=torch.bool)
    valid[0, LENGTH - 2 :] = False
    return valid


def parts(dtype: torch.dtype = torch.float64, dropout: float = 0.0, dora: bool = False) -> list:
    """Ranks 1, 3 and 9 on rows 0-1, 2-4 and 6; row 5 has no adapter."""
    made = []
    for number, (begin, end, rank, scale) in enumerate([(0, 2, 1, 2.0), (2, 5, 3, 0.5), (6, 7, 9, 1.0)]):
        drop = Dropout(dropout, 40 + number, tokens(end - begin)) if dropout else None
        magnitude = numbers(30 + number, OUT, dtype=dtype) if dora and number != 1 else None
        a, b = numbers(10 + number, rank, IN, dtype=dtype), numbers(20 + number, OUT, rank, dtype=dtype)
        made.append((Segment(begin, end, scale, drop), Factors(a, b, magnitude)))
    return made


def separately(x: Tensor, weight: Tensor, bias: Tensor, parts: list) -> Tensor:
    """The same by autograd alone, each adapter by itself."""
    out = list(functional.linear(x, weight, bias).split(1))
    for segment, (a, b, magnitude) in parts:
        rows = slice(segment.begin, segment.end)
        dropped = x[rows] if segment.dropout is None else x[rows] * segment.dropout.mask(IN, x)
        up = segment.scale * (dropped @ a.T @ b.T)
        plain = functional.linear(dropped, weight)
        base = torch.cat(out[rows])
        if magnitude is None:
            found = base + up
        else:
            ratio = magnitude / row_norms(weight, Factors(a, b), segment.scale)
            found = base + (ratio - 1) * plain + ratio * up
        out[rows] = list(found.split(1))
    return torch.cat(out)


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-12), (torch.float32, 1e-5)])
@pytest.mark.parametrize("dora", [False, True])
@pytest.mark.parametrize("dropout", [0.0, 0.3])
def test_fused_is_separate(dtype: torch.dtype, tolerance: float, dora: bool, dropout: float) -> None:
    x, bias = numbers(1, ROWS, LENGTH, IN, dtype=dtype), numbers(3, OUT, dtype=dtype).detach()
    weight, outer = numbers(2, OUT, IN, dtype=dtype).detach(), numbers(4, ROWS, LENGTH, OUT, dtype=dtype).detach()
    mine = parts(dtype, dropout, dora)
    leaves = [x, *(tensor for _, factors in mine for tensor in factors if tensor is not None)]
    fused, alone = batch_lora(x, weight, bias, mine), separately(x, weight, bias, mine)
    found = [fused, *torch.autograd.grad(fused, leaves, outer)]
    expected = [alone, *torch.autograd.grad(alone, leaves, outer)]
    for one, other in zip(found, expected, strict=True):
        assert float((one - other).norm() / other.norm()) <= tolerance


@pytest.mark.parametrize("dropout", [0.0, 0.4])
def test_derivatives_are_those_of_differences(dropout: float) -> None:
    weight, bias = numbers(2, OUT, IN).detach(), numbers(3, OUT).detach()
    mine = parts(dropout=dropout)
    leaves = [tensor for _, factors in mine for tensor in factors[:2]]

    def run(x: Tensor, *given: Tensor) -> Tensor:
        rebuilt = [(mine[n][0], Factors(given[2 * n], given[2 * n + 1])) for n in range(len(mine))]
        return batch_lora(x, weight, bias, rebuilt)

    assert torch.autograd.gradcheck(run, (numbers(1, ROWS, LENGTH, IN), *leaves))


def test_a_golden_vector() -> None:
    x = torch.tensor([[[1.0, 2.0]], [[3.0, -1.0]]], dtype=torch.float64, requires_grad=True)
    weight = torch.tensor([[1.0, 0.0], [0.0, 1.0]], dtype=torch.float64)
    a = torch.tensor([[1.0, 1.0]], dtype=torch.float64, requires_grad=True)
    b = torch.tensor([[2.0], [-1.0]], dtype=torch.float64, requires_grad=True)
    out = batch_lora(x, weight, None, [(Segment(0, 1, 0.5), Factors(a, b))])
    assert out.tolist() == [[[4.0, 0.5]], [[3.0, -1.0]]]
    out.sum().backward()
    assert a.grad.tolist() == [[0.5, 1.0]]
    assert b.grad.tolist() == [[1.5], [1.5]]
    assert x.grad.tolist() == [[[1.5, 1.5]], [[1.0, 1.0]]]


def test_gradients_are_those_of_the_mask_that_the_forward_drew() -> None:
    """A public code scales by 1/(1 - p) in the backward and forgets the mask: dA is off by a quarter at p = 0.05."""
    x, weight = numbers(1, 64, LENGTH, IN).detach(), numbers(2, OUT, IN).detach()
    a, b = numbers(3, 2, IN), numbers(4, OUT, 2)
    drop = Dropout(0.05, 7, torch.ones(64, LENGTH, dtype=torch.bool))
    out = batch_lora(x, weight, None, [(Segment(0, 64, 1.0, drop), Factors(a, b))])
    outer = numbers(5, 64, LENGTH, OUT).detach()
    [found] = torch.autograd.grad(out, [a], outer)
    v = outer @ b.detach()
    expected = v.flatten(0, 1).T @ (x * drop.mask(IN, x)).flatten(0, 1)
    without = v.flatten(0, 1).T @ (x / 0.95).flatten(0, 1)
    assert float((found - expected).norm() / expected.norm()) <= 1e-12
    assert float((found - without).norm() / without.norm()) > 0.05


def test_a_mask_is_the_same_whatever_rows_are_padded_to() -> None:
    short = torch.tensor([[True, True, False], [True, True, True]])
    long = torch.cat([short, torch.zeros(2, 5, dtype=torch.bool)], dim=1)
    like = torch.zeros(1, dtype=torch.float64)
    masks = [Dropout(0.5, 9, tokens).mask(4, like) for tokens in (short, long)]
    assert torch.equal(masks[0], masks[1][:, :3])
    assert set(masks[0][short].unique().tolist()) == {0.0, 2.0}


def test_the_base_gets_no_gradient_and_the_input_is_left_alone() -> None:
    x, weight = numbers(1, ROWS, LENGTH, IN), numbers(2, OUT, IN).detach()
    before = x.detach().clone()
    batch_lora(x, weight, None, parts()).sum().backward()
    assert weight.grad is None
    assert torch.equal(x.detach(), before)


def test_what_an_adapter_has_of_nan_stays_in_its_rows() -> None:
    x, weight = numbers(1, ROWS, LENGTH, IN), numbers(2, OUT, IN).detach()
    mine = parts()
    with torch.no_grad():
        mine[1][1].a.fill_(float("nan"))
    out = batch_lora(x, weight, None, mine)
    assert out.isnan().any(dim=2).any(dim=1).tolist() == [False, False, True, True, True, False, False]
    out.sum().backward()
    assert x.grad.isnan().any(dim=2).any(dim=1).tolist() == [False, False, True, True, True, False, False]
    assert not mine[0][1].a.grad.isnan().any()
    assert not mine[2][1].b.grad.isnan().any()


def test_rows_of_two_adapters_at_once_are_refused() -> None:
    x, weight = numbers(1, ROWS, LENGTH, IN), numbers(2, OUT, IN).detach()
    [(_, factors), *_] = parts()
    for begin, end in ((1, 3), (6, 8)):
        with pytest.raises(ValueError, match=f"rows {begin} to {end} of 7"):
            batch_lora(x, weight, None, [(Segment(0, 2, 1.0), factors), (Segment(begin, end, 1.0), factors)])
