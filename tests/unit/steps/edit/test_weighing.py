"""How much each replica counts."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from couler_py.steps.edit.settings import Penalty
from couler_py.steps.edit.weighing import shrunk, weights

ALL = [False] * 4
ONCE = [1] * 4


@pytest.mark.parametrize(
    ("norms", "expected"),
    [
        ((1, 1.1, 1.2, 1.3), (0.2887, 0.2612, 0.2363, 0.2138)),
        ((10, 11, 12, 13), (0.6439, 0.2369, 0.0871, 0.0321)),
        ((100, 101, 110, 120), (0.7310, 0.2689, 3.3e-5, 1.5e-9)),
    ],
)
def test_a_smaller_pseudo_gradient_counts_more(norms: tuple[float, ...], expected: tuple[float, ...]) -> None:
    assert weights(norms, ALL, ONCE, Penalty()) == pytest.approx(expected, rel=1e-2, abs=2e-5)


def test_relative_norms_do_not_depend_on_their_scale() -> None:
    penalty = Penalty(relative=True)
    small, large = (weights([scale * n for n in (1, 2, 3, 4)], ALL, ONCE, penalty) for scale in (0.01, 1000))
    assert small is not None
    assert small == pytest.approx(large)


def test_without_a_penalty_all_count_alike() -> None:
    assert weights([1, 2, 3, 1e9], ALL, ONCE, None) == (0.25,) * 4


def test_the_rejected_and_the_idle_count_for_nothing_and_the_others_for_all() -> None:
    plain = Penalty(temperature=None)
    assert weights([1, math.nan, 1, 0], [False, True, False, False], [3, 3, 3, 0], plain) == (0.5, 0.0, 0.5, 0.0)


def test_where_nobody_is_left_there_are_no_weights() -> None:
    assert weights([1, 2], [True, True], [1, 1], Penalty()) is None
    assert weights([0, 0], [False, False], [0, 0], Penalty()) is None


def test_steps_may_count_too() -> None:
    assert weights([5, 5], [False] * 2, [30, 10], Penalty(step_ratio=0.5)) == pytest.approx((0.625, 0.375))
    shares = weights([5, 5, math.inf], [False, False, True], [30, 10, 40], Penalty(step_ratio=1.0))
    assert shares == pytest.approx((0.75, 0.25, 0.0))


@given(
    st.lists(st.tuples(st.floats(0, 1e300), st.booleans(), st.integers(0, 5)), min_size=1, max_size=8),
    st.sampled_from([Penalty(), Penalty(relative=True), Penalty(temperature=1e-3, step_ratio=0.3), None]),
)
@settings(max_examples=150)
def test_weights_sum_to_one_and_follow_their_replica(
    replicas: list[tuple[float, bool, int]], penalty: Penalty | None
) -> None:
    norms, rejected, steps = map(list, zip(*replicas, strict=True))
    given_weights = weights(norms, rejected, steps, penalty)
    if given_weights is None:
        assert all(no or not made for no, made in zip(rejected, steps, strict=True))
        return
    assert sum(given_weights) == pytest.approx(1)
    for weight, no, made in zip(given_weights, rejected, steps, strict=True):
        assert weight == 0 if no or not made else weight >= 0
    mirrored = weights(norms[::-1], rejected[::-1], steps[::-1], penalty)
    assert mirrored == pytest.approx(given_weights[::-1])


def test_a_high_temperature_weighs_all_alike() -> None:
    assert weights([1, 50, 100, 2], ALL, ONCE, Penalty(temperature=1e9)) == pytest.approx((0.25,) * 4, rel=1e-6)


@pytest.mark.parametrize(("norm", "factor"), [(0.0, 1.0), (10.0, 1.0), (40.0, 0.25)])
def test_what_is_too_long_is_shrunk_to_the_limit(norm: float, factor: float) -> None:
    assert shrunk(norm, 10.0) == factor
    assert shrunk(norm, None) == 1.0
