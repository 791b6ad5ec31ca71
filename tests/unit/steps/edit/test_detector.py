"""Which norms are odd: the running mean and variance of EDiT."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from couler_py.steps.edit.detector import Running, judged, score, updated
from couler_py.steps.edit.settings import Penalty

norms = st.lists(st.floats(0.01, 100), min_size=1, max_size=60)


def after(values: list[float], penalty: Penalty) -> Running:
    running = Running()
    for value in values:
        running = updated(running, value, penalty)
    return running


@given(norms)
@settings(max_examples=50)
def test_from_zero_it_is_what_the_public_code_computes(values: list[float]) -> None:
    mean = variance = 0.0
    for value in values:  # the other form: by the distances from the old and the new mean
        old, mean = mean, mean + 0.1 * (value - mean)
        variance = 0.9 * (variance + 0.1 * (value - old) * (value - mean))
    running = after(values, Penalty(smoothing=0.1, start="zero"))
    assert running.mean == pytest.approx(mean)
    assert running.variance == pytest.approx(variance, rel=1e-6, abs=1e-9)


@given(norms)
@settings(max_examples=50)
def test_the_mean_has_a_closed_form(values: list[float]) -> None:
    alpha, count = 0.02, len(values)
    weighed = sum(alpha * (1 - alpha) ** (count - 1 - n) * value for n, value in enumerate(values))
    assert after(values, Penalty(start="zero")).mean == pytest.approx(weighed)
    assert after(values, Penalty()).mean == pytest.approx(weighed + (1 - alpha) ** count * values[0])


@pytest.mark.parametrize(("rounds", "seen"), [(10, 0.18), (50, 0.64), (120, 0.91), (300, 0.998)])
def test_from_zero_the_mean_begins_far_too_low(rounds: int, seen: float) -> None:
    assert after([1.0] * rounds, Penalty(start="zero")).mean == pytest.approx(seen, abs=0.005)
    assert after([1.0] * rounds, Penalty()).mean == pytest.approx(1.0)


SHORT = Penalty(smoothing=0.1, rounds_before=4, restart_after=3)
CALM = [1.0, 1.1, 0.9, 1.0, 1.1]


def test_a_norm_far_above_the_others_is_rejected_and_not_remembered() -> None:
    running = after(CALM, SHORT)
    assert score(running, 2.0) > 3
    assert judged(running, 2.0, SHORT) == (True, Running(running.mean, running.variance, running.count, refused=1))


def test_a_small_norm_is_never_odd() -> None:
    assert judged(after(CALM, SHORT), 0.0, SHORT)[0] is False


def test_nothing_is_judged_before_enough_rounds() -> None:
    assert judged(after(CALM[:3], SHORT), 1000.0, SHORT)[0] is False


@pytest.mark.parametrize("norm", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_is_rejected_from_the_first_round_and_leaves_no_trace(norm: float) -> None:
    for running in (Running(), after(CALM, SHORT)):
        assert judged(running, norm, SHORT) == (True, running)


def test_norms_that_have_changed_for_good_are_taken_again() -> None:
    running, verdicts = after(CALM, SHORT), []
    for _ in range(5):
        odd, running = judged(running, 5.0, SHORT)
        verdicts.append(odd)
    assert verdicts == [True, True, True, False, False]
    assert running.mean == pytest.approx(5.0)


def test_a_good_norm_ends_a_row_of_rejections() -> None:
    running = after(CALM, SHORT)
    for norm in (9.0, 9.0, 1.0):
        _, running = judged(running, norm, SHORT)
    assert running.refused == 0


def test_without_any_deviation_so_far_nothing_is_odd() -> None:
    assert judged(after([1.0] * 10, SHORT), 50.0, SHORT)[0] is False
