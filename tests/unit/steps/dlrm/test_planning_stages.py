"""Where jobs begin, what is done about trouble, how a cluster is shared, and the rules that need no model."""

from __future__ import annotations

import itertools

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.dlrm import jobs, planning
from couler_py.steps.dlrm.planning import rules
from couler_py.steps.dlrm.planning.allocation import GIB, Allocation, Load, Measured, Space
from couler_py.steps.dlrm.planning.cluster import Capacity, Contender, Plan, fits, share, value
from couler_py.steps.dlrm.planning.deciding import Wanted, decide
from couler_py.steps.dlrm.planning.instability import Way
from couler_py.steps.dlrm.planning.instability import decide as decided
from couler_py.steps.dlrm.planning.memory import Reading
from couler_py.steps.dlrm.planning.probing import probe
from couler_py.steps.dlrm.planning.scaling import Needs
from couler_py.steps.dlrm.planning.similar import COLD, Features, Profile, clamped, similarity, warm_start


def past(job: str, workers: int, day: float, **features) -> Profile:
    return Profile(job, Features(**features), Load(), Allocation(workers, 4, 4, 8), day)


def test_the_nearest_tier_says_where_a_job_begins() -> None:
    same, data, model = (past("mine", 8, 1.0, model="xdeepfm"), past("a", 20, 2.0, data="ads"), past("b", 40, 3.0))
    new = Features(data="ads")
    for history, workers in (((same, data, model), 8), ((data, model), 20), ((model,), 40), ((), COLD.workers)):
        allocation, alike, decision = warm_start("mine", new, Load(), Space(), history)
        assert (allocation.workers, len(alike)) == (workers, min(1, len(history)))
        assert decision.choice == str(allocation)
    assert decision.confidence == "low"


def test_an_odd_run_does_not_matter_and_newer_ones_count_more() -> None:
    history = [past("mine", workers, float(day)) for day, workers in enumerate((10, 10, 11, 60, 12))]
    assert warm_start("mine", Features(), Load(), Space(), history)[0].workers == 12
    history = [past("mine", workers, float(day)) for day, workers in enumerate((10, 10, 10, 11, 60))]
    assert warm_start("mine", Features(), Load(), Space(), history)[0].workers == 11


def test_failed_runs_teach_nothing_and_those_out_of_memory_ask_for_more() -> None:
    failed = Profile("mine", Features(), Load(), Allocation(50, 4, 4, 8), 1.0, "Failed")
    assert warm_start("mine", Features(), Load(), Space(), [failed])[0] == COLD
    full = Profile("mine", Features(), Load(), Allocation(8, 4, 4, 8, GIB, 10 * GIB), 1.0, "OutOfMemory")
    assert warm_start("mine", Features(), Load(), Space(), [full])[0].server_memory == 12 * GIB


@given(
    st.tuples(st.integers(1, 99), st.integers(1, 30), st.integers(1, 64), st.integers(1, 64)),
    st.integers(2, 500),
)
def test_what_history_says_is_brought_within_the_space(at, cores: int) -> None:
    space = Space(cores=cores)
    found = clamped(Allocation(*at), space)
    assert all(x in allowed for x, allowed in zip(found.point, space.values, strict=True))
    assert found.cores <= cores


def test_a_growing_job_is_begun_near_what_it_needs() -> None:
    found = planning.begun(3)
    assert found["error"] < 0.25
    assert found["warm"] < found["cold"]


def test_a_hot_server_takes_as_long_as_in_the_published_figure() -> None:
    """33, 29 and 21 minutes there; the last trains at full speed beside the new node, where ours is still hot."""
    left, healthy = 15.0 * 60, 1.0
    now = left / (30 * 60)
    way, decision = decided("hot server", left=left, now=now, healthy=healthy)
    minutes = [way.seconds(left, now) / 60, *(each.numbers["seconds"] / 60 for each in decision.rejected)]
    assert way.name == "migrate beside training"
    assert [3 + each for each in minutes] == pytest.approx([23.5, 33.0, 29.0])


def test_nothing_is_done_where_the_job_ends_before() -> None:
    assert decided("slow worker", left=100.0, now=1.0, healthy=2.0)[0].name == "go on as it is"
    assert decided("slow worker", left=10_000.0, now=1.0, healthy=2.0)[0].name == "replace the worker beside training"


def test_a_server_that_fills_too_fast_is_stopped_for() -> None:
    slowly, _ = decided("filling server", left=1e6, now=10.0, healthy=10.0, until_full=1000.0)
    fast, decision = decided("filling server", left=1e6, now=10.0, healthy=10.0, until_full=100.0)
    assert (slowly.name, fast.name) == ("migrate beside training", "stop and migrate")
    assert decision.rejected[0].why == "it never ends"


@given(st.floats(1, 1e9), st.floats(0, 1e4), st.floats(0.01, 1e4), st.floats(0, 1e4), st.floats(0, 1e4))
def test_a_way_takes_no_less_than_training_all_at_its_best(left, before, after, beside, pause) -> None:
    seconds = Way("some", beside, pause, after).seconds(left, before)
    assert seconds >= left / max(before, after) * (1 - 1e-9)


def test_a_worker_that_fills_is_saved_and_begun_again() -> None:
    way, decision = decided("filling worker", left=1e6, now=1000.0, healthy=1000.0, until_full=60.0)
    assert (way.name, way.beside, way.pause) == ("save, and begin again with the memory that is needed", 0.0, 480.0)
    assert [(each.why, each.numbers) for each in decision.rejected] == [("it never ends", {})]


def test_a_lost_server_costs_what_was_trained_since_the_checkpoint() -> None:
    near, _ = decided("lost server", left=1000.0, now=0.0, healthy=1.0, lost=10.0)
    assert near.seconds(1000.0, 0.0) == 1000 + 10 + 300 + 120


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000))
def test_a_cluster_is_shared_within_its_capacity_and_near_the_best(seed: int) -> None:
    contenders, capacity = planning.contest(seed)
    chosen, decisions = share(contenders, capacity)
    assert fits(chosen, capacity)
    assert chosen.keys() == {job.job for job in contenders}
    assert all(plan in (job.current, *job.plans) for job, plan in zip(contenders, chosen.values(), strict=True))
    choices = [
        dict(zip(chosen, plans, strict=True))
        for plans in itertools.product(*((job.current, *job.plans) for job in contenders))
    ]
    best = max(value(contenders, each) for each in choices if fits(each, capacity))
    assert value(contenders, chosen) >= 0.9 * best
    assert [len(each.rejected) for each in decisions] == [
        len(job.plans) - (chosen[job.job] is not job.current) for job in contenders
    ]


def test_a_small_gain_does_not_block_a_large_one_and_soon_to_end_comes_first() -> None:
    small, large, now = Plan("small", 2, 0.0, 3.0), Plan("large", 10, 0.0, 10.0), Plan("now", 1, 0.0, 0.0)
    assert share([Contender("a", now, (small, large))], Capacity(10))[0] == {"a": large}
    soon, late = Contender("soon", now, (large,), left=60.0), Contender("late", now, (large,), left=9e5)
    assert share([late, soon], Capacity(11))[0] == {"soon": large, "late": now}
    with pytest.raises(ValueError, match="more than the cluster has"):
        share([soon], Capacity(0))


def test_what_a_job_does_not_need_goes_to_others() -> None:
    idle, busy = Plan("now", 8, 0.0, 0.0), Plan("now", 2, 0.0, 0.0)
    less, more = Plan("less", 2, 0.0, 0.0), Plan("more", 8, 0.0, 5.0)
    chosen, _ = share([Contender("idle", idle, (less,)), Contender("busy", busy, (more,))], Capacity(10))
    assert chosen == {"idle": less, "busy": more}


@pytest.mark.parametrize(
    ("seen", "workers", "why"),
    [
        (rules.Seen(), 4, "nobody measured"),
        (rules.Seen((0.5, 0.45)), 7, "servers are busy by 50%"),
        (rules.Seen((0.96,)), 4, "more than 95%"),
        (rules.Seen((0.1,)), 12, "12 workers would make it 30%"),
        (rules.Seen((0.5,), speeds=((2, 100.0), (4, 110.0))), 4, "the last workers brought 10%"),
    ],
)
def test_workers_are_added_by_the_head_room_of_servers(seen: rules.Seen, workers: int, why: str) -> None:
    current = Allocation(4, 2, 4, 8)
    found, decision = rules.fallback(current, Space(cores=64), seen)
    assert (found.workers, found.point[1:]) == (workers, current.point[1:])
    assert why in decision.why


def test_a_full_server_gets_eight_gib_more_once_three_reports_say_so() -> None:
    current = Allocation(4, 2, 4, 8, 0.0, 16 * GIB)
    few, _ = rules.fallback(current, Space(), rules.Seen((0.96,), (0.95, 0.95)))
    many, _ = rules.fallback(current, Space(), rules.Seen((0.96,), (0.95, 0.95, 0.95)))
    assert (few.server_memory, many.server_memory) == (16 * GIB, 24 * GIB)
    assert rules.hot_servers([8, 8], [4.0, 4.0], 4, 8) == (8, 8)


def test_all_stages_end_in_one_plan_with_its_decisions() -> None:
    readings = tuple(Reading(n * 1e6, 2.0 * GIB + n * 1e8) for n in range(1, 20))
    wanted = Wanted(
        "mine", Features(), jobs.LOAD, jobs.SPACE, measured=tuple(jobs.measured(0)), readings=readings, rows=1e8
    )
    found = decide(wanted)
    assert [each.stage for each in found.decisions] == ["warm start", "scaling", "memory"]
    assert (found.allocation.point, found.confidence) == ((14, 8, 4, 1), "high")
    assert found.allocation.server_memory * 8 == pytest.approx((2 * GIB + 100e8) * 1.15 / 0.9, rel=1e-3)
    assert found.cost == pytest.approx(64 + found.allocation.memory / GIB / 8)


def test_without_measures_rules_decide_and_history_counts_as_measures() -> None:
    wanted = Wanted("mine", Features(), jobs.LOAD, jobs.SPACE, current=Allocation(4, 2, 4, 8), seen=rules.Seen((0.45,)))
    found = decide(wanted)
    assert [each.stage for each in found.decisions] == ["fallback", "memory"]
    assert (found.allocation.workers, found.rows_per_second) == (8, None)
    history = [
        Profile("other", Features(), jobs.LOAD, each.allocation, 1.0, seconds=each.seconds) for each in jobs.measured(0)
    ]
    assert decide(wanted, history).allocation.point == (14, 8, 4, 1)


def test_too_little_is_made_up_for_by_probes_that_tell_most() -> None:
    load, space = Load("ranks", 2048, 416, 1.0), Space((1, 8), (0, 0), (1, 2), (), cores=8)
    measured, tried = [], []
    while (found := probe(load, space, Needs(), measured)) is not None:
        allocation, decision = found
        assert allocation.cores <= 8
        assert decision.stage == "probe"
        tried.append(allocation)
        measured.append(jobs.Measured(allocation, load, 1.0))
    assert 3 <= len(tried) == len({each.point for each in tried}) <= 5


def test_a_node_that_can_not_hold_it_is_said() -> None:
    space = Space((1, 2), (0, 0), (1,), (), node_memory=GIB)
    found = decide(Wanted("mine", Features(), Load("ranks"), space, needs=Needs(shared=100 * GIB)))
    assert found.decisions[-1].confidence == "low"
    assert "a node has no more" in found.decisions[-1].why


def test_data_that_is_not_known_makes_no_job_less_alike() -> None:
    known, unknown = Features(data="ads", rows=1e6), Features(rows=1e6)
    assert similarity(known, unknown) == similarity(known, known) == 1.0
    assert similarity(known, Features(data="books", rows=1e6)) == 0.75


def test_measures_count_whichever_data_they_are_of() -> None:
    load, space = Load("ranks", 2048, 416.0, 1.0), Space((1, 8), (0, 0), (1,), ())
    seconds = {1: 0.9, 2: 0.5, 4: 0.31, 6: 0.28}
    history = [
        Profile("daily", Features(data=f"day {workers}"), load, Allocation(workers), 1.0, seconds=each)
        for workers, each in seconds.items()
    ]
    found = decide(Wanted("daily", Features(data="today"), load, space), history)
    assert found.rows_per_second is not None
    assert found.allocation.workers == 8


def test_a_running_job_does_not_move_for_less_than_the_move_costs() -> None:
    load, space = Load("ranks", 2048, 416.0, 1.0), Space((1, 8), (0, 0), (1,), ())
    measured = tuple(Measured(Allocation(n), load, each) for n, each in {1: 0.9, 2: 0.5, 4: 0.31, 6: 0.28}.items())
    speed = 2048 / 0.28
    running = Wanted(
        "daily", Features(), load, space, current=Allocation(6), measured=measured, rows=1800 * speed, pause=600.0
    )
    assert decide(running).allocation.workers == 6
    assert decide(msgspec.structs.replace(running, rows=1e9 * speed)).allocation.workers == 8
    assert decide(msgspec.structs.replace(running, pause=0.0)).allocation.workers == 8
