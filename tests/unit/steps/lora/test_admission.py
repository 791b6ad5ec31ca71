"""Who is at work: the most urgent that fit, never more than there is, and nobody waits for ever."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from couler_py.steps.lora.admission import Waiting, admit
from couler_py.steps.lora.grouping import Shape, groups

JOBS = st.lists(
    st.tuples(st.integers(1, 9), st.integers(1, 64), st.integers(0, 200), st.integers(0, 3), st.integers(0, 200)),
    max_size=8,
).map(
    lambda rows: [
        Waiting(f"job-{n}", n, count, length, state, priority, waited)
        for n, (count, length, state, priority, waited) in enumerate(rows)
    ]
)


def need(rows: int, length: int) -> float:
    return 10.0 + rows * length


def names(jobs: list[Waiting], budget: float | None = None, most: int = 8, aging: int = 50) -> tuple[str, ...]:
    return admit(jobs, budget, need, most=most, aging=aging).running


def waiting(name: str, arrived: int, priority: int = 0, waited: int = 0, state: int = 10) -> Waiting:
    return Waiting(name, arrived, 1, 10, state, priority, waited)


@given(JOBS, st.integers(0, 900), st.integers(1, 5))
def test_what_is_admitted_never_exceeds_the_budget(jobs: list[Waiting], budget: int, most: int) -> None:
    chosen = admit(jobs, budget, need, most=most, aging=50)
    running = [job for job in jobs if job.name in chosen.running]
    states = sum(job.state for job in running)
    assert not running or states + max(need(job.rows, job.length) for job in running) <= budget
    assert len(running) <= most
    for job in jobs:
        assert (job.name in chosen.refused) == (job.state + need(job.rows, job.length) > budget)


@given(JOBS.filter(bool))
def test_where_one_can_run_one_does(jobs: list[Waiting]) -> None:
    chosen = admit(jobs, 300, need, most=1, aging=50)
    assert len(chosen.running) == (len(chosen.refused) < len(jobs))


def test_priority_goes_first_then_arrival() -> None:
    jobs = [waiting("first", 0), waiting("second", 1), waiting("urgent", 2, priority=1)]
    assert names(jobs, most=2) == ("urgent", "first")


def test_a_smaller_job_runs_where_the_next_one_does_not_fit() -> None:
    jobs = [waiting("at work", 0, state=50), waiting("large", 1, state=60), waiting("small", 2, state=5)]
    assert names(jobs, budget=100) == ("at work", "small")


def test_nobody_waits_for_ever_behind_a_stream_of_urgent_jobs() -> None:
    """An urgent job arrives in each turn; the patient one is of priority 0, and runs after 3 · `aging` turns."""
    patient = waiting("patient", 0)
    for turn in itertools.count(1):
        jobs = [patient, waiting(f"urgent-{turn}", turn, priority=3)]
        if names(jobs, most=1, aging=10) == ("patient",):
            break
        patient = waiting("patient", 0, waited=turn)
    assert turn == 31


def test_all_of_a_large_one_fits_before_smaller_ones_that_came_later() -> None:
    jobs = [waiting("large", 0, state=60), *(waiting(f"small-{n}", n, state=20) for n in range(1, 4))]
    assert names(jobs, budget=100) == ("large", "small-1")


SHAPES = st.lists(st.builds(Shape, st.integers(1, 6), st.integers(1, 12).map(lambda n: 8 * n)), max_size=6)


def cost(shapes: list[Shape], parts: list[list[int]], overhead: int) -> int:
    tokens = [sum(shapes[n].rows for n in part) * max(shapes[n].length for n in part) for part in parts]
    return sum(tokens) + overhead * len(parts)


def partitions(items: list[int]) -> list[list[list[int]]]:
    if not items:
        return [[]]
    head, *rest = items
    made = []
    for part in partitions(rest):
        made.append([[head], *part])
        made += [[*part[:n], [head, *part[n]], *part[n + 1 :]] for n in range(len(part))]
    return made


@given(SHAPES, st.integers(0, 300))
def test_groups_are_the_best_of_all_partitions(shapes: list[Shape], overhead: int) -> None:
    found = groups(shapes, lambda rows, length: True, overhead)
    assert sorted(itertools.chain(*found)) == list(range(len(shapes)))
    best = min(cost(shapes, each, overhead) for each in partitions(list(range(len(shapes)))))
    assert cost(shapes, found, overhead) == best


@given(SHAPES, st.integers(1, 400))
def test_no_group_is_larger_than_fits(shapes: list[Shape], limit: int) -> None:
    for group in groups(shapes, lambda rows, length: rows * length <= limit, 10_000):
        rows, length = sum(shapes[n].rows for n in group), max(shapes[n].length for n in group)
        assert len(group) == 1 or rows * length <= limit
