"""What attempts use while they run: seen from outside, thinned as it grows, kept with the run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import couler_py as couler
from couler_py.backends.local import execute
from couler_py.backends.local.sampling import KEPT, Use, Watched, seconds, thinned, uses
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


def test_a_session_that_has_ended_uses_nothing() -> None:
    process = subprocess.Popen([sys.executable, "-c", ""], start_new_session=True)
    process.wait()
    assert uses({process.pid}) == {}


def test_the_samples_of_three_days_are_as_many_as_those_of_minutes() -> None:
    watched = Watched(1, [])
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
    watched = Watched(1, [])
    watched.add(0.0, Use(5.0, 10))
    watched.add(1.0, Use(2.0, 10))
    assert [each.cpu for each in watched.samples] == [5.0, 5.0]


def test_samples_of_an_earlier_engine_are_gone_on_with() -> None:
    watched = Watched(1, [Sample(float(moment), float(moment), 1) for moment in range(500)])
    assert len(watched.samples) < KEPT
    watched.add(503.0, Use(503.0, 1))
    assert watched.samples[-1] == (503.0, 503.0, 1)


def test_processor_time_is_read_as_ps_writes_it() -> None:
    assert [seconds(text) for text in ("0:00.02", "61:01.50", "1:02:03", "2-03:04:05")] == [0.02, 3661.5, 3723, 183845]


UNTIL_SAMPLED = """
import sqlite3, sys, time
held = bytearray(64 * 1024 * 1024)
while not sqlite3.connect(sys.argv[1]).execute("SELECT data FROM samples").fetchall():
    time.sleep(0.05)
"""


def test_a_run_keeps_samples_of_what_runs_longer_than_a_moment(tmp_path: Path) -> None:
    home = open_home(tmp_path / "home")
    with couler.Workflow("sampled") as workflow:
        couler.container("x", [sys.executable, "-c", UNTIL_SAMPLED, str(home.database)], name="long")()
    record = execute(couler.build(workflow), home=home.path)
    assert record.status == "Succeeded", record.message
    connection = connect(home)
    found = samples.load(connection, record.id)
    attempts = {attempt.folder for _, attempt in runs.load_attempts(connection, record.id)}
    runs.delete(connection, home, record.id)
    left = samples.load(connection, record.id)
    connection.close()
    assert set(found) == attempts
    assert max(each.memory for (series,) in [found.values()] for each in series) >= LARGE
    assert left == {}
