"""Jobs in one pipeline: as little waiting as the closed form says, each job's steps in order, nothing deadlocks."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from couler_py.steps.hybrid.timeline import Op, play
from couler_py.steps.lora.planning.pipeline import Job, bubble, schedule


def steady(stages: int, jobs: int, micros: int, **options: object) -> float:
    """The share of waiting while all jobs run, far from start and end."""
    found = schedule([Job(60, micros)] * jobs, stages, **options)  # type: ignore[arg-type]
    end = max(stop for _, stop in found.spans.values())
    return found.bubble(0.3 * end, 0.7 * end)


@pytest.mark.parametrize(
    ("stages", "jobs", "micros", "share"),
    [
        (4, 1, 1, 0.75),
        (4, 2, 1, 0.5),
        (4, 3, 1, 0.25),
        (4, 4, 1, 0.0),
        (4, 1, 3, 0.5),
        (4, 2, 3, 0.0),
        (2, 1, 3, 0.25),
    ],
)
def test_the_pipeline_waits_as_the_closed_form_says(stages: int, jobs: int, micros: int, share: float) -> None:
    assert bubble(stages, jobs, micros) == pytest.approx(share)
    assert steady(stages, jobs, micros) == pytest.approx(share, abs=0.02)


def test_a_backward_first_keeps_few_activations() -> None:
    assert schedule([Job(10)] * 4, 4).peak == (4, 4, 3, 1)


def test_an_uneven_stage_bounds_what_jobs_can_fill() -> None:
    assert steady(2, 3, 1, uneven=[1.0, 2.0]) == pytest.approx(0.25, abs=0.02)


def test_transfers_take_more_jobs_to_hide() -> None:
    assert steady(4, 4, 1, sending=0.5) > 0.05
    assert steady(4, 7, 1, sending=0.5) < steady(4, 4, 1, sending=0.5)


def test_the_first_stage_keeps_no_more_than_it_may() -> None:
    found = schedule([Job(5, micros=4)] * 3, 2, in_flight=3)
    assert found.peak[0] == 3


@settings(max_examples=60, deadline=None)
@given(
    jobs=st.lists(
        st.builds(Job, st.integers(1, 4), st.integers(1, 3), st.floats(0.5, 2), st.floats(0.5, 4)),
        min_size=1,
        max_size=4,
    ),
    stages=st.integers(1, 4),
    sending=st.sampled_from([0.0, 0.3]),
)
def test_each_job_runs_all_its_steps_in_order_with_one_at_most_in_flight(
    jobs: list[Job], stages: int, sending: float
) -> None:
    found = schedule(jobs, stages, sending=sending)
    played = play(found.orders, lambda op: 1.0, stages=stages)  # raises where an order could deadlock
    assert len(played.spans) == 2 * stages * sum(job.steps * job.micros for job in jobs)
    for number, job in enumerate(jobs):
        for step in range(job.steps - 1):
            now = [micro for micro, (whose, at, _) in enumerate(found.whose) if (whose, at) == (number, step)]
            then = [micro for micro, (whose, at, _) in enumerate(found.whose) if (whose, at) == (number, step + 1)]
            over = max(found.spans[Op("B", micro, 0)][1] for micro in now)
            assert over <= min(found.spans[Op("F", micro, 0)][0] for micro in then)


def test_a_step_may_have_fewer_micro_batches_than_others() -> None:
    found = schedule([Job(steps=2, micros=(3, 1)), Job(steps=1, micros=2)], 2)
    assert sorted(found.whose) == [(0, 0, 0), (0, 0, 1), (0, 0, 2), (0, 1, 0), (1, 0, 0), (1, 0, 1)]


@pytest.mark.parametrize(("stages", "limit"), [(0, None), (2, 0)])
def test_no_stage_or_no_room_is_refused(stages: int, limit: int | None) -> None:
    with pytest.raises(ValueError, match="there is at least one of each"):
        schedule([Job()], stages, in_flight=limit)
