"""The model of a step's time: the published curves, planted coefficients, and what measures can't tell."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.dlrm import jobs
from couler_py.steps.dlrm.planning.allocation import Allocation, Load, Measured
from couler_py.steps.dlrm.planning.performance import Fit, fit, points

# 100,000 samples a second, read off the pixels of DLRover's docs/figures/dlrover_rm/model_fitting.png (3 % of reading
# error), by parameter servers; one point can't be read.
BY_WORKERS = {
    6: (0.429, 0.995, 1.532, 1.854, 1.969, 2.133, 2.455, 2.541),
    12: (0.487, 1.038, 1.618, 2.047, 2.513, 2.870, 2.985, 3.071),
    18: (0.573, 1.110, 1.711, None, 2.928, 3.486, 3.851, 3.887),
}
BY_WORKER_CORES = {
    6: (0.523, 0.870, 1.110, 1.347, 1.483, 1.637, 1.680, 1.723),
    12: (0.563, 0.973, 1.223, 1.437, 1.597, 1.717, 1.797, 1.837),
}
BY_SERVER_CORES = {
    6: (0.370, 0.577, 0.743, 0.877, 0.983, 1.150, 1.190, 1.233),
    12: (0.450, 0.700, 0.943, 1.117, 1.230, 1.270, 1.310, 1.347),
}


@pytest.mark.parametrize(
    ("published", "at", "mean", "worst"),
    [
        (BY_WORKERS, lambda servers, n: Allocation(4 * n, servers, 4, 4), 0.0655, 0.1751),
        (BY_WORKER_CORES, lambda servers, n: Allocation(12, servers, 2 * n, 4), 0.0195, 0.0406),
        (BY_SERVER_CORES, lambda servers, n: Allocation(12, servers, 4, n), 0.0693, 0.2600),
    ],
    ids=["workers", "cores of workers", "cores of servers"],
)
def test_one_model_meets_the_published_curves_of_all_servers(published, at, mean, worst) -> None:
    told = [
        (at(servers, number), speed * 1e5)
        for servers, row in published.items()
        for number, speed in enumerate(row, 1)
        if speed is not None
    ]
    found = fit([Measured(each, Load(), each.workers * Load().batch / speed) for each, speed in told])
    errors = np.abs(found.throughput(Load(), points([each for each, _ in told])) / [speed for _, speed in told] - 1)
    assert (errors.mean(), errors.max()) == (pytest.approx(mean, abs=1e-3), pytest.approx(worst, abs=1e-3))


def test_the_brief_example_has_the_speeds_of_its_coefficients() -> None:
    assert jobs.oracle() == jobs.speed(Allocation(14, 8, 4, 1)) == pytest.approx(13_627.48, abs=0.01)
    assert jobs.speed(jobs.DEFAULT) == pytest.approx(497.10, abs=0.01)
    assert jobs.speed(jobs.EVEN) == pytest.approx(5_129.72, abs=0.01)


@pytest.mark.parametrize(("count", "mean", "ninth"), [(6, 0.08, 0.16), (8, 0.055, 0.085), (20, 0.03, 0.04)])
def test_eight_probes_are_enough(count: int, mean: float, ninth: float) -> None:
    grid = jobs.grid()
    truth = jobs.TRUTH.throughput(jobs.LOAD, grid)
    errors = [
        np.abs(fit(jobs.measured(seed, count)).throughput(jobs.LOAD, grid) / truth - 1).mean() for seed in range(50)
    ]
    assert np.mean(errors) < mean
    assert np.percentile(errors, 90) < ninth


@given(
    st.lists(st.floats(1e-6, 1.0), min_size=5, max_size=5),
    st.lists(
        st.tuples(st.integers(1, 60), st.integers(1, 15), st.integers(1, 32), st.integers(1, 32)),
        min_size=1, max_size=20,
    ),
    st.integers(0, 1000),
)  # fmt: skip
def test_coefficients_are_not_negative_whatever_was_measured(planted, at, seed: int) -> None:
    truth = Fit("servers", tuple(planted), 5, 1.0, 0.0, 0)
    allocations = [Allocation(*each) for each in at]
    noise = np.random.default_rng(seed).uniform(0.2, 5, len(at))
    seconds = truth.seconds(Load(), points(allocations)) * noise
    found = fit([Measured(each, Load(), float(took)) for each, took in zip(allocations, seconds, strict=True)])
    assert min(found.coefficients) >= 0
    assert (found.throughput(Load(), points(allocations)) > 0).all()


@given(
    st.lists(st.floats(0, 1.0), min_size=4, max_size=4), st.floats(1e-6, 1.0),
    st.tuples(st.integers(1, 60), st.integers(1, 15), st.integers(1, 32), st.integers(1, 32)),
    st.integers(0, 3),
)  # fmt: skip
def test_more_of_anything_is_never_slower_and_gives_less_and_less(planted, constant, at, gene: int) -> None:
    truth = Fit("servers", (*planted, constant), 5, 1.0, 0.0, 0)
    three = np.array([at, at, at], float)
    three[:, gene] += np.arange(3)
    first, second, third = truth.throughput(Load(), three)
    assert third >= second * (1 - 1e-9)
    assert second >= first * (1 - 1e-9)
    assert third - second <= (second - first) * (1 + 1e-6) + 1e-6 * third


def test_what_goes_together_is_not_told_apart() -> None:
    at = [Allocation(w, p, c, 2) for w, p, c in ((1, 1, 1), (4, 1, 2), (8, 2, 4), (2, 4, 1), (12, 3, 8), (6, 6, 4))]
    seconds = jobs.TRUTH.seconds(Load(), points(at))
    found = fit([Measured(each, Load(), float(took)) for each, took in zip(at, seconds, strict=True)])
    assert (found.rank, found.condition > 1e12, found.confidence) == (4, True, "part")
    told = points([Allocation(10, 5, 2, 2), Allocation(10, 5, 2, 4)])
    assert found.identified(Load(), told).tolist() == [True, False]
    assert found.throughput(Load(), told)[0] == pytest.approx(jobs.speed(Allocation(10, 5, 2, 2)), rel=1e-6)


def test_few_measures_and_wild_ones_are_not_relied_on() -> None:
    measured = jobs.measured(0, 8, noise=0.0)
    assert fit(measured).confidence == "high"
    assert fit(measured[:3]).confidence == "low"
    wild = [Measured(each.allocation, each.load, each.seconds * 8 ** (n % 2)) for n, each in enumerate(measured)]
    assert fit(wild).confidence == "low"


def test_ranks_that_step_together_have_a_model_of_their_own() -> None:
    load = Load("ranks", batch=2048, embedded=416, transfer=1.0)
    truth = Fit("ranks", (1e-3, 1e-7, 0.01, 0.02), 4, 1.0, 0.0, 0)
    at = [Allocation(n, worker_cores=c) for n, c in ((1, 1), (2, 1), (4, 1), (8, 1), (2, 4), (1, 2))]
    found = fit([Measured(each, load, float(truth.seconds(load, points([each]))[0])) for each in at])
    assert found.coefficients == pytest.approx(truth.coefficients)
    assert truth.seconds(load, points([Allocation(1)]))[0] == pytest.approx(2048e-3 + 0.02)


@pytest.mark.parametrize(
    ("measured", "problem"),
    [
        ([], "one kind of job, and here are 0"),
        ([Measured(Allocation(1), Load("ranks"), 1.0), Measured(Allocation(1, 1, 1, 1), Load(), 1.0)], "here are 2"),
        ([Measured(Allocation(1), Load("ranks"), math.nan)], "the times of steps are above 0"),
    ],
)
def test_what_can_not_be_fitted_is_refused(measured, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        fit(measured)
