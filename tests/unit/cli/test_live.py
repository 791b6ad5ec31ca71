"""What is shown of a run while it runs."""

from __future__ import annotations

import io
from collections.abc import Iterator

import pytest
from rich.console import Console

from couler_py.backends.base import RunStatus, TaskStatus
from couler_py.cli.live import facts_of, follow, summary, tree


def drawn(tasks: list[TaskStatus], height: int | None = None) -> list[str]:
    out = io.StringIO()
    console = Console(file=out, width=80, color_system=None)
    console.print(tree(RunStatus("r-1", "flow", "Running", tasks=tuple(tasks)), height=height))
    return [line.rstrip() for line in out.getvalue().splitlines()]


def test_tasks_hang_below_the_graph_loop_or_fan_out_around_them() -> None:
    names = ["load", "prepare", "prepare/clean", "train", "train[0]", "train[0]/fit", "again", "again#2", "again#2/x"]
    assert drawn([TaskStatus(name, "Succeeded") for name in names]) == [
        "▶ flow  r-1  9/9",
        "├── ✓ load",
        "├── ✓ prepare",
        "│   └── ✓ clean",
        "├── ✓ train  1/1",
        "│   └── ✓ [0]",
        "│       └── ✓ fit",
        "└── ✓ again",
        "    └── ✓ #2",
        "        └── ✓ x",
    ]


def test_of_many_tasks_those_that_matter_are_shown_and_the_rest_counted() -> None:
    tasks = [TaskStatus("map", "Running")]
    tasks += [TaskStatus(f"map[{number}]", "Failed" if number == 7 else "Succeeded") for number in range(100)]
    tasks += [TaskStatus(f"map[{number}]", "Pending") for number in range(100, 200)]
    assert drawn(tasks) == [
        "▶ flow  r-1  100/201",
        "├── ▶ map  100/200",
        "│   └── ✗ [7]",
        "└── … and 100 pending, 99 succeeded",
    ]


def test_no_more_is_drawn_than_the_terminal_is_high() -> None:
    tasks = [TaskStatus(f"t{number}", "Running") for number in range(30)]
    assert len(drawn(tasks, height=12)) <= 12


def test_facts_are_time_attempts_metrics_and_what_went_wrong() -> None:
    task = TaskStatus("a", "Failed", 3, 1.5, "exit code 1\nmore", metrics={"loss": ((0, 2.0), (1, 0.25))})
    assert facts_of(task) == "1.50s  attempt 3  loss=0.25  exit code 1: more"
    assert facts_of(TaskStatus("a", "Succeeded", 1, 0.5, cached=True)) == "0.50s  cached"


def changes() -> Iterator[RunStatus]:
    yield RunStatus("r-1", "flow", "Running", tasks=(TaskStatus("a", "Running"), TaskStatus("b", "Pending")))
    yield RunStatus("r-1", "flow", "Running", tasks=(TaskStatus("a", "Succeeded", 1, 0.5), TaskStatus("b", "Running")))
    yield RunStatus(
        "r-1", "flow", "Succeeded", started=1.0, finished=2.5, outputs={"x": [1, 2]},
        tasks=(TaskStatus("a", "Succeeded", 1, 0.5), TaskStatus("b", "Succeeded", 1, 0.25)),
    )  # fmt: skip


def test_where_there_is_no_terminal_each_change_is_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    last = follow(changes())
    printed = capsys.readouterr()
    assert printed.out == ""
    assert [line.split(None, 1)[1] for line in printed.err.splitlines()[:4]] == [
        "Running    a",
        "Succeeded  a  0.50s",
        "Running    b",
        "Succeeded  b  0.25s",
    ]
    assert printed.err.splitlines()[4:] == ["Succeeded  r-1  1.50s  2 succeeded", "  x = [1, 2]"]
    assert last is not None
    assert last.status == "Succeeded"


def test_quiet_shows_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    last = follow(changes(), quiet=True)
    assert capsys.readouterr() == ("", "")
    assert last is not None
    assert last.outputs == {"x": [1, 2]}


def test_the_summary_names_what_failed() -> None:
    status = RunStatus("r-1", "flow", "Failed", message="a failed", tasks=(TaskStatus("a", "Failed", message="boom"),))
    assert summary(status).plain == (
        "Failed  r-1  1 failed\n  a failed\n  a: boom\n  `couler logs r-1 a` shows what it wrote"
    )


def test_what_the_run_says_of_a_failed_task_is_not_said_twice() -> None:
    status = RunStatus(
        "r-1", "flow", "Failed", message="a failed: exit code 1: ValueError: no",
        tasks=(TaskStatus("a", "Failed", message="exit code 1\nTraceback (most recent call last):\nValueError: no"),),
    )  # fmt: skip
    assert summary(status).plain == (
        "Failed  r-1  1 failed\n  a failed: exit code 1: ValueError: no\n  `couler logs r-1 a` shows what it wrote"
    )


def test_of_a_fan_out_that_failed_a_few_items_are_named_and_the_rest_is_counted() -> None:
    items = tuple(TaskStatus(f"m[{number}]", "Failed", message="boom") for number in range(7))
    status = RunStatus("r-1", "flow", "Failed", tasks=(TaskStatus("m", "Failed", message="7 of 7 items"), *items))
    lines = summary(status).plain.splitlines()
    assert lines[:3] == ["Failed  r-1  8 failed", "  m[0]: boom", "  `couler logs r-1 m[0]` shows what it wrote"]
    assert lines[-1] == "  … and 2 more; `couler report r-1` shows them all"
    assert len(lines) == 12


@pytest.mark.parametrize("quiet", [True, False])
def test_a_run_without_a_status_has_no_last_one(quiet: bool) -> None:
    assert follow(iter(()), quiet=quiet) is None
