"""When tasks waited and ran."""

from __future__ import annotations

import pytest

from couler_py.report.entries import entries
from couler_py.report.facts import AttemptFacts, Look, RunFacts, TaskFacts
from couler_py.report.gantt import Chart, chart, time_marks, waits
from couler_py.report.usage import area, of_attempt, of_run, together, whole


def bars(found: Chart, row: int = 0) -> list[tuple[float, float, str]]:
    return [(bar.left, bar.width, bar.state) for bar in found.rows[row].bars]


def test_a_row_has_the_wait_each_attempt_and_the_pause_between_them() -> None:
    tries = (AttemptFacts(0, "Failed", 12.0, 14.0), AttemptFacts(1, "Succeeded", 17.0, 20.0))
    task = TaskFacts("a", "Succeeded", 2, 8.0, 12.0, 20.0, ready=10.0, tries=tries)
    found = chart(RunFacts("r", "w", "Succeeded", started=10.0, finished=20.0, tasks=(task,)))
    assert bars(found) == [
        (0.0, 20.0, "waiting"),
        (20.0, 20.0, "Failed"),
        (40.0, 30.0, "waiting"),
        (70.0, 30.0, "Succeeded"),
    ]
    assert [bar.title for bar in found.rows[0].bars] == [
        "waited 2 s",
        "attempt 1: failed, 2 s",
        "waited 3 s",
        "attempt 2: succeeded, 3 s",
    ]


def test_the_table_says_how_long_the_bars_of_waiting_are_together() -> None:
    tries = (AttemptFacts(0, "Failed", 12.0, 14.0), AttemptFacts(1, "Succeeded", 17.0, 20.0))
    task = TaskFacts("a", "Succeeded", 2, 8.0, 12.0, 20.0, ready=10.0, tries=tries)
    run = RunFacts("r", "w", "Succeeded", started=10.0, finished=20.0, tasks=(task,))
    assert waits(task, run) == 2.0 + 3.0
    listed, _ = entries(run, {})
    assert listed[0].waited == "5 s"


def test_what_waits_for_its_next_attempt_has_a_bar_that_says_so() -> None:
    tries = (AttemptFacts(0, "Failed", 0.0, 2.0),)
    task = TaskFacts("a", "Pending", 1, None, 0.0, None, ready=0.0, tries=tries)
    found = chart(RunFacts("r", "w", "Running", started=0.0, seen=10.0, tasks=(task,)))
    assert bars(found) == [(0.0, 20.0, "Failed"), (20.0, 80.0, "waiting")]


def test_rows_stand_in_the_order_in_which_tasks_became_ready_those_that_never_did_have_none() -> None:
    tasks = (
        TaskFacts("late", "Succeeded", 1, 1.0, 5.0, 6.0, ready=5.0),
        TaskFacts("early", "Succeeded", 1, 1.0, 8.0, 9.0, ready=1.0),
        TaskFacts("never", "Blocked"),
    )
    found = chart(RunFacts("r", "w", "Failed", started=0.0, finished=10.0, tasks=tasks))
    assert [(row.name, row.anchor) for row in found.rows] == [("early", 1), ("late", 0)]


def test_what_still_runs_or_waits_reaches_to_when_the_run_was_seen() -> None:
    tasks = (
        TaskFacts("runs", "Running", 1, None, 2.0, None, ready=0.0),
        TaskFacts("waits", "Pending", 0, None, None, None, "waits for a processor", ready=4.0),
    )
    found = chart(RunFacts("r", "w", "Running", started=0.0, seen=10.0, tasks=tasks))
    assert bars(found, 0) == [(0.0, 20.0, "waiting"), (20.0, 80.0, "Running")]
    assert bars(found, 1) == [(40.0, 60.0, "waiting")]
    assert found.rows[1].bars[0].title == "pending: waits for a processor"


def test_a_cached_task_is_marked_as_such() -> None:
    task = TaskFacts("a", "Succeeded", 1, 0.0, 3.0, 3.0, cached="r-0/a", ready=3.0)
    found = chart(RunFacts("r", "w", "Succeeded", started=0.0, finished=10.0, tasks=(task,)))
    assert bars(found) == [(30.0, 0.0, "cached")]
    assert found.rows[0].bars[0].title == "cached, from r-0/a"


def test_a_run_of_no_time_at_all_has_a_chart_too() -> None:
    task = TaskFacts("a", "Succeeded", 1, 0.0, 3.0, 3.0)
    assert bars(chart(RunFacts("r", "w", "Succeeded", started=3.0, finished=3.0, tasks=(task,)))) == [
        (0, 0, "Succeeded")
    ]
    assert chart(RunFacts("r", "w", "Failed")).rows == ()


@pytest.mark.parametrize(
    ("span", "marks"),
    [
        (70, [0, 10, 20, 30, 40, 50, 60, 70]),
        (300, [0, 60, 120, 180, 240, 300]),
        (3 * 86400, [0, 43200, 86400, 129600, 172800, 216000, 259200]),
    ],
)
def test_marks_stand_at_round_times(span: float, marks: list[float]) -> None:
    assert time_marks(span) == marks


@pytest.mark.parametrize("span", [0.0, 1e-6, 0.7, 1.99, 2, 59, 1e4, 1e6, 1e9, 1e12])
def test_the_marks_reach_to_the_end_and_are_few(span: float) -> None:
    marks = time_marks(span)
    assert marks[0] == 0
    assert marks[-1] >= span
    assert 2 <= len(marks) <= 12


# ---- what was used


def test_an_attempt_s_charts_have_processors_between_looks_and_memory_at_them() -> None:
    looks = (Look(10, 0.0, 1024), Look(12, 4.0, 2048), Look(14, 5.0, 1024))
    found = of_attempt(AttemptFacts(0, "Running", 10.0, looks=looks))
    assert found is not None
    cpu, memory = found
    assert ">2<" in cpu  # 4 seconds in 2 seconds
    assert ">2 KiB<" in memory
    assert of_attempt(AttemptFacts(0, "Running", looks=looks[:1])) is None


def test_the_charts_of_an_attempt_reach_from_its_start_to_its_end() -> None:
    attempt = AttemptFacts(0, "Succeeded", 10.0, 16.0, cpu=5.0, looks=(Look(12, 2.0, 1024), Look(14, 4.0, 2048)))
    assert whole(attempt) == [Look(10, 0, 0), Look(12, 2, 1024), Look(14, 4, 2048), Look(16, 5, 2048)]
    assert whole(AttemptFacts(0, "Succeeded", 10.0, 10.5)) == []


def test_a_look_just_before_the_end_gives_way_to_the_end() -> None:
    """Processor time is known in steps of 10 ms: over a hundredth of a second it would look like a whole processor."""
    attempt = AttemptFacts(0, "Succeeded", 10.0, 11.5, cpu=0.5, looks=(Look(11, 0.4, 1024), Look(11.49, 0.49, 4096)))
    assert whole(attempt) == [Look(10, 0, 0), Look(11, 0.4, 1024), Look(11.5, 0.5, 4096)]


def test_the_moment_between_two_steps_is_no_gap() -> None:
    """Over a time in which many follow each other, processors are a mean and memory is the most."""

    def task(number: int) -> TaskFacts:
        began = number * 0.1
        attempt = AttemptFacts(0, "Succeeded", began, began + 0.09, cpu=0.045, memory=1024)
        return TaskFacts(f"a{number}", "Succeeded", 1, 0.09, began, began + 0.09, tries=(attempt,))

    run = RunFacts("r", "w", "Succeeded", started=0.0, finished=240.0, tasks=tuple(map(task, range(2400))))
    cpu, memory = together(run)
    assert cpu == pytest.approx([0.45] * len(cpu))
    assert memory == [1024] * len(memory)


def test_what_was_never_looked_at_counts_with_what_it_used_in_all() -> None:
    short = AttemptFacts(0, "Succeeded", 10.0, 10.5, cpu=0.25, memory=2048)
    assert whole(short) == [Look(10, 0, 0), Look(10.5, 0.25, 2048)]
    assert of_attempt(short) is None  # a chart of two numbers would say nothing
    task = TaskFacts("a", "Succeeded", 1, 0.5, 10.0, 10.5, tries=(short,))
    found = of_run(RunFacts("r", "w", "Succeeded", started=10.0, finished=11.0, tasks=(task,)))
    assert found is not None
    assert ">0.5<" in found[0]
    assert ">2 KiB<" in found[1]


def test_what_tasks_used_at_the_same_time_is_added_up() -> None:
    def task(name: str, began: float) -> TaskFacts:
        looks = tuple(Look(began + second, float(second), 1024**2) for second in range(11))
        return TaskFacts(
            name, "Succeeded", 1, 10.0, began, began + 10, tries=(AttemptFacts(0, "Succeeded", looks=looks),)
        )

    run = RunFacts("r", "w", "Succeeded", started=0.0, finished=20.0, tasks=(task("a", 0), task("b", 5)))
    after = RunFacts("r", "w", "Succeeded", started=0.0, finished=20.0, tasks=(task("a", 0), task("b", 10)))
    found = of_run(run)
    assert found is not None
    assert ">2<" in found[0]
    assert ">2 MiB<" in found[1]
    following = of_run(after)
    assert following is not None
    assert ">1<" in following[0]  # what follows isn't added to what it follows
    assert ">1 MiB<" in following[1]
    assert of_run(RunFacts("r", "w", "Succeeded", started=0.0, finished=1.0)) is None


def test_a_chart_of_nothing_is_a_chart() -> None:
    assert area([], title="processors", colour="#000", wide=100).startswith("<svg")
