"""What Python itself shows of runs and workflows: on stderr, in a REPL, in a notebook."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import couler_py as couler
from couler_py import display
from couler_py.backends.base import RunNotFoundError, RunStatus, TaskStatus
from couler_py.backends.local.client import LocalClient


@couler.step
def divide(x: int) -> float:
    print("dividing by", x)
    return 1 / x


@couler.workflow
def risky(x: int = 0):
    return divide(x)


LOOP = """
import os
import couler_py as couler

@couler.step
def wait(n: int) -> int:
    import os, time
    from pathlib import Path
    if not Path({go!r}).exists():
        os.close(os.open({ready!r}, os.O_WRONLY))
        while True:
            time.sleep(0.05)
    return n

@couler.workflow
def patient(n: int):
    return wait(n)

for n in range(3):
    couler.run(patient, parameters={{"n": n}})
print("went on")
"""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COULER_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def status(*tasks: TaskStatus, state: str = "Failed", **fields: object) -> RunStatus:
    return RunStatus("flow-1", "flow", state, tasks=tasks, **fields)  # type: ignore[arg-type]


# ---- on stderr


def test_a_run_that_failed_says_which_task_and_why(capfd: pytest.CaptureFixture[str]) -> None:
    run = couler.run(risky)
    assert capfd.readouterr() == (
        "",
        f"{run.id} failed\n"
        "  divide: ZeroDivisionError: division by zero\n"
        f"`couler logs {run.id}` shows what its steps wrote\n"
        f"`couler retry {run.id}` runs what failed again\n",
    )


def test_a_run_that_succeeded_says_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    assert couler.run(risky, parameters={"x": 2}).outputs == {"result": 0.5}
    assert capfd.readouterr() == ("", "")


def test_of_many_failed_tasks_the_first_are_named_without_the_graphs_around_them() -> None:
    items = [TaskStatus(f"g/each[{n}]", "Failed", message="first\nlast\x1b[2J\n") for n in range(7)]
    around = [TaskStatus("g", "Failed", message="each failed"), TaskStatus("g/each", "Failed", message="7 failed")]
    text = display.failure(status(*around, *items, TaskStatus("after", "Blocked"), message="no time left"))
    assert text.splitlines() == [
        "flow-1 failed: no time left",
        *(f"  g/each[{n}]: last\ufffd[2J" for n in range(5)),
        "  … and 2 more",
        "`couler logs flow-1` shows what its steps wrote",
        "`couler retry flow-1` runs what failed again",
    ]


def test_one_ctrl_c_ends_a_loop_of_runs_and_leaves_one_to_resume(tmp_path: Path, home: Path) -> None:
    program, ready, go = tmp_path / "loop.py", tmp_path / "ready", tmp_path / "go"
    os.mkfifo(ready)
    program.write_text(LOOP.format(go=str(go), ready=str(ready)))
    with subprocess.Popen(
        [sys.executable, str(program)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        ready.read_text()  # the step has come to where it waits
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    (run,) = LocalClient().list()
    assert (process.returncode, out, run.status) == (-signal.SIGINT, "", "Stopped")
    assert f"{run.run} stopped; `couler resume {run.run}` goes on with it\n" in err
    assert err.endswith("\nKeyboardInterrupt\n")
    go.touch()
    client = LocalClient()
    client.resume(run.run)
    *_, ended = client.watch(run.run)
    assert (ended.status, ended.outputs) == ("Succeeded", {"result": 0})


# ---- in a REPL


def test_a_run_is_shown_in_one_line_with_its_reason(capfd: pytest.CaptureFixture[str]) -> None:
    run = couler.run(risky)
    assert repr(run) == f"<Run {run.id} Failed: divide failed: exit code 1: ZeroDivisionError: division by zero>"
    assert repr(couler.run(risky, parameters={"x": 1})).endswith(" Succeeded>")
    assert display.line("flow-1", status(message="two\nlines")) == "<Run flow-1 Failed: two lines>"


def test_logs_are_shown_as_text_and_read_line_by_line() -> None:
    run = couler.run(risky, parameters={"x": 2})
    logs = run.logs()
    assert repr(logs) == str(logs) == "divide: dividing by 2"
    assert [line.text for line in logs] == [line.text for line in logs] == ["dividing by 2"]
    assert str(run.logs("divide")) == "dividing by 2"


def test_logs_of_an_unknown_task_are_refused() -> None:
    logs = couler.run(risky, parameters={"x": 2}).logs("nosuch")
    with pytest.raises(RunNotFoundError, match="nosuch"):
        list(logs)


# ---- in a notebook


def test_the_table_of_a_run_is_escaped() -> None:
    shown = display.html(
        status(TaskStatus("<b>&", "Failed", seconds=1.5, message='"<i>"'), outputs={"<o>": {"k": "</td>"}})
    )
    assert shown == (
        "<div><p><b>flow</b> <code>flow-1</code> Failed: 1 failed</p>"
        "<pre>flow-1 failed\n  &lt;b&gt;&amp;: &quot;&lt;i&gt;&quot;\n"
        "`couler logs flow-1` shows what its steps wrote\n"
        "`couler retry flow-1` runs what failed again</pre>"
        "<table><tr><th>output</th><th>value</th></tr>"
        "<tr><td>&lt;o&gt;</td><td>{&quot;k&quot;: &quot;&lt;/td&gt;&quot;}</td></tr></table>"
        "<table><tr><th>task</th><th>state</th><th>time</th><th>message</th></tr>"
        "<tr><td>&lt;b&gt;&amp;</td><td>Failed</td><td>1.5 s</td><td>&quot;&lt;i&gt;&quot;</td></tr></table></div>"
    )


def test_a_long_table_is_cut_and_keeps_what_failed() -> None:
    tasks = [TaskStatus(f"t{n}", "Failed" if n == 140 else "Succeeded") for n in range(150)]
    shown = display.html(status(*tasks, state="Succeeded"))
    assert shown.count("<tr>") == 101
    assert "<td>t140</td><td>Failed</td>" in shown
    assert shown.endswith("<p>50 more tasks are not listed.</p></div>")


def test_a_table_says_what_was_cached_and_tried_again() -> None:
    shown = display.html(
        status(TaskStatus("a", "Succeeded", cached=True), TaskStatus("b", "Succeeded", 3), state="Succeeded")
    )
    assert "Succeeded: 2 succeeded</p>" in shown
    assert "<td>Succeeded, cached</td>" in shown
    assert "<td>Succeeded, attempt 3</td>" in shown


def test_a_workflow_that_can_t_be_built_has_no_picture() -> None:
    with couler.Workflow("nothing") as empty:
        pass
    assert empty._repr_svg_() is None
    assert repr(empty) == "<workflow nothing: 0 tasks>"
