"""Processes of the engine that somebody stops (SIGSTOP), steps among them: the run goes on, and ends when asked to."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from couler_py.backends.local import execute
from couler_py.backends.local.lifecycle import RunBusyError
from couler_py.backends.local.runs.taking_up import prepare_again
from couler_py.ir import Workflow
from couler_py.ir.model import After, RetryPolicy, Task
from couler_py.store import runs
from couler_py.store.database import connect
from couler_py.store.home import open_home
from tests.engines.local.conftest import Drivers, processes_of
from tests.engines.local.flows import flow, graph, python, shell

STOP_ZYGOTE = "def stop():\n    import os, signal\n    os.kill(os.getppid(), signal.SIGSTOP)"
STOP_WARDEN = """def stop():
    import os, signal
    warden = open(f'/proc/{os.getppid()}/stat').read().split()[3]
    os.kill(int(warden), signal.SIGSTOP)"""


def beside(source: str) -> Workflow:
    """Steps that run beside one that stops something, and after it."""
    other = shell("other", "true")
    tasks = [Task("stop", "stop"), *(Task(f"beside{n}", "other") for n in range(4))]
    tasks += [Task("after", "nothing", after=(After("stop"),)), Task("last", "other", after=(After("stop"),))]
    nothing = python("nothing", "def nothing():\n    pass")
    return flow(python("stop", source), other, nothing, graph(*tasks))


def test_a_step_that_stops_what_it_is_forked_from_stops_nobody(home: Path) -> None:
    record = execute(beside(STOP_ZYGOTE), home=home)
    assert {task.state for task in record.tasks.values()} == {"Succeeded"}


def test_a_step_that_stops_who_looks_after_it_stops_nobody(home: Path) -> None:
    record = execute(beside(STOP_WARDEN), home=home)
    assert {task.state for task in record.tasks.values()} == {"Succeeded"}


def test_a_command_that_stops_who_looks_after_it_stops_nobody(home: Path) -> None:
    stop, other = shell("stop", "kill -STOP $PPID"), shell("other", "true")
    tasks = (Task("stop", "stop"), Task("other", "other", after=(After("stop"),)))
    assert execute(flow(stop, other, graph(*tasks)), home=home).status == "Succeeded"


def test_steps_that_wait_for_a_killed_zygote_are_forked_by_another(home: Path) -> None:
    """Half of them kill the one that others are to be forked from. Who ends in that moment may be lost, and retried."""
    again = RetryPolicy(limit=5)
    kill = "def kill():\n    import os, signal\n    os.kill(os.getppid(), signal.SIGKILL)"
    steps = [python("kill", kill, retry=again), python("mean", "def mean():\n    pass", retry=again)]
    tasks = [Task(f"{name}{n}", name) for n in range(20) for name in ("kill", "mean")]
    record = execute(flow(*steps, graph(*tasks)), home=home)
    assert [task.message for task in record.tasks.values() if task.state != "Succeeded"] == []
    connection = connect(open_home(home))
    messages = {attempt.message for _, attempt in runs.load_attempts(connection, record.id)}
    connection.close()
    assert messages <= {"", "its warden ended without a record: killed, out of memory or disk space"}


def test_a_zygote_that_never_forks_is_not_asked_for_ever(home: Path) -> None:
    """A module that ends its process as it is loaded would end every other one too."""
    (home.parent / "ender.py").write_text("import os\nos._exit(1)\n")
    step = python("step", "def step():\n    pass", retry=RetryPolicy(limit=1))
    workflow = flow(step, graph(Task("it", "step")), engines={"local": {"preload": ["ender"]}})
    record = execute(workflow, home=home)
    assert record.status == "Failed"


def test_an_engine_with_a_stopped_warden_ends_when_it_is_asked(drivers: Drivers, tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    os.mkfifo(pid)
    step = shell("it", f"echo $PPID > {pid}; sleep 600")
    driver = drivers.run(flow(step, graph(Task("it", "it"))))
    os.kill(int(pid.read_text()), signal.SIGSTOP)
    driver.send(signal.SIGTERM)
    assert driver.finish()["status"] == "Stopped"
    assert processes_of(drivers.home) == {}


def test_an_engine_with_a_warden_that_answers_nobody_ends_when_it_is_asked(drivers: Drivers, tmp_path: Path) -> None:
    """It is stopped again as often as it is told to go on."""
    pid = tmp_path / "pid"
    os.mkfifo(pid)
    stopper = "w=$PPID; echo $w > {pid}; trap '' TERM; while kill -STOP $w; do :; done"
    step = shell("it", stopper.format(pid=pid))
    driver = drivers.run(flow(step, graph(Task("it", "it"))))
    pid.read_text()
    driver.send(signal.SIGTERM)
    assert driver.finish()["status"] == "Stopped"
    assert processes_of(drivers.home) == {}


def test_a_step_that_never_begins_ends_at_its_time_out(home: Path) -> None:
    """What it is forked from is stopped again as often as it is told to go on."""
    source = "def stop():\n    import os, signal\n    zygote = os.getppid()\n"
    source += "    while os.getppid() == zygote:\n        os.kill(zygote, signal.SIGSTOP)"
    late = python("late", "def late():\n    pass", timeout=0.5)
    tasks = (Task("stop", "stop"), Task("late", "late"))
    record = execute(flow(python("stop", source, timeout=0.5), late, graph(*tasks)), home=home, grace=0.1)
    assert record.tasks["stop"].message.splitlines()[0] == "timed out after 0.5 seconds"
    assert processes_of(home) == {}


def test_a_stopped_engine_keeps_its_run_and_is_named_to_who_wants_it(drivers: Drivers, tmp_path: Path) -> None:
    ready, go = tmp_path / "ready", tmp_path / "go"
    os.mkfifo(ready)
    os.mkfifo(go)
    driver = drivers.run(flow(shell("it", f"echo > {ready}; cat {go}"), graph(Task("it", "it"))))
    driver.until(kind="id")
    ready.read_text()
    with pytest.raises(RunBusyError, match=f"the process {driver.process.pid} works on {driver.run}: `couler stop"):
        prepare_again(driver.run, home=drivers.home)
    driver.send(signal.SIGSTOP)
    os.waitid(os.P_PID, driver.process.pid, os.WSTOPPED | os.WNOWAIT)
    with pytest.raises(RunBusyError, match=f"somebody has stopped it: `kill -CONT {driver.process.pid}` lets it go on"):
        prepare_again(driver.run, home=drivers.home)
    driver.kill()
    go.write_text("")
    assert drivers.resume(driver.run).finish()["status"] == "Succeeded"
    assert processes_of(drivers.home) == {}
