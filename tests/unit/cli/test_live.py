"""What is shown of a run while it runs."""

from __future__ import annotations

import contextlib
import fcntl
import io
import os
import pty
import struct
import sys
import termios
from collections.abc import Iterator
from itertools import pairwise

import pytest
from rich.console import Console

from couler_py.backends.base import Change, Expected, RunStatus, TaskStatus
from couler_py.cli.lines import Lines, branches, cropped
from couler_py.cli.live import LISTED, Log, View, facts_of, follow, tree
from couler_py.cli.progress import Progress, differences
from couler_py.cli.summary import summary


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
    assert facts_of(TaskStatus("a", "Succeeded", 1, 0.5, cached=True)) == "cached"
    assert facts_of(TaskStatus("a", "Succeeded", cached=True, cached_from="r-0/a")) == "cached, from r-0/a"
    assert facts_of(TaskStatus("a", "Pending", message="waits for a processor")) == "waits for a processor"


def changes() -> Iterator[RunStatus]:
    yield RunStatus("r-1", "flow", "Running", tasks=(TaskStatus("a", "Running"), TaskStatus("b", "Pending")))
    yield RunStatus("r-1", "flow", "Running", tasks=(TaskStatus("a", "Succeeded", 1, 0.5), TaskStatus("b", "Running")))
    yield RunStatus(
        "r-1", "flow", "Succeeded", started=1.0, finished=2.5, outputs={"x": [1, 2]},
        tasks=(TaskStatus("a", "Succeeded", 1, 0.5), TaskStatus("b", "Succeeded", 1, 0.25)),
    )  # fmt: skip


def test_where_there_is_no_terminal_each_change_is_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    last = follow(differences(changes()))
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
    last = follow(differences(changes()), quiet=True)
    assert capsys.readouterr() == ("", "")
    assert last is not None
    assert last.outputs == {"x": [1, 2]}


def test_the_summary_names_what_failed() -> None:
    status = RunStatus("r-1", "flow", "Failed", message="a failed", tasks=(TaskStatus("a", "Failed", message="boom"),))
    assert summary(status).plain == (
        "Failed  r-1  1 failed\n  a failed\n  a: boom\n  `couler logs r-1 a` shows all that it wrote\n"
        "  `couler retry r-1` runs what failed again"
    )


def test_what_the_run_says_of_a_failed_task_is_not_said_twice() -> None:
    status = RunStatus(
        "r-1", "flow", "Failed", message="a failed: exit code 1: ValueError: no",
        tasks=(TaskStatus("a", "Failed", message="exit code 1\nTraceback (most recent call last):\nValueError: no"),),
    )  # fmt: skip
    assert summary(status).plain == (
        "Failed  r-1  1 failed\n  a failed: exit code 1: ValueError: no\n"
        "  │ Traceback (most recent call last):\n  │ ValueError: no\n"
        "  `couler logs r-1 a` shows all that it wrote\n  `couler retry r-1` runs what failed again"
    )


def test_of_a_fan_out_that_failed_a_few_items_are_named_and_the_rest_is_counted() -> None:
    items = tuple(TaskStatus(f"m[{number}]", "Failed", message="boom") for number in range(7))
    status = RunStatus("r-1", "flow", "Failed", tasks=(TaskStatus("m", "Failed", message="7 of 7 items"), *items))
    lines = summary(status).plain.splitlines()
    assert lines[:3] == ["Failed  r-1  8 failed", "  m[0]: boom", "  `couler logs r-1 m[0]` shows all that it wrote"]
    assert lines[-2:] == [
        "  … and 2 more; `couler report r-1` shows them all",
        "  `couler retry r-1` runs what failed again",
    ]
    assert len(lines) == 13


@pytest.mark.parametrize("quiet", [True, False])
def test_a_run_without_a_status_has_no_last_one(quiet: bool) -> None:
    assert follow(iter(()), quiet=quiet) is None


# ---- what is drawn


def view(progress: Progress, *, width: int = 100, height: int = 30) -> list[str]:
    out = io.StringIO()
    console = Console(file=out, width=width, height=height, color_system=None, force_terminal=True)
    console.print(View(progress, console, str))
    return [line.rstrip() for line in out.getvalue().splitlines()]


def followed(*changes: Change) -> Progress:
    progress = Progress()
    for change in changes:
        progress.apply(change)
    return progress


RUNNING = RunStatus("r-1", "flow", "Running")


def test_the_view_says_how_far_a_run_is_and_what_its_steps_use() -> None:
    tasks = (
        TaskStatus("a", "Succeeded", 1, 1.0, cached=True),
        TaskStatus("b", "Failed", 1, 0.5, "boom"),
        TaskStatus("c", "Running", 1),
        TaskStatus("d", "Pending", message="waits for a processor"),
    )
    expected = Expected({"work": 8})
    assert view(followed(Change(RUNNING, tasks, False, (1.52, 3 * 1024**2), 2.0, expected))) == [
        "▶ flow  r-1",
        "━━━━━───────────────  2/8  1 failed  1 running  1 waiting  1 cached  1.5 of 2 processors, 3.0 MiB",
        "├── ✓ a  cached",
        "├── ✗ b  0.50s  boom",
        "├── ▶ c",
        "└── · d  waits for a processor",
    ]


def test_on_a_narrow_terminal_the_bar_leaves_room_for_the_numbers() -> None:
    tasks = (TaskStatus("a", "Succeeded", 1, 1.0), TaskStatus("b", "Running", 1), TaskStatus("c", "Pending"))
    lines = view(followed(Change(RUNNING, tasks, expected=Expected({"work": 2000}))), width=44)
    assert lines[1] == "────────  1/2,000  1 running  1 waiting"


def test_where_there_may_be_more_tasks_the_number_says_so() -> None:
    tasks = (TaskStatus("a", "Succeeded"), TaskStatus("b", "Running"))
    assert " 1/5+ " in view(followed(Change(RUNNING, tasks, expected=Expected({"work": 5}, unknown=True))))[1]
    assert " 1/5 " in view(followed(Change(RUNNING, tasks, expected=Expected({"work": 5}))))[1]
    assert " 1/2 " in view(followed(Change(RUNNING, tasks)))[1]  # of an engine that says nothing of it


def test_a_task_that_changes_is_counted_once() -> None:
    states = ("Pending", "Running", "Failed")
    progress = followed(*(Change(RUNNING, (TaskStatus("m[0]", state), TaskStatus("m", "Running"))) for state in states))  # type: ignore[arg-type]
    assert list(progress.counts()) == [("Failed", 1), ("Running", 1)]
    assert progress.items == {"m": [1, 1]}


def test_what_a_graph_did_before_it_began_anew_is_forgotten() -> None:
    first = Change(RUNNING, (TaskStatus("g", "Running"), TaskStatus("g/a", "Failed")))
    progress = followed(first, Change(RUNNING, (TaskStatus("g", "Running", 2),), anew=True))
    assert (list(progress.tasks), list(progress.counts())) == (["g"], [("Running", 1)])


def test_of_thousands_of_tasks_the_view_keeps_its_size_and_shows_what_runs_and_the_last_failures() -> None:
    tasks = [TaskStatus(f"t{number}", "Failed" if number % 2 else "Succeeded") for number in range(5000)]
    tasks += [TaskStatus(f"r{number}", "Running") for number in range(3)]
    lines = view(followed(Change(RUNNING, tuple(tasks))), height=20)
    assert len(lines) <= 18
    assert [line for line in lines if "▶ r" in line] == ["├── ▶ r0", "├── ▶ r1", "├── ▶ r2"]
    assert "├── ✗ t4999" in lines
    assert lines[-1] == "└── … and 2,495 failed, 2,495 succeeded" or lines[-1].startswith("└── … and 2,49")


def test_wide_characters_are_cut_at_the_width_of_the_terminal() -> None:
    lines = view(followed(Change(RUNNING, (TaskStatus("数据" * 40, "Running"),))), width=30)
    assert all(Console(width=30).measure(line).maximum <= 30 for line in lines)
    assert lines[-1].endswith("…")


def test_a_name_can_t_steer_the_terminal() -> None:
    lines = view(followed(Change(RUNNING, (TaskStatus("a\x1b[2J", "Failed", message="\x1b]0;x\x07"),))))
    assert lines[-1] == "└── ✗ a\\x1b[2J  \\x1b]0;x\\x07"


@pytest.mark.parametrize(("width", "shown"), [(9, "ab cd"), (5, "ab cd"), (4, "ab …"), (3, "ab…"), (1, "…"), (0, "")])
def test_a_line_is_cut_with_an_ellipsis(width: int, shown: str) -> None:
    assert "".join(text for text, _ in cropped([("ab", ""), (" cd", "")], width)) == shown


def test_a_line_is_cut_only_on_a_terminal() -> None:
    out = io.StringIO()
    Console(file=out, width=10).print(Lines([[("x" * 50, "")]]), soft_wrap=True)
    assert out.getvalue() == "x" * 50 + "\n"


def test_graphs_deeper_than_pythons_calls_are_drawn_too() -> None:
    names = ["/".join("g" * depth) for depth in range(1, 2000)]
    parents = {inner: outer for outer, inner in pairwise(names)}
    assert sum(1 for _ in branches(names, parents)) == len(names)


# ---- where there is no terminal


def test_of_a_large_run_only_failures_are_lines_of_their_own_and_now_and_then_how_far_it_is() -> None:
    now = [0.0]
    log = Log(Progress(), clock=lambda: now[0])
    many = tuple(TaskStatus(f"t{number}", "Succeeded", 1, 0.1) for number in range(LISTED + 100))
    said = log.of(Change(RUNNING, many)).splitlines()
    assert len(said) == LISTED + 1
    assert said[-1] == "… from here on, only what fails, and how far it is"
    assert log.of(Change(RUNNING, (TaskStatus("u", "Succeeded", 1, 0.1),))) == ""
    assert log.of(Change(RUNNING, (TaskStatus("v", "Failed", 1, 0.1, "boom"),))).endswith(
        "  Failed     v  0.10s  boom\n"
    )
    now[0] = 11.0
    assert log.of(Change(RUNNING)).endswith(f"  {LISTED + 102}/{LISTED + 102}  1 failed\n")


def test_a_run_in_which_nothing_runs_says_after_a_while_what_it_waits_for_once() -> None:
    now = [0.0]
    log = Log(Progress(), clock=lambda: now[0])
    waits = TaskStatus("a", "Pending", message="waits for a processor")
    assert log.of(Change(RUNNING, (waits, TaskStatus("b", "Pending")))) == ""
    now[0] = 10.0
    assert log.of(Change(RUNNING)).endswith("  Pending    a  waits for a processor\n")
    now[0] = 20.0
    assert log.of(Change(RUNNING)) == ""
    assert log.of(Change(RUNNING, (TaskStatus("a", "Running", 1),))).endswith("  Running    a\n")


def test_a_fan_out_none_of_whose_items_runs_says_what_it_waits_for() -> None:
    now = [0.0]
    log = Log(Progress(), clock=lambda: now[0])
    item = TaskStatus("train[0]", "Pending", message="waits for packages to be installed: numpy")
    log.of(Change(RUNNING, (TaskStatus("train", "Running", 1, kind="map"), item)))
    now[0] = 10.0
    assert log.of(Change(RUNNING)).endswith("  Pending    train[0]  waits for packages to be installed: numpy\n")


def test_while_something_runs_nothing_is_said_of_what_waits() -> None:
    now = [0.0]
    log = Log(Progress(), clock=lambda: now[0])
    waits = TaskStatus("b", "Pending", message="waits for a processor")
    log.of(Change(RUNNING, (TaskStatus("a", "Running", 1), waits)))
    now[0] = 10.0
    assert log.of(Change(RUNNING)) == ""


# ---- how long the rest takes


def steps(ended: int, total: int, *, unknown: bool = False, template: str = "work") -> Progress:
    tasks = tuple(TaskStatus(f"t{number}", "Succeeded", 1, 2.0, template=template) for number in range(ended))
    run = RunStatus("r-1", "flow", "Running", started=100.0)
    return followed(Change(run, tasks, expected=Expected({"work": total}, unknown)))


def test_what_is_left_takes_as_long_as_what_has_ended_as_much_at_once_as_until_now() -> None:
    # 20 steps of 2 seconds in 10 seconds are 4 at once: 80 more take 40 seconds.
    assert steps(20, 100).left(now=110.0) == 40.0


@pytest.mark.parametrize(
    "progress",
    [
        pytest.param(steps(20, 100, unknown=True), id="there may be more tasks"),
        pytest.param(steps(9, 50), id="too few have ended"),
        pytest.param(steps(20, 500), id="less than a tenth has ended"),
        pytest.param(steps(20, 100, template="other"), id="none of this kind has ended"),
        pytest.param(steps(20, 20), id="nothing is left"),
    ],
)
def test_what_would_be_a_guess_is_not_said(progress: Progress) -> None:
    assert progress.left(now=110.0) is None


def test_nothing_is_said_in_the_first_seconds() -> None:
    assert steps(20, 100).left(now=104.0) is None


# ---- on a real terminal


def on_terminal(monkeypatch: pytest.MonkeyPatch, **environment: str) -> str:
    """What `follow` writes to a terminal of 60 columns."""
    for name in ("CI", "NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"TERM": "xterm-256color", **environment}.items():
        monkeypatch.setenv(name, value)
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 20, 60, 0, 0))
    with os.fdopen(theirs, "w") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        follow(differences(changes()))
    written = b""
    with contextlib.suppress(OSError):  # the other end is closed
        while part := os.read(ours, 1 << 16):
            written += part
    os.close(ours)
    return written.decode()


def test_on_a_terminal_the_view_is_drawn_and_gives_way_to_the_summary(monkeypatch: pytest.MonkeyPatch) -> None:
    written = on_terminal(monkeypatch)
    assert "0/2" in written
    assert written.rindex("Succeeded") > written.rindex("0/2")
    assert written.index("\x1b[?25l") < written.index("\x1b[?25h")  # the cursor is hidden, and shown again


@pytest.mark.parametrize("environment", [{"CI": "true"}, {"TERM": "dumb"}])
def test_in_ci_and_on_a_terminal_that_can_t_each_change_is_a_line(
    environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    written = on_terminal(monkeypatch, **environment)
    assert "\x1b[?25l" not in written
    assert [line.split(None, 1)[1] for line in written.splitlines()[:2]] == ["Running    a", "Succeeded  a  0.50s"]


def test_without_colours_the_view_is_drawn_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    written = on_terminal(monkeypatch, NO_COLOR="1")
    assert "0/2" in written
    assert "\x1b[32m" not in written
