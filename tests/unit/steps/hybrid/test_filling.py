"""Weight gradients in the gaps: all of them run, nothing waits for them, and a step gets shorter."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from couler_py.steps.hybrid.filling import Filled, fill
from couler_py.steps.hybrid.slices import Shape, explicit
from couler_py.steps.hybrid.timeline import DeadlockError, Op, play


def step(shape: Shape, lengths: list[float], pieces: int) -> tuple[float, Filled | None]:
    """Forward 1, gradient of the input 1, weights 1, for each unit of a slice's length; no pieces: not parted."""
    orders = explicit(shape)
    if not pieces:
        whole = play(
            orders,
            lambda op: lengths[op.slice] * (1 if op.kind == "F" else 2),
            stages=shape.stages,
            slices=shape.slices,
        )
        return whole.makespan, None
    found = fill(
        orders,
        lambda op: lengths[op.slice],
        lambda op: [lengths[op.slice] / pieces] * pieces,
        stages=shape.stages,
        slices=shape.slices,
    )
    return found.makespan, found


def test_unequal_slices_wait_much_less() -> None:
    """Slices of 0.6 to 1.4: as later slices attend to more keys."""
    shape, lengths = Shape(8, 4, 1, 16), [0.6, 0.6 + 0.8 / 3, 0.6 + 1.6 / 3, 1.4]
    whole, by_layer, by_product = (step(shape, lengths, pieces)[0] for pieces in (0, 1, 7))
    assert (whole, by_layer) == pytest.approx((293.4, 213.6))
    assert by_product == pytest.approx(205.9619, abs=1e-4)


def test_one_worker_has_no_gaps_to_fill() -> None:
    assert step(Shape(1, 1, 1, 4), [1.0], 7)[0] == pytest.approx(12.0)


def test_the_last_pieces_run_when_all_else_is_done() -> None:
    """Two workers, one micro-batch: forward, forward, backward, then the weights of both beside each other."""
    _, found = step(Shape(2, 1, 1, 1), [1.0], 1)
    assert found is not None
    assert found.weights[1] == ((Op("B", 0, 1), 0, 3.0, 4.0),)
    assert found.weights[0] == ((Op("B", 0, 0), 0, 4.0, 5.0),)
    assert found.makespan == 5.0


@settings(max_examples=40, deadline=None)
@given(
    workers=st.sampled_from([1, 2, 4]),
    slices=st.sampled_from([1, 2, 4]),
    micros=st.sampled_from([4, 8]),
    pieces=st.sampled_from([1, 7]),
    lengths=st.lists(st.floats(0.5, 2.0), min_size=4, max_size=4),
)
def test_every_piece_runs_once_after_its_backward_and_nobody_does_two_things_at_once(
    workers: int, slices: int, micros: int, pieces: int, lengths: list[float]
) -> None:
    shape = Shape(workers, slices, 1, micros)
    _, found = step(shape, lengths, pieces)
    assert found is not None
    for worker, row in enumerate(found.weights):
        assert sorted((op.micro, op.slice, piece) for op, piece, _, _ in row) == [
            (micro, part, piece) for micro in range(micros) for part in range(slices) for piece in range(pieces)
        ]
        assert all(start >= found.spans[op][1] for op, _, start, _ in row)
        busy = [(start, end) for _, _, start, end in row]
        busy += [span for op, span in found.spans.items() if op.stage == worker]
        busy.sort()
        assert all(before[1] <= after[0] + 1e-9 for before, after in pairwise(busy))
    assert max(found.peak) <= micros * slices * pieces


def test_a_schedule_that_cannot_go_on_says_who_waits_for_what() -> None:
    orders = [[Op("B", 0, 0), Op("F", 0, 0)]]
    with pytest.raises(DeadlockError, match=r"worker 0 waits to do B\(micro-batch 0, stage 0, slice 0\)"):
        fill(orders, lambda _: 1.0, lambda _: [1.0], stages=1)


def test_it_can_be_looked_at_as_a_trace(tmp_path: Path) -> None:
    shape = Shape(2, 1, 1, 2)
    _, found = step(shape, [1.0], 7)
    assert found is not None
    found.trace(explicit(shape)).write(tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert sum(each["name"].startswith("W") for each in events) == 2 * 2 * 7
