"""What stages tell each other about norms: sent once, in the order in which it is taken, and nobody waits for ever."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from couler_py.steps.hybrid.timeline import Op
from couler_py.steps.lora.planning.messages import LAST, NORM, with_norms
from couler_py.steps.lora.planning.pipeline import Job, Schedule, schedule

JOBS = st.lists(
    st.lists(st.integers(1, 3), min_size=1, max_size=4).flatmap(
        lambda micros: st.builds(Job, st.just(len(micros)), st.just(tuple(micros)), st.floats(0.5, 2))
    ),
    min_size=1,
    max_size=4,
)


def played(orders: tuple[tuple[Op, ...], ...]) -> list[Op]:
    """All operations, each as soon as what it takes is sent; fewer where an order waits for ever."""
    done: list[Op] = []
    place, moved = [0] * len(orders), True
    while moved:
        moved = False
        for stage, order in enumerate(orders):
            while place[stage] < len(order):
                op = order[place[stage]]
                before = op._replace(stage=stage + (-1 if op.kind == "F" else 1))
                if 0 <= before.stage < len(orders) and before not in done:
                    break
                done.append(op)
                place[stage], moved = place[stage] + 1, True
    return done


@settings(max_examples=60, deadline=None)
@given(jobs=JOBS, stages=st.integers(1, 4), room=st.sampled_from([None, 1, 3]))
def test_messages_come_in_the_order_in_which_they_are_taken(jobs: list[Job], stages: int, room: int | None) -> None:
    found = schedule(jobs, stages, in_flight=room)
    orders = with_norms(found)
    assert len(played(orders)) == sum(map(len, orders))
    for kind in "FB":
        rows = [[(op.micro, op.slice) for op in order if op.kind == kind] for order in orders]
        assert all(row == rows[0] for row in rows)


@settings(max_examples=60, deadline=None)
@given(jobs=JOBS, stages=st.integers(1, 3))
def test_each_step_is_told_once_behind_its_last_backward_and_before_the_next(jobs: list[Job], stages: int) -> None:
    found = schedule(jobs, stages)
    for stage, order in enumerate(with_norms(found)):
        steps = [found.whose[op.micro][:2] for op in order]
        told = Counter((op.kind, op.slice) for op in order if op.slice)
        assert told["B", NORM] == sum(job.steps for job in jobs)
        assert told["F", NORM] == sum(job.steps - 1 for job in jobs)
        assert told["F", LAST] == len(jobs)
        at = {(op.kind, op.slice, step): place for place, (op, step) in enumerate(zip(order, steps, strict=True))}
        for job, own in enumerate(jobs):
            for step in range(own.steps):
                backwards = [place for place, op in enumerate(order) if op[0] == "B" and steps[place] == (job, step)]
                assert at["B", NORM, (job, step)] == max(backwards)
                if step:
                    forwards = [place for place, op in enumerate(order) if op[0] == "F" and steps[place] == (job, step)]
                    assert at["B", NORM, (job, step - 1)] < at["F", NORM, (job, step)] == min(forwards)
        assert [op for op in order if not op.slice] == list(found.orders[stage])


def test_the_norms_of_one_job_on_two_stages() -> None:
    told: Schedule = schedule([Job(steps=2, micros=(2, 1))], 2)
    first, second = with_norms(told)
    assert [str(op) for op in first if op.slice] == [
        "B(micro-batch 1, stage 0, slice 1)",
        "F(micro-batch 2, stage 0, slice 1)",
        "B(micro-batch 2, stage 0, slice 1)",
        "F(micro-batch 2, stage 0, slice 2)",
    ]
    assert [op._replace(stage=0) for op in second if op.slice] == [op for op in first if op.slice]
