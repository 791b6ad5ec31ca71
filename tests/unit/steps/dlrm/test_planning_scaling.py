"""What is chosen: undominated, within the quota, and by what it is worth."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.dlrm import jobs
from couler_py.steps.dlrm.planning import search
from couler_py.steps.dlrm.planning.allocation import GIB, Allocation, Goal, Prices, Space
from couler_py.steps.dlrm.planning.pareto import crowding, hypervolume, ranks
from couler_py.steps.dlrm.planning.performance import fit
from couler_py.steps.dlrm.planning.scaling import Needs, evaluator, scale

EVALUATE = evaluator(jobs.TRUTH, jobs.LOAD, jobs.SPACE, Needs(), Prices())


def test_all_points_are_looked_at_where_there_are_few() -> None:
    found = search.front(jobs.SPACE.values, EVALUATE)
    assert (found.exact, found.evaluations, len(found.points)) == (True, 2048, 45)
    assert found.points[-1].tolist() == [14, 8, 4, 1]
    assert (np.diff(found.objectives, axis=0) * [1, -1] > 0).all()


def test_the_search_finds_what_enumeration_finds() -> None:
    exact = search.enumerated(jobs.SPACE.values, EVALUATE)
    reference = (100.0, 0.0)
    whole = hypervolume(exact.objectives, reference)
    found = search.evolved(jobs.SPACE.values, EVALUATE, seed=1)
    assert hypervolume(found.objectives, reference) >= 0.98 * whole
    assert found.evaluations < exact.evaluations / 2
    assert (search.evolved(jobs.SPACE.values, EVALUATE, seed=1).points == found.points).all()


def test_a_known_point_is_never_lost() -> None:
    best = (14, 8, 4, 1)
    found = search.evolved(jobs.SPACE.values, EVALUATE, known=[best, (99, 1, 1, 1)], population=4, generations=1)
    assert list(best) in found.points.tolist()


def test_fronts_and_crowding_are_those_of_the_paper() -> None:
    objectives = np.array([[1.0, 4.0], [2.0, 2.0], [4.0, 1.0], [3.0, 3.0], [0.0, 0.0]])
    assert ranks(objectives, np.array([0.0, 0, 0, 0, 1])).tolist() == [0, 0, 0, 1, 2]
    assert crowding(objectives[:3]).tolist() == [np.inf, 2.0, np.inf]


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 300), st.floats(1, 400), st.floats(1, 64), st.integers(0, 999))
def test_the_quota_and_the_memory_of_nodes_are_kept(cores: int, memory: float, node: float, seed: int) -> None:
    space = Space((1, 16), (1, 8), (1, 2, 4), (1, 2, 4), cores, memory * GIB, node * GIB)
    needs = Needs(node=1.0 * GIB, shared=24.0 * GIB)
    current = Allocation(1, 1, 1, 1)
    found = scale(fit(jobs.measured(seed)), jobs.LOAD, space, current=current, needs=needs).allocation
    if found != current:
        assert found.cores <= cores
        assert found.memory <= memory * GIB * (1 + 1e-9)
        assert max(found.worker_memory, found.server_memory) <= node * GIB * (1 + 1e-9)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 999), st.integers(2, 64), st.integers(0, 64), st.floats(0.01, 100), st.floats(1, 10))
def test_a_larger_quota_is_never_slower_and_a_higher_price_never_takes_more(
    seed: int, cores: int, more: int, worth: float, times: float
) -> None:
    fitted, current = fit(jobs.measured(seed)), Allocation(1, 1, 1, 1)

    def chosen(quota: int, goal: Goal = Goal()):
        space = msgspec.structs.replace(jobs.SPACE, cores=quota)
        return scale(fitted, jobs.LOAD, space, current=current, goal=goal)

    assert chosen(cores + more).rows_per_second >= chosen(cores).rows_per_second
    cheap, dear = (chosen(64, Goal(Prices(price, 0.0), worth)).allocation.cores for price in (1.0, times))
    assert dear <= cheap


def test_eight_probes_lead_near_the_best_and_beyond_twice_an_even_split() -> None:
    parts = [
        jobs.speed(scale(fit(jobs.measured(seed)), jobs.LOAD, jobs.SPACE, current=jobs.DEFAULT).allocation)
        / jobs.oracle()
        for seed in range(20)
    ]
    assert np.mean(parts) >= 0.95
    assert min(parts) * jobs.oracle() > 2 * jobs.speed(jobs.EVEN)


def test_moving_counts_against_a_change() -> None:
    fitted = fit(jobs.measured(0))
    near = scale(fitted, jobs.LOAD, jobs.SPACE, current=Allocation(13, 8, 4, 1), moving=lambda _: 600.0, left=3600.0)
    assert near.allocation == Allocation(13, 8, 4, 1)
    far = scale(fitted, jobs.LOAD, jobs.SPACE, current=Allocation(13, 8, 4, 1), moving=lambda _: 600.0, left=1e6)
    assert far.allocation.point == (14, 8, 4, 1)


def test_a_decision_has_its_inputs_and_what_was_rejected() -> None:
    decision = scale(fit(jobs.measured(0)), jobs.LOAD, jobs.SPACE, current=jobs.DEFAULT).decision
    assert (decision.stage, decision.choice, decision.confidence) == (
        "scaling", "14 workers of 4 cores, 8 servers of 1 core", "high",
    )  # fmt: skip
    assert {"measures", "coefficients", "quota of cores", "looked at"} <= decision.inputs.keys()
    assert len(decision.rejected) == 5
    assert all(each.why.endswith("% slower") for each in decision.rejected)


def test_the_current_allocation_stays_where_the_model_is_unsure_or_nothing_fits() -> None:
    unsure = scale(fit(jobs.measured(0, 3)), jobs.LOAD, jobs.SPACE, current=jobs.DEFAULT)
    assert (unsure.allocation, unsure.decision.confidence) == (jobs.DEFAULT, "low")
    full = scale(fit(jobs.measured(0)), jobs.LOAD, jobs.SPACE, current=jobs.DEFAULT, needs=Needs(shared=1e15))
    assert full.allocation == jobs.DEFAULT
    assert "none keeps the quota" in full.decision.why


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda: Allocation(0), "a job has a worker with a core"),
        (lambda: Allocation(1, 2), "2 servers with 0 cores"),
        (lambda: Space((3, 1)), "from 3 to 1 nodes"),
        (lambda: Space(worker_cores=()), "a node has at least one core"),
        (lambda: Space(servers=(0, 0)), "where there are none, server_cores is empty"),
    ],
)
def test_what_makes_no_sense_is_refused(make, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        make()
