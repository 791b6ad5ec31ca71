"""Jobs that are played: what each trouble costs under each policy, in seconds that follow from the settings."""

from __future__ import annotations

import math

import pytest

from benchmarks.dlrm import jobs
from couler_py.steps.dlrm.planning.allocation import Allocation, Load
from couler_py.steps.dlrm.planning.performance import Fit
from couler_py.steps.dlrm.planning.policies import Elastic, Fixed
from couler_py.steps.dlrm.planning.simulator import Job, World

# A worker makes 10 rows a second, however many there are.
TRUTH, LOAD, FOUR = Fit("servers", (0, 0, 0, 0, 1.0), 5, 1, 0, 0), Load(batch=10), Allocation(4, 1, 1, 1)


def world(**trouble) -> World:
    return World(TRUTH, LOAD, 40_000.0, **trouble)


def test_without_trouble_a_job_takes_its_rows_by_its_speed() -> None:
    found = Job(world(), FOUR, shards=None, save_every=100.0).play(Fixed(math.inf))
    assert (found.seconds, found.completed, found.paused, found.rows_again) == (pytest.approx(1000), True, 0, 0)


@pytest.mark.parametrize(("shards", "seconds"), [(None, 4000), (800.0, 1280), (100.0, 1240)])
def test_fixed_parts_wait_for_the_slowest_and_shards_do_not(shards: float | None, seconds: float) -> None:
    found = Job(world(slow_at=0.0), FOUR, shards=shards, save_every=1e9).play(Fixed(math.inf))
    assert found.seconds == pytest.approx(seconds)


def test_a_kill_of_a_fixed_job_costs_a_restart_and_the_rows_since_its_checkpoint() -> None:
    found = Job(world(lost_at=(0.5, "worker")), FOUR, shards=None, save_every=300.0).play(Fixed(math.inf))
    assert (found.rows_again, found.paused) == (pytest.approx(8000), 480)
    assert found.seconds == pytest.approx(1000 + 200 + 480)


def test_a_lost_worker_costs_an_elastic_job_only_what_it_would_have_done() -> None:
    found = Job(world(lost_at=(0.5, "worker")), FOUR, shards=100.0, save_every=60.0).play(Elastic(None, math.inf))
    assert (found.rows_again, found.paused) == (0, 0)
    assert found.seconds == pytest.approx(1000 + 345 * 10 / 40, abs=10)


def test_a_lost_server_costs_a_new_one_and_the_rows_of_a_minute() -> None:
    found = Job(world(lost_at=(0.5, "server")), FOUR, shards=100.0, save_every=60.0).play(Elastic(None, math.inf))
    assert (found.rows_again, found.paused) == (pytest.approx(800), 420)
    assert found.seconds == pytest.approx(1000 + 420 + 20, abs=10)


def test_a_slow_worker_is_replaced_beside_training() -> None:
    found = Job(world(slow_at=0.25), FOUR, shards=100.0, save_every=60.0).play(Elastic(None, math.inf))
    assert found.seconds == pytest.approx(1000 + 345 * 7.5 / 40, abs=20)
    assert "replace the worker beside training" in found.log[-1]


def test_memory_that_grows_is_seen_by_the_planner_and_hits_who_does_not_look() -> None:
    growing = world(memory=lambda rows: 10.0 + rows / 400)
    fixed = Job(growing, FOUR, shards=None, save_every=300.0).play(Fixed(60.0))
    assert (fixed.ooms, fixed.relaunches, fixed.completed) == (1, 1, True)
    given_up = Job(growing, FOUR, shards=None, save_every=300.0).play(Fixed(60.0, more=1.0))
    assert (given_up.ooms, given_up.relaunches, given_up.completed) == (4, 4, False)
    elastic = Job(growing, FOUR, shards=100.0, save_every=60.0).play(Elastic(None, 90.0))
    assert (elastic.ooms, elastic.paused, elastic.completed) == (0, 180, True)
    assert elastic.seconds == pytest.approx(1180, abs=10)


@pytest.mark.parametrize("seed", range(3))
def test_planned_and_elastic_is_much_faster_than_fixed_and_even(seed: int) -> None:
    planned, known = jobs.elastic(seed, known=False), jobs.elastic(seed, known=True)
    others = [jobs.fixed(seed, jobs.DEFAULT), jobs.fixed(seed, jobs.EVEN), jobs.looked_after(seed, jobs.EVEN)]
    assert all(each.completed for each in (planned, known, *others))
    assert planned.ooms == known.ooms == 0
    assert planned.seconds <= 0.69 * min(each.seconds for each in others)
    assert jobs.HOURS * 3600 <= known.seconds < planned.seconds


def test_the_same_seed_plays_the_same_job() -> None:
    assert jobs.fixed(5, jobs.EVEN) == jobs.fixed(5, jobs.EVEN)
    assert jobs.elastic(5, known=True) == jobs.elastic(5, known=True)


def test_a_fixed_job_that_is_started_again_has_no_slow_worker_any_more() -> None:
    job = Job(world(slow_at=0.25, lost_at=(0.5, "server")), FOUR, shards=None, save_every=300.0)
    assert job.play(Fixed(math.inf)).relaunches == 1
    assert job.speeds.tolist() == [1.0] * 4


def test_the_move_after_the_last_probe_waits_for_its_nodes_too() -> None:
    log = jobs.elastic(0, known=False).log
    moved = [int(line.split()[0]) for line in log if "moves to" in line]
    assert moved == [*range(300, 2401, 300), 3000]
