"""Boxes and cells: cells tile a tensor, and the usual ways of sharing it cut none of them."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from couler_py.steps.checkpoint.boxes import Box, cells, edges, meeting, whole

shapes = st.lists(st.integers(0, 30), max_size=3).map(tuple)


@st.composite
def boxed(draw: st.DrawFn) -> tuple[tuple[int, ...], list[Box]]:
    """A shape and some boxes within it."""
    shape = draw(shapes)
    found = []
    for _ in range(draw(st.integers(0, 4))):
        spans = [sorted((draw(st.integers(0, length)), draw(st.integers(0, length)))) for length in shape]
        found.append(Box(tuple(a for a, _ in spans), tuple(b - a for a, b in spans)))
    return shape, found


@given(boxed(), st.sampled_from([0, 1 << 16]))
def test_cells_hold_each_number_once(given: tuple[tuple[int, ...], list[Box]], grain: int) -> None:
    shape, boxes = given
    found = cells(edges(shape, 4, boxes, grain))
    assert sum(box.size for box in found) == math.prod(shape)
    assert all(a.meet(b) is None for a, b in itertools.combinations(found, 2) if a.shape)


@given(boxed())
def test_no_cell_is_cut_by_a_box_that_was_given(given: tuple[tuple[int, ...], list[Box]]) -> None:
    shape, boxes = given
    for cell, box in itertools.product(cells(edges(shape, 4, boxes)), [box for box in boxes if box.size]):
        common = cell.meet(box)
        assert common in (None, cell) or not shape


@given(boxed())
def test_the_cells_that_meet_a_box_are_found_with_their_numbers(given: tuple[tuple[int, ...], list[Box]]) -> None:
    shape, boxes = given
    cuts = edges(shape, 4, (), grain=0)
    every = cells(cuts)
    for box in boxes:
        expected = [(number, cell) for number, cell in enumerate(every) if box.size and (not shape or cell.meet(box))]
        assert list(meeting(cuts, box)) == expected


@pytest.mark.parametrize("parts", [1, 2, 3, 4, 6, 8])
@pytest.mark.parametrize("length", [24, 25, 7, 100])
def test_rows_are_shared_without_cutting_a_cell(parts: int, length: int) -> None:
    cuts = set(edges((length, 5), 4, (), grain=0)[0])
    step = -(-length // parts)
    assert set(range(0, length, step)) <= cuts


def test_cells_depend_on_the_shape_alone() -> None:
    shared = [Box((0, 0), (12, 64)), Box((12, 0), (12, 64))]
    columns = [Box((0, 0), (24, 16)), Box((0, 16), (24, 48))]
    assert edges((24, 64), 4, shared, 0) == edges((24, 64), 4, (), 0)
    assert edges((24, 64), 4, columns, 0) == edges((24, 64), 4, (), 0)


def test_small_tensors_are_one_cell() -> None:
    assert cells(edges((100,), 4)) == [Box((0,), (100,))]


def test_a_number_alone_is_one_cell_and_nothing_is_none() -> None:
    assert cells(edges((), 4)) == [Box((), ())]
    assert cells(edges((0, 5), 4)) == []


def test_boxes_meet() -> None:
    assert Box((0, 2), (3, 3)).meet(Box((2, 0), (3, 3))) == Box((2, 2), (1, 1))
    assert Box((0,), (3,)).meet(Box((3,), (3,))) is None


def test_a_box_lies_within_another() -> None:
    assert whole((4, 4)).holds(Box((1, 1), (3, 3)))
    assert not Box((1, 1), (3, 3)).holds(whole((4, 4)))
    assert Box((3, 5), (1, 2)).within(Box((2, 4), (4, 4))) == (slice(1, 2), slice(1, 3))
