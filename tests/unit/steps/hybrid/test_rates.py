"""Rates of ranks, and when they are news."""

from __future__ import annotations

import math

import pytest

from couler_py.steps.hybrid.rates import Timing, longer, pays, profile_devices


def steps(*slowness: float) -> list[dict[int, Timing]]:
    """Two steps in which each rank takes so many times its baseline of 0.1 s a layer and micro-batch."""
    return [{rank: Timing(0.1 * slow * 15 * 8, 15, 8) for rank, slow in enumerate(slowness)}] * 2


BASE = [0.1, 0.1, 0.1]


def test_a_rate_is_the_time_of_a_layer_over_a_healthy_ranks() -> None:
    found = profile_devices(steps(1.0, 2.57, 1.5), BASE)
    assert found.rates == pytest.approx((1.0, 2.57, 1.5))
    assert [rank for rank, _ in found.slow] == [1, 2]
    assert found.changed


def test_steps_of_the_window_are_averaged() -> None:
    found = profile_devices([*steps(1.0, 1.0, 1.0)[:1], *steps(1.0, 2.0, 1.0)[:1]], BASE)
    assert found.rates == pytest.approx((1.0, 1.5, 1.0))


def test_groups_of_other_sizes_count_as_the_largest() -> None:
    found = profile_devices([{0: Timing(0.19, 1, 1, alpha=1.9)}], [0.1])
    assert found.rates == (1.0,)


@pytest.mark.parametrize(
    ("size", "largest", "times"), [(4, 4, 1.0), (2, 4, 1.9), (1, 4, 4.0), (4, 2, 1 / 1.9), (4, 1, 1 / 4)]
)
def test_a_group_is_as_much_slower_as_it_is_smaller_than_the_first_plans(size: int, largest: int, times: float) -> None:
    assert longer({1: 1.0, 2: 1.9}, size, largest) == pytest.approx(times)


def test_nearly_healthy_is_healthy() -> None:
    found = profile_devices(steps(1.19, 1.0, 1.0), BASE)
    assert (found.rates, found.changed, found.slow) == ((1.0, 1.0, 1.0), False, ())


@pytest.mark.parametrize(("before", "now", "changed"), [(2.0, 2.29, False), (2.0, 2.3, True), (1.0, 1.25, False)])
def test_a_small_change_is_no_news(before: float, now: float, changed: bool) -> None:
    assert profile_devices(steps(now, 1.0, 1.0), BASE, (before, 1.0, 1.0)).changed is changed


def test_a_rate_that_swings_is_news_once_a_swing_and_pays_only_where_steps_are_left() -> None:
    planned: tuple[float, ...] = (1.0, 1.0, 1.0)
    news = 0
    for now in (1.1, 1.4, 1.4, 1.4, 1.1, 1.1):
        found = profile_devices(steps(now, 1.0, 1.0), BASE, planned)
        if found.changed:
            planned, news = found.rates, news + 1
    assert news == 2
    assert not pays(1.4, 1.1, steps=10, moving=5.0)
    assert pays(1.4, 1.1, steps=100, moving=5.0)


def test_a_suspended_rank_is_news_only_when_it_is_well() -> None:
    assert not profile_devices(steps(3.0, 1.0, 1.0), BASE, (5.0, 1.0, 1.0), suspended={0}).changed
    assert profile_devices(steps(1.1, 1.0, 1.0), BASE, (5.0, 1.0, 1.0), suspended={0}).changed


def test_a_lost_rank_is_news_once() -> None:
    found = profile_devices(steps(1.0, 1.0, 1.0), BASE, lost={2})
    assert found.rates == (1.0, 1.0, math.inf)
    assert found.changed
    assert not profile_devices(steps(1.0, 1.0), BASE, found.rates, lost={2}).changed


def test_a_rank_without_timings_keeps_its_rate() -> None:
    assert profile_devices(steps(1.0), BASE, (1.0, 3.0, 1.0)).rates == (1.0, 3.0, 1.0)


def test_a_rank_without_baseline_is_refused() -> None:
    with pytest.raises(ValueError, match="rank 3 has no baseline: there are 3"):
        profile_devices(steps(1.0, 1.0, 1.0, 1.0), BASE)
