"""kill -9 of the engine, then `resume`: nothing that was recorded runs again, nothing is left behind or lost."""

from __future__ import annotations

import os
import random
import signal
from collections import Counter
from pathlib import Path

import pytest

from couler_py.backends.local.steps import attempts
from couler_py.ir.model import After, RetryPolicy, Task
from tests.engines.local.conftest import Drivers, integrity, processes_of
from tests.engines.local.flows import flow, graph, mesh, shell


def recorded(folder: Path) -> set[str]:
    """The keys of the tasks that have left a record."""
    return {key for key, each in attempts.folders(folder).items() if any(attempts.record(one) for one in each)}


def kill_and_resume(drivers: Drivers, tmp_path: Path, count: int, kills: list[int]) -> None:
    """Run a mesh, kill its engine after each number of events, resume, and compare with what must hold."""
    witness = tmp_path / "witness"
    witness.touch()
    workflow = mesh(count, str(witness))
    driver = drivers.run(workflow)
    kept: set[str] = set()
    for kill in kills:
        for number, _ in enumerate(driver.events()):
            if number == kill and driver.run:
                break
        driver.kill()
        assert integrity(drivers.home) == "ok"
        kept |= recorded(drivers.home / "runs" / driver.run)
        run = driver.run
        driver = drivers.resume(run)
    summary = driver.finish()
    assert summary["status"] == "Succeeded"
    assert summary["outputs"] == {"last": expected(count)}
    assert {task["status"] for task in summary["tasks"].values()} == {"Succeeded"}
    starts = Counter(witness.read_text().split())
    names = {f"t{number}" for number in range(count)}
    assert set(starts) == names
    assert {name: starts[name] for name in names if attempts.key_of(name) in kept and starts[name] != 1} == {}
    assert processes_of(drivers.home) == {}
    assert integrity(drivers.home) == "ok"


def expected(count: int, width: int = 8) -> int:
    """What the mesh comes to, computed here."""
    values: list[int] = []
    for number in range(count):
        given = []
        for back in (0, 3):
            before = number - width - (number + back) % width
            given.append(values[before] if before >= 0 else number + back)
        values.append((given[0] * 31 + given[1] * 7 + 1) % 9973)
    return values[-1]


def test_an_undisturbed_run_gives_what_is_expected(drivers: Drivers, tmp_path: Path) -> None:
    kill_and_resume(drivers, tmp_path, 24, [])


@pytest.mark.parametrize("seed", range(6))
def test_a_killed_run_is_resumed(seed: int, drivers: Drivers, tmp_path: Path) -> None:
    instants = random.Random(seed)
    kill_and_resume(drivers, tmp_path, 40, [instants.randrange(4 * 40)])


def test_a_run_is_killed_again_and_again(drivers: Drivers, tmp_path: Path) -> None:
    kill_and_resume(drivers, tmp_path, 40, [10, 20, 30, 5])


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(50))
def test_a_run_of_200_tasks_is_killed_at_any_instant(seed: int, drivers: Drivers, tmp_path: Path) -> None:
    instants = random.Random(1000 + seed)
    kill_and_resume(drivers, tmp_path, 200, [instants.randrange(4 * 200)])


def test_a_step_whose_warden_was_killed_too_is_ended_and_runs_again(drivers: Drivers, tmp_path: Path) -> None:
    ready, go = tmp_path / "ready", tmp_path / "go"
    os.mkfifo(ready)
    script = f"[ -e {go} ] || {{ echo $$ > {ready}; while true; do sleep 0.05; done; }}"
    driver = drivers.run(flow(shell("wait", script), graph(Task("a", "wait"))))
    driver.until(kind="id")
    step = int(ready.read_text())
    driver.kill()
    for pid, command in processes_of(drivers.home).items():
        if "bare.py warden" in command:
            os.kill(pid, signal.SIGKILL)
    go.touch()
    assert drivers.resume(driver.run).finish()["status"] == "Succeeded"
    assert step not in processes_of(drivers.home)
    assert processes_of(drivers.home) == {}


def test_a_killed_warden_fails_the_attempt_which_is_retried(drivers: Drivers, tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    os.mkfifo(ready)
    script = f'[ "$COULER_RUN_ATTEMPT" = 1 ] || {{ echo $PPID > {ready}; while true; do sleep 0.05; done; }}'
    driver = drivers.run(flow(shell("wait", script, retry=RetryPolicy(1)), graph(Task("a", "wait"))))
    os.kill(int(ready.read_text()), signal.SIGKILL)
    summary = driver.finish()
    assert summary["tasks"]["a"] == {"status": "Succeeded", "attempts": 2, "seconds": summary["tasks"]["a"]["seconds"]}
    assert processes_of(drivers.home) == {}


def test_a_killed_warden_is_started_again(drivers: Drivers, tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    os.mkfifo(ready)
    first = shell("first", f"echo $PPID > {ready}; while true; do sleep 0.05; done")
    main = graph(Task("first", "first"), Task("second", "second", after=(After("first", "always"),)))
    driver = drivers.run(flow(first, shell("second", "true"), main))
    os.kill(int(ready.read_text()), signal.SIGKILL)
    states = {path: task["status"] for path, task in driver.finish()["tasks"].items()}
    assert states == {"first": "Failed", "second": "Succeeded"}
    assert processes_of(drivers.home) == {}


def test_what_left_the_group_of_a_step_ends_with_a_killed_warden(drivers: Drivers, tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    os.mkfifo(ready)
    away = f"setsid sh -c 'while true; do sleep 0.05; done' & echo $PPID $! > {ready}; wait"
    driver = drivers.run(flow(shell("leave", away), graph(Task("a", "leave"))))
    warden, stray = map(int, ready.read_text().split())
    os.kill(warden, signal.SIGKILL)
    assert driver.finish()["status"] == "Failed"
    assert stray not in processes_of(drivers.home)
    assert processes_of(drivers.home) == {}


def test_an_attempt_that_succeeded_after_one_was_lost_is_not_repeated(
    drivers: Drivers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The engine is killed when it has heard of the second attempt, and has written nothing of it."""
    witness = tmp_path / "witness"
    script = f'echo x >> {witness}; [ "$COULER_RUN_ATTEMPT" = 1 ] || {{ kill -9 $PPID; sleep 600; }}'
    monkeypatch.setenv("COULER_FAULT", "attempt.reported:2")
    driver = drivers.run(flow(shell("lose", script, retry=RetryPolicy(2)), graph(Task("a", "lose"))))
    assert driver.finish() == {}
    monkeypatch.delenv("COULER_FAULT")
    summary = drivers.resume(driver.run).finish()
    assert summary["status"] == "Succeeded"
    assert summary["tasks"]["a"]["attempts"] == 2
    assert witness.read_text().split() == ["x", "x"]
    assert processes_of(drivers.home) == {}
