"""Rows one by one: each micro-batch fits and is no longer than its longest row, and rows move while that helps."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from couler_py.steps.lora.planning.costs import Config, Costs, Tau
from couler_py.steps.lora.planning.deploying import least
from couler_py.steps.lora.planning.packing import packed, shared_out, time_of

COSTS = Costs(1, {tensor: Tau((0, 0, 1 / (512 * tensor), 0, 0, 1)) for tensor in (1, 2, 4)})
"""A row of S tokens takes S / (512 · tensor), and a micro-batch 1 besides."""
SMALL, DEEP, WIDE = Config(1, 1, 1024), Config(1, 2, 1024), Config(2, 1, 2048)


def test_a_micro_batch_ends_where_no_more_fit() -> None:
    assert packed(SMALL, [256, 512, 512, 500], COSTS) == [(2, 512), (2, 500)]
    assert packed(SMALL, [], COSTS) == []


def test_a_micro_batch_ends_where_padding_would_take_longer_than_another_one_does() -> None:
    """Beside 1024 tokens, rows of 256 have 1.5 of padding each, and a micro-batch takes 1 by itself."""
    large = Config(1, 1, 8192)
    assert packed(large, [1024, 256, 256], COSTS) == [(1, 1024), (2, 256)]
    assert packed(large, [1024, 768, 768], COSTS) == [(3, 1024)]


def test_a_pipeline_is_filled_by_its_longest_micro_batch() -> None:
    assert time_of(SMALL, [1024, 512, 512], COSTS) == 6.0
    assert time_of(DEEP, [1024, 512, 512], COSTS) == 4.5


def test_long_rows_go_to_who_holds_them_and_short_ones_fill_up() -> None:
    found = shared_out([WIDE, SMALL, SMALL], [2048, 512, 512, 512, 512], COSTS)
    assert [sorted(own) for own in found] == [[2048], [512, 512], [512, 512]]
    with pytest.raises(ValueError, match="a row of 4096 tokens: no replica holds more than 2048"):
        shared_out([WIDE, SMALL], [4096], COSTS)


@settings(max_examples=30, deadline=None)
@given(
    rows=st.lists(st.integers(1, 128).map(lambda number: 16 * number), min_size=1, max_size=25),
    small=st.integers(0, 3),
    deep=st.integers(0, 1),
)
def test_every_row_is_done_once_and_no_bound_is_broken(rows: list[int], small: int, deep: int) -> None:
    replicas = [WIDE] + [DEEP] * deep + [SMALL] * small
    found = shared_out(replicas, rows, COSTS)
    assert sorted(length for own in found for length in own) == sorted(rows)
    for config, own in zip(replicas, found, strict=True):
        micros = packed(config, own, COSTS)
        assert all(count * longest <= config.tokens for count, longest in micros)
        assert sum(count for count, _ in micros) == len(own)
    counts = {length: rows.count(length) for length in rows}
    end = max(time_of(config, own, COSTS) for config, own in zip(replicas, found, strict=True))
    assert end >= least(replicas, counts, COSTS) - 1e-9
