"""Runs on this machine by the command line: started, watched, steered, looked at."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.unit.cli.conftest import Couler

FAILING = """
import couler_py as couler


@couler.step
def fine() -> int:
    print("all is well")
    return 1


@couler.step
def breaks(x: int) -> int:
    from pathlib import Path
    if not Path("{marker}").exists():
        raise ValueError("no good")
    return x + 1


@couler.workflow
def fragile():
    return breaks(fine())
"""

WAITING = """
import couler_py as couler


@couler.step
def wait(n: int) -> int:
    import time
    while not __import__("os").path.exists("{marker}"):
        time.sleep(0.05)
    return n


@couler.workflow
def patient(n: int = 3):
    return wait(n)
"""


@pytest.fixture
def failing(here: Path) -> str:
    """A workflow whose second step fails until the file `mended` exists."""
    (here / "fragile.py").write_text(FAILING.format(marker=here / "mended"))
    return "fragile.py"


def run_of(couler: Couler) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(couler("runs", "--json").out)[0]
    return found


def test_a_run_shows_its_tasks_and_outputs(flow: str, couler: Couler) -> None:
    shown = couler("run", flow, "-p", "name=you", "-p", "times=2")
    assert shown.code == 0
    assert shown.out == ""
    assert shown.err.splitlines()[0] == "steps run as processes of this machine; not used: python:3.11"
    states = [line.split()[1] for line in shown.err.splitlines() if line.split()[2:3] == ["greet"]]
    assert states in (["Running", "Succeeded"], ["Succeeded"])  # it may be over before it is first looked at
    assert shown.err.splitlines()[-1] == "  result = hello you you"


def test_the_json_of_a_run_is_all_that_stands_on_stdout(flow: str, couler: Couler) -> None:
    shown = couler("run", flow, "--json")
    found = json.loads(shown.out)
    assert shown.err == ""
    assert list(found) == ["run", "status", "tasks", "outputs"]
    assert found["status"] == "Succeeded"
    assert found["outputs"] == {"result": "hello world"}
    assert list(found["tasks"]) == ["greet"]
    assert list(found["tasks"]["greet"]) == ["status", "attempts", "seconds"]
    assert found["tasks"]["greet"]["status"] == "Succeeded"
    assert found["tasks"]["greet"]["attempts"] == 1
    assert isinstance(found["tasks"]["greet"]["seconds"], float)


def test_a_run_that_fails_says_where_and_how_to_see_more(failing: str, couler: Couler) -> None:
    shown = couler("run", failing)
    run = run_of(couler)["run"]
    assert shown.code == 1
    assert "ValueError: no good" in shown.err
    assert f"`couler logs {run} breaks` shows all that it wrote" in shown.err
    assert 'raise ValueError("no good")' in couler("logs", run, "breaks").out
    assert "fine: all is well\n" in couler("logs", run).out


def test_retry_says_that_the_code_is_that_of_the_run(failing: str, here: Path, couler: Couler) -> None:
    couler("run", failing)
    (here / "mended").touch()
    shown = couler("retry", run_of(couler)["run"])
    said = "steps run as they were when the run began; --with FILE takes their code as it is now"
    assert shown.err.splitlines()[0] == said


@pytest.mark.parametrize("command", ["stop", "suspend", "terminate"])
def test_a_run_that_has_ended_is_not_said_to_be_steered(flow: str, couler: Couler, command: str) -> None:
    couler("run", flow)
    run = run_of(couler)["run"]
    shown = couler(command, run)
    assert (shown.code, shown.err) == (0, f"{run} has ended before: Succeeded\n")


def test_logs_of_a_task_that_isn_t_there_say_which_there_are(failing: str, couler: Couler) -> None:
    couler("run", failing)
    run = run_of(couler)["run"]
    shown = couler("logs", run, "brakes")
    assert shown.code == 4
    assert shown.err == f"error: {run} has no task 'brakes'; it has breaks, fine\n"


def test_retry_runs_what_failed_and_keeps_the_rest(failing: str, here: Path, couler: Couler) -> None:
    couler("run", failing)
    (here / "mended").touch()
    shown = couler("retry", run_of(couler)["run"], "--json")
    assert shown.code == 0
    found = json.loads(shown.out)
    assert found["outputs"] == {"result": 2}
    assert found["tasks"]["fine"]["attempts"] == 1


def test_wrong_parameters_start_nothing(flow: str, here: Path, couler: Couler) -> None:
    shown = couler("run", flow, "-p", "times=often")
    assert shown.code == 2
    assert shown.err == "error[CLR706]: the parameter 'times' is int, and 'often' is not\n"
    assert not (here / ".couler").exists()


def test_what_the_file_gives_its_run_holds_unless_typed(here: Path, flow: str, couler: Couler) -> None:
    with (here / flow).open("a") as file:
        file.write("\ncouler.run(hello, parameters={'name': 'file', 'times': 2})\n")
    assert json.loads(couler("run", flow, "--json", "-p", "times=1").out)["outputs"] == {"result": "hello file"}


def test_the_scheduled_instant_is_typed(here: Path, couler: Couler) -> None:
    (here / "nightly.py").write_text(
        "import couler_py as couler\n\n@couler.step\ndef when() -> str:\n"
        "    return couler.run_info.scheduled_time.isoformat()\n\n@couler.workflow\ndef nightly():\n    return when()\n"
    )
    shown = couler("run", "nightly.py", "--at", "2026-05-01T03:00:00Z", "--json")
    assert json.loads(shown.out)["outputs"]["result"].startswith("2026-05-01T03:00:00")
    assert couler("run", "nightly.py", "--at", "tomorrow").code == 2


def test_what_was_not_written_here_runs_as_processes_only_when_told_to(
    flow: str, here: Path, couler: Couler, monkeypatch: pytest.MonkeyPatch
) -> None:
    couler("compile", flow, "--to", "ir", "-o", "flow.json")
    (here / "couler.toml").write_text('runtime = "process"\n')  # which may have come with the workflow
    with monkeypatch.context() as without:
        without.setenv("PATH", "/nowhere")  # neither podman nor docker
        shown = couler("run", "flow.json", "--json")
        assert (shown.code, "error[CLR708]" in shown.err) == (2, True)
        asked = couler("run", "flow.json", "--runtime", "container")
        assert (asked.code, "error[CLR621]: neither podman nor docker is installed here" in asked.err) == (2, True)
    assert not (here / ".couler").exists()
    shown = couler("run", "flow.json", "--runtime", "process", "--json")
    assert json.loads(shown.out)["outputs"] == {"result": "hello world"}
    assert "runtime is one of process, podman, docker, container" in couler("run", flow, "--runtime", "vm").err


def test_options_that_are_not_for_a_run_are_refused(flow: str, couler: Couler) -> None:
    for option in ("home=/tmp", "nosuch=1", "name=../x", "grace=long", "durability=disk"):
        shown = couler("run", flow, "-O", option)
        assert shown.code == 2
        assert "Traceback" not in shown.err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has /dev/full")
def test_a_full_disk_behind_stdout_is_no_bug(flow: str) -> None:
    command = [sys.executable, "-m", "couler_py.cli", "compile", flow, "--to", "ir", "-o", "-"]
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert ended.returncode == 2
    assert ended.stderr.startswith("error: No space left on device")


def test_a_place_where_nothing_can_be_written_is_named_with_what_is_wrong(flow: str, couler: Couler) -> None:
    couler("run", flow)
    shown = couler("report", run_of(couler)["run"], "-o", "nowhere/run.html")
    assert (shown.code, shown.err) == (2, "error: nowhere/run.html: No such file or directory\n")


def test_a_page_of_a_run_is_written(flow: str, here: Path, couler: Couler) -> None:
    couler("run", flow)
    assert couler("report", run_of(couler)["run"], "-o", "run.html").code == 0
    page = (here / "run.html").read_text()
    assert "hello world" in page
    assert "<script" not in page


@pytest.mark.parametrize("typed", ["team-a", "0", "-1"])
def test_how_many_runs_are_listed_is_a_count(typed: str, couler: Couler) -> None:
    shown = couler("runs", "-n", typed)
    assert shown.code == 2
    assert f"-n {typed}: how many runs are listed, as -n 20; a namespace is --namespace NAME" in shown.err


def test_runs_are_listed_and_forgotten(flow: str, couler: Couler) -> None:
    assert couler("runs").err == "no runs yet\n"
    couler("run", flow)
    run = run_of(couler)
    assert (run["workflow"], run["status"], run["engine"]) == ("hello", "Succeeded", "local")
    assert couler("runs").out.splitlines()[1].split()[:3] == [run["run"], "Succeeded", "hello"]
    assert couler("delete", run["run"]).code == 0
    assert json.loads(couler("runs", "--json").out) == []


@pytest.mark.parametrize("command", ["watch", "logs", "resume", "retry", "stop", "delete", "report"])
def test_a_run_that_isn_t_there_has_an_exit_code_of_its_own(command: str, couler: Couler) -> None:
    shown = couler(command, "nosuch-12345")
    assert shown.code == 4
    assert "nosuch-12345" in shown.err
    assert "Traceback" not in shown.err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_ctrl_c_and_its_like_stop_a_run_that_resume_goes_on_with(
    here: Path, couler: Couler, number: signal.Signals
) -> None:
    (here / "patient.py").write_text(WAITING.format(marker=here / "go"))
    with subprocess.Popen(
        [sys.executable, "-m", "couler_py.cli", "run", "patient.py"], stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if line.split()[1:3] == ["Running", "wait"]:
                process.send_signal(number)
        assert process.wait() == 130
    run = run_of(couler)
    assert run["status"] == "Stopped"
    (here / "go").touch()
    shown = couler("resume", run["run"], "--json")
    assert shown.code == 0
    assert json.loads(shown.out)["outputs"] == {"result": 3}


def test_an_approval_is_given_in_another_terminal(here: Path, couler: Couler) -> None:
    (here / "approve.py").write_text(
        "import couler_py as couler\n\n@couler.step\ndef use(answer: str) -> str:\n    return 'told ' + answer\n\n"
        "ask = couler.suspend(outputs={'answer': str}, name='ask')\n\n"
        "@couler.workflow\ndef approve():\n    return use(ask())\n"
    )
    with subprocess.Popen(
        [sys.executable, "-m", "couler_py.cli", "run", "approve.py"], stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        lines = []
        for line in process.stderr:
            lines.append(line)
            if line.startswith("waits for a person: `couler resume "):
                shown = couler("resume", line.split()[6].strip("`"), "--output", "answer=yes", "--json")
    assert process.returncode == 0
    assert lines[-1] == "  result = told yes\n"
    assert json.loads(shown.out)["outputs"] == {"result": "told yes"}


def test_metrics_are_shown_live_and_in_the_report(here: Path, couler: Couler) -> None:
    (here / "train.py").write_text(
        "import couler_py as couler\n\n@couler.step\ndef train() -> None:\n"
        "    for step, loss in enumerate([1.0, 0.5, 0.25]):\n        couler.log_metric('loss', loss, step)\n\n"
        "@couler.workflow\ndef training():\n    train()\n"
    )
    assert "loss=0.25" in couler("run", "train.py").err
    couler("report", run_of(couler)["run"], "-o", "run.html")
    assert "<h2>Measured</h2>" in (here / "run.html").read_text()


def test_retry_of_a_run_in_which_nothing_failed_says_what_to_do_instead(flow: str, couler: Couler) -> None:
    couler("run", flow)
    before = run_of(couler)
    run = before["run"]
    shown = couler("retry", run)
    assert shown.code == 0
    assert shown.err == (
        f"nothing failed in {run}. `couler retry {run} --task TASK` runs a task again with all that follows it, "
        f"`--with FILE` what has changed; `couler rerun {run}` starts it anew\n"
    )
    assert run_of(couler) == before
    assert couler("retry", run, "--task", "greet").code == 0


def test_why_of_a_task_that_isn_t_there_says_which_there_are(failing: str, couler: Couler) -> None:
    couler("run", failing)
    run = run_of(couler)["run"]
    assert couler("why", run, "brakes").err == (
        f"error: {run} has no task 'brakes'; did you mean 'breaks'?; it has breaks, fine, fragile\n"
    )


@pytest.mark.parametrize("typed", ["flows", "./flows", "flows/"])
def test_a_folder_is_said_to_be_one(typed: str, here: Path, couler: Couler) -> None:
    (here / "flows").mkdir()
    shown = couler("run", typed)
    assert shown.code == 2
    assert "flows/ is a folder" in shown.err.replace(typed, "flows/")
    assert shown.err.endswith("is a folder: name the file of the workflow, and there is none in it\n")
    (here / "flows" / "b.py").touch()
    (here / "flows" / "a.yaml").touch()
    assert couler("run", typed).err.endswith("name the file of the workflow, as flows/a.yaml, flows/b.py\n")
