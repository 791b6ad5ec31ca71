"""When to plan anew: a rank that gets slow, one that was slow from the start, and nothing for noise."""

from __future__ import annotations

import math

import pytest

from couler_py.steps.hybrid.plan import Hardware, Plan
from couler_py.steps.hybrid.rates import Timing
from couler_py.steps.hybrid.straggler import plan_straggler, uniform
from couler_py.steps.hybrid.watching import Healthy, News, Watch

HARDWARE = Hardware((1.0,) * 4, node=4, tensor=1)


def timings(plan: Plan, slow: dict[int, float], unit: float = 0.01) -> dict[int, Timing]:
    """What ranks compute of a step under a plan."""
    return {
        stage.ranks[0]: Timing(
            unit * slow.get(stage.ranks[0], 1.0) * stage.count * pipeline.micros, stage.count, pipeline.micros
        )
        for pipeline in plan.pipelines
        for stage in pipeline.stages
    }


def watched(steps: list[dict[int, float]], left: int = 1000, moving: float = 0.0) -> tuple[Watch, list[News | None]]:
    """What is said of steps in which ranks were so slow."""
    watch = Watch(HARDWARE, uniform(HARDWARE, 8, 8, 2))
    return watch, [watch.see(timings(watch.plan, slow), left, moving) for slow in steps]


def test_a_rank_that_gets_slow_gets_less_to_do_and_is_named() -> None:
    watch, told = watched([{}] * 6 + [{1: 2.5}] * 3)
    found = [each for each in told if each is not None]
    assert len(found) == 2  # once when half of the window was slow, once when all of it was
    assert [(rank, round(rate, 9)) for rank, rate in found[-1].rates.slow] == [(1, 2.5)]
    assert str(found[-1]).startswith("rank 1 takes 2.50 times as long: another plan saves 0.")
    layers = {stage.ranks[0]: stage.count for each in watch.plan.pipelines for stage in each.stages}
    assert layers[1] < 4 < max(layers.values())


def test_a_rank_that_is_slow_from_the_start_is_found_too() -> None:
    _, told = watched([{2: 2.0}] * 4)
    assert told[:3] == [None, None, None]
    assert told[3] is not None
    assert [(rank, round(rate, 9)) for rank, rate in told[3].rates.slow] == [(2, 2.0)]


def test_noise_and_a_rate_to_and_fro_within_the_gap_are_no_news() -> None:
    _, told = watched([{}, {}, {}, {}, {1: 1.15}, {}, {1: 1.25}, {}, {1: 1.3}, {}])
    assert told == [None] * 10


def test_a_plan_changes_back_when_the_rank_is_healthy_again() -> None:
    watch, told = watched([{}] * 4 + [{1: 2.5}] * 4 + [{}] * 4)
    last = [each for each in told if each is not None][-1]
    assert last.plan is not None
    assert last.rates.slow == ()
    assert sorted(stage.count for each in watch.plan.pipelines for stage in each.stages) == [4, 4, 4, 4]


def test_the_last_steps_are_not_worth_a_change() -> None:
    watch, told = watched([{}] * 4 + [{1: 2.5}] * 3, left=1, moving=10.0)
    found = [each for each in told if each is not None]
    assert found
    assert all(each.plan is None and "no other plan is worth the change" in str(each) for each in found)
    assert watch.plan == uniform(HARDWARE, 8, 8, 2)


def test_a_rank_that_does_nothing_is_taken_back_when_its_own_small_computation_is_fast() -> None:
    watch = Watch(HARDWARE, uniform(HARDWARE, 8, 8, 2))
    for slow in [1.0] * 4 + [50.0] * 4:
        probes = {rank: 0.002 * (slow if rank == 1 else 1.0) for rank in watch.probing}
        watch.see(timings(watch.plan, {1: slow}), 1000, 0.0, probes)
    assert watch.healthy == Healthy(pytest.approx(0.01), 0.002)  # type: ignore[arg-type]
    assert (list(watch.plan.suspended), set(watch.probing)) == ([1], {1})
    told = [watch.see(timings(watch.plan, {}), 1000, 0.0, {1: 0.002}) for _ in range(3)]
    assert any(each is not None and each.plan is not None for each in told)
    assert (list(watch.plan.suspended), set(watch.probing)) == ([], set())


def test_a_rank_without_work_stays_suspended_while_its_small_computation_is_slow() -> None:
    watch, _ = watched([{}] * 4 + [{1: 50.0}] * 4)
    probed = Watch(Hardware(watch.rates, 4, 1), watch.plan, None, Healthy(0.01, 0.002))
    assert [probed.see(timings(watch.plan, {}), 1000, 0.0, {1: seconds}) for seconds in (0.1, 0.06, 0.03)] == [None] * 3


def test_all_ranks_that_live_do_the_small_computation_until_it_is_known_what_a_healthy_one_takes() -> None:
    hardware = Hardware((1.0, 1.0, math.inf, 1.0), node=4, tensor=1)
    watch = Watch(hardware, plan_straggler(hardware, 8, 8, 1))
    seen = []
    for _ in range(4):
        seen.append(watch.probing)
        watch.see(timings(watch.plan, {}), 1000, 0.0, dict.fromkeys(watch.probing, 0.002))
    assert seen == [{0, 1, 3}] * 4
    assert watch.probing == frozenset()  # the one that has no work is gone


def test_rates_for_which_a_change_was_refused_are_not_planned_for_again_while_the_plan_stays() -> None:
    watch, told = watched([{}] * 4 + [{1: 2.0}] * 2, left=1, moving=10.0)
    assert [each.plan for each in told if each is not None] == [None, None]  # 1.5, then 2.0
    for slow in (1.0, 1.0, 2.0, 2.0, 2.2):  # there would be time for a change now
        found = watch.see(timings(watch.plan, {1: slow}), 1000)
        assert found is None or found.plan is None
    assert watch.see(timings(watch.plan, {1: 3.0}), 1000) is not None
    assert watch.plan != uniform(HARDWARE, 8, 8, 2)  # further than 0.3 from all that was refused


def test_a_refusal_does_not_move_what_the_plan_was_made_for() -> None:
    """After a refusal at 1.5 a rank that is healthy again is told as such, and nothing is planned: the plan fits it."""
    watch, _ = watched([{}] * 4 + [{1: 1.5}] * 2, left=1, moving=10.0)
    assert watch.rates[1] == pytest.approx(1.5)
    told = [watch.see(timings(watch.plan, {}), 1000) for _ in range(3)]
    assert [str(each) for each in told if each is not None] == ["no rank is slow: no other plan is worth the change"]
    assert watch.rates == (1.0,) * 4


def test_who_is_lost_gets_nothing_and_who_is_back_gets_a_share_again() -> None:
    watch, _ = watched([{}] * 5)
    lost = watch.regroup([0, 1, 2], pipelines=2)
    assert lost.plan is not None
    assert {rank for each in lost.plan.pipelines for stage in each.stages for rank in stage.ranks} == {0, 1, 2}
    assert watch.rates == (1.0, 1.0, 1.0, math.inf)
    assert [rank for rank, _ in lost.rates.slow] == [3]
    assert watch.see(timings(watch.plan, {}), 1000) is None
    assert watch.see(timings(watch.plan, {}), 1000) is None  # that it is gone is no news any more
    back = watch.regroup([0, 1, 2, 3], pipelines=2)
    assert watch.rates == (1.0,) * 4
    assert back.step < lost.step
    assert sorted(stage.count for each in watch.plan.pipelines for stage in each.stages) == [4, 4, 4, 4]


def test_a_rank_that_was_slow_stays_so_when_another_is_lost() -> None:
    watch, _ = watched([{}] * 4 + [{1: 2.5}] * 4)
    watch.regroup([0, 1, 2], pipelines=2)
    assert list(watch.rates) == pytest.approx([1.0, 2.5, 1.0, math.inf])
    told = watch.see(timings(watch.plan, {}), 1000) or watch.see(timings(watch.plan, {}), 1000)
    assert told is not None
    assert str(told).startswith("rank 3 is gone")
