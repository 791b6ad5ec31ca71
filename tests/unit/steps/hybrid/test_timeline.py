"""Schedules that are played: exact times, and words for what can't go on."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from couler_py.steps.hybrid.timeline import (
    DeadlockError,
    Op,
    needs,
    one_forward_one_backward,
    pipeline_step,
    play,
)


def test_one_stage_does_one_after_the_other() -> None:
    assert pipeline_step([3.0], 4) == 12.0


@pytest.mark.parametrize(("stages", "micros"), [(2, 4), (4, 8), (4, 2), (8, 16)])
def test_equal_stages_wait_as_the_formula_says(stages: int, micros: int) -> None:
    """(p - 1) / (p - 1 + n) of the time is waited (Huang et al., GPipe; Narayanan et al., Megatron-LM)."""
    played = play(one_forward_one_backward(stages, micros), lambda op: 1.0, stages=stages)
    assert played.bubble == pytest.approx((stages - 1) / (stages - 1 + micros))
    assert played.makespan == 2 * (micros + stages - 1)


def test_a_stage_holds_as_many_micro_batches_as_stages_come_behind_it_with_itself() -> None:
    assert play(one_forward_one_backward(4, 8), lambda op: 1.0, stages=4).peak == (4, 3, 2, 1)


times = st.lists(st.integers(1, 9).map(float), min_size=1, max_size=5)


@settings(max_examples=200)
@given(times, st.integers(1, 12))
def test_a_step_takes_no_longer_than_the_formula_and_no_less_than_the_slowest_stage(times: list[float], n: int) -> None:
    step = pipeline_step(times, n)
    assert step <= sum(times) + (n - 1) * max(times) + 1e-9
    assert step >= max(n * max(times), sum(times)) - 1e-9


def test_the_slow_first_stage_of_the_brief() -> None:
    """dp2 pp4, 32 layers, 32 micro-batches, a rate of 2.57: 332 where the formula says 353."""
    times = [8 * 2.57, 8.0, 8.0, 8.0]
    assert sum(times) + 15 * max(times) == pytest.approx(353, abs=0.5)
    assert pipeline_step(times, 16) == pytest.approx(332, abs=0.7)


def test_what_is_sent_takes_its_time() -> None:
    played = play(one_forward_one_backward(2, 1), lambda op: 1.0, stages=2, sending=0.5)
    assert played.makespan == 5.0


def test_what_all_wait_for_is_named() -> None:
    orders = [[Op("B", 0, 0), Op("F", 0, 0)], [Op("F", 0, 1), Op("B", 0, 1)]]
    with pytest.raises(
        DeadlockError, match=r"worker 0 waits to do B\(micro-batch 0, stage 0, slice 0\); worker 1 waits"
    ):
        play(orders, lambda op: 1.0, stages=2)


def test_an_operation_twice_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"F\(micro-batch 0, stage 0, slice 0\) is on worker 0 and on worker 1"):
        play([[Op("F", 0, 0)], [Op("F", 0, 0)]], lambda op: 1.0, stages=1)


def test_an_operation_that_nobody_does_is_an_error() -> None:
    with pytest.raises(ValueError, match="which no worker does"):
        play([[Op("F", 0, 1)]], lambda op: 1.0, stages=2)


def test_slices_need_those_before_them_and_give_gradients_back_to_them() -> None:
    assert needs(Op("F", 2, 3, 1), 8, 4) == [Op("F", 2, 2, 1), Op("F", 2, 3, 0)]
    assert needs(Op("B", 2, 3, 1), 8, 4) == [Op("B", 2, 4, 1), Op("B", 2, 3, 2)]
    assert needs(Op("B", 0, 7, 3), 8, 4) == [Op("F", 0, 7, 3)]


def test_it_is_shown_as_a_trace() -> None:
    trace = play(one_forward_one_backward(2, 1), lambda op: 1.0, stages=2).trace()
    spans = [(event["name"], event["ts"], event["dur"]) for event in trace.events() if event["ph"] == "X"]
    assert spans == [("F0.0", 0, 1000), ("F0.0", 1000, 1000), ("B0.0", 2000, 1000), ("B0.0", 3000, 1000)]
