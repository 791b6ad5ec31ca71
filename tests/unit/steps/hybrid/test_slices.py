"""Slices: the formulas of the method, the schedule that reaches them, and the one that keeps within a memory."""

from __future__ import annotations

import itertools

import pytest

from couler_py.steps.hybrid.slices import Shape, bounded, explicit, plan_slices
from couler_py.steps.hybrid.timeline import DeadlockError, Op, Timeline, play

SHAPES = [
    Shape(p, s, v, times * -(-p // s))
    for p, s, v, times in itertools.product((1, 2, 4, 8), (1, 2, 4, 8), (1, 2, 3), (2, 4))
]


def played(shape: Shape) -> Timeline:
    return play(explicit(shape), lambda op: 1.0, stages=shape.stages, slices=shape.slices)


@pytest.mark.parametrize(
    "shape", SHAPES, ids=lambda shape: f"p{shape.workers} s{shape.slices} v{shape.chunks} n{shape.micros}"
)
def test_the_schedule_waits_and_holds_what_the_formulas_say(shape: Shape) -> None:
    timeline = played(shape)
    assert timeline.bubble == pytest.approx(shape.bubble)
    assert max(timeline.peak) == shape.most_live


@pytest.mark.parametrize(
    ("shape", "bubble", "memory"),
    [
        (Shape(4, 4, 1, 8), 0.0857, 0.438),
        (Shape(8, 8, 2, 16), 0.0266, 0.180),
        (Shape(8, 4, 2, 16), 0.0519, 0.297),
        (Shape(4, 2, 2, 8), 0.0857, 0.562),
    ],
)
def test_shapes_whose_waiting_and_memory_were_derived(shape: Shape, bubble: float, memory: float) -> None:
    timeline = played(shape)
    assert timeline.bubble == pytest.approx(bubble, abs=5e-5)
    assert shape.memory(max(timeline.peak)) == pytest.approx(memory, abs=7e-4)


@pytest.mark.parametrize("shape", SHAPES[::3], ids=str)
def test_the_bounded_schedule_is_as_good_where_memory_is_no_limit(shape: Shape) -> None:
    timeline = bounded(shape, shape.most_live)
    assert timeline.makespan == pytest.approx(played(shape).makespan)
    assert max(timeline.peak) <= shape.most_live


@pytest.mark.parametrize(
    ("shape", "first", "bubbles"),
    [
        (Shape(4, 4, 1, 8), 4, [0.429, 0.347, 0.238, 0.086]),
        (Shape(8, 8, 1, 16), 8, [0.467, 0.431, 0.391, 0.344, 0.289, 0.224, 0.147, 0.052]),
        (Shape(8, 4, 2, 16), 12, [0.467, 0.431, 0.391, 0.344, 0.180, 0.141, 0.099, 0.052]),
        (Shape(4, 4, 2, 8), 8, [0.273, 0.210, 0.135, 0.045]),
    ],
)
def test_less_memory_waits_more(shape: Shape, first: int, bubbles: list[float]) -> None:
    assert shape.least_live == first
    found = [bounded(shape, first + more) for more in range(len(bubbles))]
    assert [timeline.bubble for timeline in found] == pytest.approx(bubbles, abs=6e-4)
    assert [max(timeline.peak) for timeline in found] == list(range(first, first + len(bubbles)))


@pytest.mark.parametrize("shape", SHAPES[::5], ids=str)
def test_it_goes_on_exactly_from_the_least_memory_on(shape: Shape) -> None:
    bounded(shape, shape.least_live)
    with pytest.raises(DeadlockError, match=f"it takes at least {shape.least_live}"):
        bounded(shape, shape.least_live - 1)


def test_micro_batches_that_make_no_whole_group_wait_longer() -> None:
    """p4 s1 v2 n9: 0.234 instead of 0.143."""
    shape = Shape(4, 1, 2, 9)
    assert not shape.is_even
    assert played(shape).bubble == pytest.approx(0.234, abs=5e-4)
    assert shape.bubble == pytest.approx(0.143, abs=5e-4)


def test_each_operation_is_done_once_by_the_worker_of_its_stage() -> None:
    shape = Shape(4, 2, 2, 4)
    orders = explicit(shape)
    for worker, order in enumerate(orders):
        assert all(op.stage % shape.workers == worker for op in order)
    everything = [op for order in orders for op in order]
    assert sorted(everything) == sorted(
        Op(kind, micro, stage, part) for kind in "BF" for micro in range(4) for stage in range(8) for part in range(2)
    )


def test_the_fastest_shape_that_fits_is_chosen() -> None:
    choices = plan_slices(8, forward=32.0, activations=16e9, fixed=4e9, capacity=24e9, workers=4)
    assert [choice.step for choice in choices] == sorted(choice.step for choice in choices)
    assert all(choice.memory <= 24e9 for choice in choices)
    assert choices[0].shape == Shape(4, 8, 2, 8)


def test_with_little_memory_it_is_cut_finer_and_with_dear_slices_less() -> None:
    def shape(**given: float) -> Shape:
        return plan_slices(8, 32.0, 16e9, workers=4, chunks=(1,), **({"fixed": 4e9, "capacity": 24e9} | given))[0].shape

    assert shape(capacity=9e9).slices == 8
    assert shape(overhead=1.0).slices < shape().slices


def test_what_fits_nowhere_says_what_the_smallest_takes() -> None:
    with pytest.raises(ValueError, match=r"no shape fits 5e\+09 bytes on 4 workers: the smallest takes 8e\+09"):
        plan_slices(8, 32.0, 16e9, fixed=4e9, capacity=5e9, workers=4, chunks=(1,))
