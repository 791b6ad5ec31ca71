"""What attempts use while they run: seen from outside, thinned as it grows, kept with the run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest

import couler_py as couler
from couler_py.backends.local import execute
from couler_py.backends.local.machine.sampling import KEPT, Sampler, Watched, thinned
from couler_py.backends.local.machine.usage import Use, seconds, uses
from couler_py.backends.local.warden import processes
from couler_py.store import runs, samples
from couler_py.store.database import connect
from couler_py.store.home import open_home
from couler_py.store.samples import Sample

LARGE = 64 * 1024 * 1024

CHILD = f"import sys; held = bytearray({LARGE}); print('ready', flush=True); sys.stdin.read()"
BUSY = f"""
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", {CHILD!r}], stdout=subprocess.PIPE, process_group=0)
child.stdout.readline()
while time.process_time() < 0.3:
    pass
print("ready", flush=True)
sys.stdin.read()
"""


def test_all_processes_of_a_session_count_also_those_in_groups_of_their_own() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", BUSY], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        found = uses({process.pid})
        process.communicate(b"")
    assert found[process.pid].cpu >= 0.29
    assert found[process.pid].memory >= LARGE


def test_a_process_counts_with_all_that_descend_from_it_in_whatever_session() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", BUSY.replace("process_group=0", "start_new_session=True")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        found = uses((), {process.pid})
        process.communicate(b"")
    assert found.keys() == {process.pid}
    assert found[process.pid].memory >= LARGE


def test_a_session_that_has_ended_uses_nothing() -> None:
    process = subprocess.Popen([sys.executable, "-c", ""], start_new_session=True)
    process.wait()
    assert uses({process.pid}) == {}


def test_the_samples_of_three_days_are_as_many_as_those_of_minutes() -> None:
    watched = Watched([])
    days = range(3 * 24 * 3600)
    for second in days:
        watched.add(float(second), Use(second * 0.5, 900 if second == 100_000 else 100))
    kept = watched.samples
    assert KEPT // 2 <= len(kept) <= KEPT
    assert max(each.memory for each in kept) == 900
    assert kept[-1].time > days[-1] - watched.every - 1
    assert kept == sorted(kept)
    assert all(each.cpu == each.time * 0.5 for each in kept)


def test_of_two_neighbours_the_later_is_kept_with_the_higher_memory_of_both() -> None:
    found = [Sample(1, 1, 9), Sample(2, 2, 5), Sample(3, 3, 1), Sample(4, 4, 2), Sample(5, 5, 7)]
    assert thinned(found) == [Sample(2, 2, 9), Sample(4, 4, 2), Sample(5, 5, 7)]


def test_the_seconds_of_a_child_that_nobody_waited_for_are_not_taken_back() -> None:
    watched = Watched([], session=7)
    found = [watched.gather({7: Use(seconds, 10)}) for seconds in (5.0, 2.0)]
    assert found == [Use(5.0, 10), Use(5.0, 10)]


def test_what_has_just_ended_is_not_there() -> None:
    assert Watched([], session=7).gather({7: Use(0.1, 0)}) is None


def test_containers_that_have_ended_keep_their_seconds_but_no_memory(tmp_path: Path) -> None:
    watched = Watched([], folder=tmp_path)
    (tmp_path / "process-of-0").write_text("7")
    (tmp_path / "process-of-1").write_text("")  # not yet written
    watched.look()
    assert watched.roots == {7}
    assert watched.gather({7: Use(2.0, 10)}) == Use(2.0, 10)
    (tmp_path / "process-of-1").write_text("8")
    watched.look()
    assert watched.gather({8: Use(1.0, 20)}) == Use(3.0, 20)
    assert watched.gather({}) is None


def test_at_the_first_look_a_step_has_used_what_it_used_since_its_start() -> None:
    assert Watched([], 100.0).add(102.0, Use(1.0, 10)) == Use(0.5, 10)


def test_samples_of_an_earlier_engine_are_gone_on_with() -> None:
    watched = Watched([Sample(float(moment), float(moment), 1) for moment in range(500)])
    assert len(watched.samples) < KEPT
    assert watched.add(503.0, Use(505.0, 1)) == Use(1.5, 1)
    assert watched.samples[-1] == (503.0, 505.0, 1)


def test_processor_time_is_read_as_ps_writes_it() -> None:
    assert [seconds(text) for text in ("0:00.02", "61:01.50", "1:02:03", "2-03:04:05")] == [0.02, 3661.5, 3723, 183845]


UNTIL_SAMPLED = """
import sqlite3, sys, time
held = bytearray(64 * 1024 * 1024)
while all(memory < len(held) for (memory,) in sqlite3.connect(sys.argv[1]).execute("SELECT memory FROM in_use")):
    time.sleep(0.05)
"""


@couler.step
def until_sampled(database: str) -> int:
    import sqlite3
    import time

    held = bytearray(64 * 1024 * 1024)
    while all(memory < len(held) for (memory,) in sqlite3.connect(database).execute("SELECT memory FROM in_use")):
        time.sleep(0.05)
    return len(held)


def programs(database: str) -> object:
    return couler.container("x", [sys.executable, "-c", UNTIL_SAMPLED, database], name="long")()


@pytest.mark.parametrize("step", [programs, until_sampled], ids=["program", "forked"])
def test_a_run_keeps_samples_of_what_runs_longer_than_a_moment(step: Any, tmp_path: Path) -> None:
    home = open_home(tmp_path / "home")
    with couler.Workflow("sampled") as workflow:
        step(str(home.database))
    record = execute(couler.build(workflow), home=home.path)
    assert record.status == "Succeeded", record.message
    connection = connect(home)
    found = samples.load(connection, record.id)
    in_use = samples.load_in_use(connection, record.id)
    attempts = {attempt.folder for _, attempt in runs.load_attempts(connection, record.id)}
    runs.delete(connection, home, record.id)
    left = samples.load(connection, record.id), samples.load_in_use(connection, record.id)
    connection.close()
    assert set(found) == attempts
    assert max(each.memory for (series,) in [found.values()] for each in series) >= LARGE
    assert in_use is not None
    assert in_use.memory >= LARGE
    assert left == ({}, None)


def test_the_first_look_at_a_run_sees_what_runs_then(tmp_path: Path) -> None:
    """One that waited for a second look would miss steps that are as short as the time between two."""
    folder = tmp_path / "attempts" / "task-0-0"
    folder.mkdir(parents=True)
    store = connect(open_home(tmp_path / "home"))
    context = SimpleNamespace(
        running={"task": "task-0-0"}, folder=tmp_path, connection=store, facts=SimpleNamespace(id="run"),
        used=None, contained={}, machine=SimpleNamespace(total=SimpleNamespace(cpu=2.0)), journal=Mock(),
    )  # fmt: skip
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, start_new_session=True) as process:
        born = processes.start_time(process.pid)
        (folder / "process").write_text(f"{process.pid} {born} 0 0\n")
        Sampler(context).look()  # type: ignore[arg-type]
        process.communicate(b"\n")
    store.close()
    assert context.used is not None
    assert context.used[1] > 0
