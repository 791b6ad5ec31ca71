"""Durations as Argo reads and writes them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from couler_py.backends.argo.durations import loose_seconds_of, seconds_of, written


@given(st.integers(0, 10**6), st.sampled_from(["s", "m", "h"]))
def test_a_duration_is_its_number_of_units(number: int, unit: str) -> None:
    assert seconds_of(f"{number}{unit}") == number * {"s": 1, "m": 60, "h": 3600}[unit]


@pytest.mark.parametrize("text", ["", "1", "1d", "1 h", "h", "1h 2m", "1,5h", "--1s"])
def test_what_is_no_duration(text: str) -> None:
    assert seconds_of(text) is None


def test_where_plain_numbers_are_seconds() -> None:
    assert (loose_seconds_of("90"), loose_seconds_of("1m"), loose_seconds_of("1.5")) == (90, 60, None)


@given(st.integers(0, 10**9))
def test_whole_seconds_are_written_with_one_unit_and_read_back(seconds: int) -> None:
    assert seconds_of(written(seconds)) == seconds


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0s"), (86400, "24h"), (5400, "90m"), (61, "61s"), (1.5, "1500ms"), (1e-9, "1ms")]
)
def test_the_largest_unit_that_says_it_whole_is_written(seconds: float, text: str) -> None:
    assert written(seconds) == text
