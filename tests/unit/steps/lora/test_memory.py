"""Bytes of a pass: learned from few passes, with a margin that says how sure that is."""

from __future__ import annotations

import random

import pytest

from couler_py.steps.lora.memory import LEAST, SLACK, MemoryModel, Sample, fit, prior
from couler_py.steps.models.config import PRESETS


def samples(noise: float, seed: int, count: int) -> list[Sample]:
    draw = random.Random(seed)
    made = []
    for _ in range(count):
        rows, length = draw.randint(1, 16), 8 * draw.randint(1, 64)
        size = 1e6 + 4e3 * rows * length + 9.0 * rows * length**2
        made.append(Sample(rows, length, round(size * (1 + draw.gauss(0, noise)))))
    return made


def test_exact_samples_are_met_exactly() -> None:
    model = fit(samples(0.0, 1, 8))
    assert model.coefficients == pytest.approx((1e6, 4e3, 9.0), rel=1e-4)
    assert model.margin == SLACK


def test_ten_samples_with_noise_foretell_others_within_the_margin() -> None:
    for seed in range(20):
        model = fit(samples(0.002, seed, 10))
        for each in samples(0.0, 100 + seed, 50):
            plain = model.bytes(each.rows, each.length) / (1 + model.margin)
            assert plain == pytest.approx(each.bytes, rel=0.02)
            assert model.bytes(each.rows, each.length) >= each.bytes


def test_no_coefficient_is_below_zero() -> None:
    falling = [Sample(rows, length, 1_000_000 // (rows * length)) for rows in (1, 2, 4) for length in (8, 16, 32)]
    assert min(fit(falling).coefficients) >= 0


def test_before_there_are_enough_samples_the_prior_stands() -> None:
    before = prior(PRESETS["tiny"])
    assert fit(samples(0.0, 1, LEAST - 1), before) is before
    with pytest.raises(ValueError, match="4 samples: a fit takes 5"):
        fit(samples(0.0, 1, LEAST - 1))


def test_the_prior_counts_layers_and_logits() -> None:
    model = prior(PRESETS["tiny"])
    layer = 6 * 64 + 2 * 2 * 16 + 5 * 176
    assert model == MemoryModel((0.0, 4 * 2 * layer + 8 * 259.0, 4 * 2 * 4.0), 0.25)
    assert model.bytes(0, 128) == 0
