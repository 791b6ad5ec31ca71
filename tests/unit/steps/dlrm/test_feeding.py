"""Micro-batches: every row is in one of them, whoever takes it and whenever the number of ranks changes."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from couler_py.steps.dlrm.feeding import Blocks
from couler_py.steps.dlrm.shapes import PRESETS, Shape, shape_of
from couler_py.steps.dlrm.task import Task


class Numbers:
    """Rows that are their own numbers."""

    def __init__(self, rows: int):
        self.rows = rows

    def __len__(self) -> int:
        return self.rows

    def take(self, start: int, stop: int) -> Any:
        return SimpleNamespace(label=range(start, stop))


def of_all(feeds: list[Blocks]) -> list[int]:
    world = len(feeds)
    return [row for rank, feed in enumerate(feeds) for batch in feed.next(rank, world) for row in batch.label]


@given(st.integers(1, 60), st.integers(1, 12), st.integers(1, 6), st.data())
def test_each_row_is_given_once_while_ranks_come_and_go(
    rows: int, size: int, planned: int, data: st.DataObject
) -> None:
    alone, facts, seen = Blocks(Numbers(rows), size, planned, seed=3), {"micro-batches": 0}, []
    for _ in range(alone.steps):
        world = data.draw(st.integers(1, 4))
        feeds = [Blocks(Numbers(rows), size, planned, seed=3) for _ in range(world)]
        for feed in feeds:
            feed.restore(facts)
        step = of_all(feeds)
        assert sorted(step) == sorted(of_all([alone]))
        seen += step
        assert len({str(feed.facts()) for feed in feeds}) == 1
        facts = feeds[0].facts()
    assert sorted(seen) == list(range(rows))
    assert alone.next(0, 1) == []


def test_epochs_are_ordered_anew_and_may_be_parts() -> None:
    feed = Blocks(Numbers(40), 1, 40, epochs=1.5)
    first, second = of_all([feed]), of_all([feed])
    assert (sorted(first), len(second), feed.steps) == (list(range(40)), 20, 2)
    assert second != first[:20]


@pytest.mark.parametrize("options", [{"size": 0, "planned": 1}, {"size": 1, "planned": 0}])
def test_blocks_without_rows_are_refused(options: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="all of them are above 0"):
        Blocks(Numbers(1), **options)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"batch": 10, "micro_batches": 4}, "a step of 10 rows isn't shared evenly by 4 micro-batches"),
        ({"save_every": 0}, "save_every is 0: it is at least 1, or None"),
        ({"row_lr": 0.0}, "rates and epochs are above 0"),
    ],
)
def test_a_task_that_makes_no_sense_is_refused(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        Task(**options)


def test_shapes_go_by_name() -> None:
    assert shape_of("wide-deep").table_width == 17
    assert shape_of(PRESETS["dlrm"]) is PRESETS["dlrm"]
    with pytest.raises(ValueError, match="no model is called 'huge': there are dlrm, dcn-v2"):
        shape_of("huge")
    with pytest.raises(ValueError, match="all of them are at least 1"):
        Shape(top=(8, 0))
