"""Memory: how much is needed at the end, and when a node runs out."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.dlrm import traces
from couler_py.steps.dlrm.planning.memory import Reading, Watch, activation_bytes, forecast, table_bytes


@pytest.mark.parametrize("kind", traces.GROWING)
def test_growth_is_noticed_three_reports_before_the_limit(kind: str) -> None:
    for seed in range(20):
        alarm, full = traces.alarm(traces.trace(kind, seed))
        assert full is None or (alarm is not None and full - alarm.report >= 3)


@pytest.mark.parametrize("kind", ["flat", "saw"])
def test_memory_that_comes_and_goes_is_no_alarm(kind: str) -> None:
    assert sum(traces.alarm(traces.trace(kind, seed))[0] is not None for seed in range(50)) <= 5


@given(st.integers(1, 30), st.floats(0.5, 20), st.floats(0, 50))
def test_a_line_is_noticed_when_so_many_reports_are_left(lead: int, slope: float, base: float) -> None:
    watch = Watch(300.0, lead)
    values = [base + slope * number for number in range(700)]
    full = next(number for number, value in enumerate(values) if value >= 300)
    first = next(number for number, value in enumerate(values) if watch.report(value) is not None)
    assert lead <= full - first <= lead + 2 or first <= 3


def test_an_alarm_says_what_is_left() -> None:
    watch = Watch(100.0, lead=4)
    alarms = [watch.report(10.0 * number) for number in range(1, 7)]
    assert alarms[:4] == [None] * 4
    assert alarms[4] is not None
    assert (alarms[4].report, alarms[4].reports_left) == (4, pytest.approx(4.0))


@pytest.mark.parametrize(
    ("exponent", "law", "linear", "heaps"),
    [(0.64, "linear", 1.6, 1.0), (0.94, "linear", 1.1, 1.0), (1.0, "linear", 1.0, 1.0)],
)
def test_the_end_is_foretold_from_the_first_tenth(exponent: float, law: str, linear: float, heaps: float) -> None:
    readings = [Reading(n * 1e6, 1e9 * n**exponent) for n in range(1, 21)]
    found, actual = forecast(readings, 200e6), 1e9 * 200**exponent
    assert found.law == law
    assert found.heaps / actual == pytest.approx(heaps, rel=0.01)
    assert found.linear / actual == pytest.approx(linear, rel=0.8)
    assert found.peak == pytest.approx(1.15 * max(found.linear, found.heaps))
    assert found.peak >= actual


def test_what_is_flat_stays() -> None:
    found = forecast([Reading(float(n), 5e9) for n in range(20)], 1e6)
    assert (found.law, found.peak) == ("flat", pytest.approx(5.75e9))


@given(st.lists(st.floats(1, 1e12), min_size=2, max_size=30), st.floats(0, 1e9))
def test_a_forecast_is_never_below_what_there_was(values: list[float], rows: float) -> None:
    found = forecast([Reading(float(n), each) for n, each in enumerate(values, 1)], len(values) + rows)
    assert found.peak >= max(values)
    assert math.isfinite(found.peak)


def test_bytes_follow_from_sizes() -> None:
    assert [table_bytes(10, 8, each) for each in ("sgd", "rowwise_adagrad", "adagrad", "adam")] == [320, 360, 640, 960]
    assert activation_bytes(2, 3, 4) == 4 * 3 * 2 * 4 * 4 + 8 * 2 * 3
    with pytest.raises(ValueError, match="'lamb'"):
        table_bytes(1, 1, "lamb")
    with pytest.raises(ValueError, match="two readings"):
        forecast([Reading(1.0, 1.0)], 2.0)
    with pytest.raises(ValueError, match="both are above 0"):
        Watch(0.0)
