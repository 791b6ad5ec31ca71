"""Jobs of several processes on this machine, without torch: what each is told, restarts, and how a failure is told."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from couler_py.runner.launch import program


def launch(words: list[str], **given: object) -> subprocess.CompletedProcess[str]:
    spec = {"framework": "generic", "nodes": 1, "processes": 1, "least": 1, "restarts": 0, "health": 5.0}
    spec |= {"patience": 0.0, "roles": []} | given
    command = [sys.executable, "-c", program(), json.dumps(spec), sys.executable, "-c", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


TOLD = """
import os
names = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "GROUP_RANK", "MASTER_ADDR", "COULER_PLANNED_WORLD")
print(*(os.environ[name] for name in names))
"""


def test_every_process_of_every_node_is_told_who_it_is() -> None:
    done = launch([TOLD], nodes=2, processes=2)
    assert done.returncode == 0
    assert sorted(done.stdout.splitlines()) == [
        "[rank 0] 0 4 0 2 0 127.0.0.1 4",
        "[rank 1] 1 4 1 2 0 127.0.0.1 4",
        "[rank 2] 2 4 0 2 1 127.0.0.1 4",
        "[rank 3] 3 4 1 2 1 127.0.0.1 4",
    ]


def test_a_lone_process_writes_as_it_would_by_itself() -> None:
    assert launch(["import sys; print('alone', *sys.argv[1:])", "--a", "b c"]).stdout == "alone --a b c\n"


def test_tensorflow_is_told_where_its_workers_are() -> None:
    told = "import json, os; c = json.loads(os.environ['TF_CONFIG']); print(len(c['cluster']['worker']), c['task'])"
    done = launch([told], framework="tensorflow", processes=2)
    assert sorted(done.stdout.splitlines()) == [
        "[rank 0] 2 {'type': 'worker', 'index': 0}",
        "[rank 1] 2 {'type': 'worker', 'index': 1}",
    ]


FAILS = """
import os, sys, time
from pathlib import Path
if os.environ["RANK"] == "1" and os.environ["COULER_RESTART"] in sys.argv[1]:
    sys.exit("no data for rank 1")
if os.environ["COULER_RESTART"] in sys.argv[1]:
    time.sleep(600)
"""


def test_a_process_that_fails_ends_the_others_and_all_begin_again() -> None:
    done = launch([FAILS, "0"], processes=2, restarts=1)
    assert done.returncode == 0
    assert done.stderr.splitlines() == [
        "couler: rank 1 failed (exit code 1)",
        "couler: all begin again: restart 1 of 1",
    ]


def test_the_last_lines_of_the_rank_that_failed_are_the_last_of_the_log() -> None:
    done = launch([FAILS, "01"], processes=2, restarts=1)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-2:] == ["couler: the last lines of rank 1:", "no data for rank 1"]


HANGS = """
import os, signal, sys
if "0" in sys.argv[1:]:
    print("waiting", flush=True)
    signal.pause()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="who computes is read from /proc")
@pytest.mark.parametrize("framework", ["generic", "tensorflow"])
def test_a_job_that_does_nothing_for_as_long_as_it_may_hangs_and_begins_again(framework: str) -> None:
    waits = HANGS.replace("sys.argv[1:]", "os.environ['COULER_RESTART']")
    done = launch([waits], framework=framework, processes=2, restarts=1, patience=5.0)
    assert done.returncode == 0
    assert done.stderr.splitlines() == [
        "couler: no process has computed or written anything for 5 seconds: the job hangs",
        "couler: all begin again: restart 1 of 1",
    ]


BEATS = """
import time
while True:
    time.sleep(0.25)
    until = time.process_time() + 0.002
    while time.process_time() < until:
        pass
"""


@pytest.mark.skipif(sys.platform != "linux", reason="who computes is read from /proc")
def test_processes_that_only_beat_hang_however_many_they_are() -> None:
    done = launch([BEATS], processes=6, patience=2.0)
    assert done.returncode == 1
    assert "couler: no process has computed or written anything for 2 seconds: the job hangs" in done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="who computes is read from /proc")
def test_a_hanging_job_of_mpi_ends_with_its_last_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mpirun = tmp_path / "mpirun"
    mpirun.write_text('#!/bin/sh\nshift 2\nexec "$@"\n')
    mpirun.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    done = launch([HANGS, "0"], framework="mpi", processes=2, patience=2.0)
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "couler: no process has computed or written anything for 2 seconds: the job hangs",
        "couler: the last lines of mpirun:",
        "waiting",
    ]


@pytest.mark.skipif(sys.platform != "linux", reason="who is stopped is read from /proc")
def test_a_process_that_is_stopped_for_too_long_is_killed_and_all_begin_again() -> None:
    stops = """
import os, signal
if os.environ["COULER_RESTART"] == "0":
    if os.environ["RANK"] == "1":
        os.kill(os.getpid(), signal.SIGSTOP)
    while True:
        pass
"""
    done = launch([stops], processes=2, restarts=1, patience=2.0)
    assert done.returncode == 0
    assert "was stopped for 2 seconds, and is killed" in done.stderr
    assert "couler: rank 1 failed (signal 9)" in done.stderr


def test_a_job_that_computes_and_says_nothing_does_not_hang() -> None:
    busy = "import time\nend = time.process_time() + 3\nwhile time.process_time() < end: pass"
    done = launch([busy], patience=1.0)
    assert (done.returncode, done.stderr) == (0, "")


COME_AND_GO = """
import subprocess, sys
burns = "import time; [None for _ in iter(lambda: time.process_time() > 0.1, True)]"
for _ in range(30):
    subprocess.run([sys.executable, "-S", "-c", burns])
"""


def test_a_job_whose_processes_come_and_go_does_not_hang() -> None:
    done = launch([COME_AND_GO], patience=1.0)
    assert (done.returncode, done.stderr) == (0, "")


MET = """
import os, sys, time
from pathlib import Path
Path(sys.argv[1], os.environ["RANK"]).touch()
while len(list(Path(sys.argv[1]).iterdir())) < int(os.environ["WORLD_SIZE"]):
    time.sleep(0.05)
"""


def test_the_nodes_of_tensorflow_have_roles_and_the_chief_decides_when_the_job_is_done(tmp_path: Path) -> None:
    told = """
import json, os, signal
told = json.loads(os.environ["TF_CONFIG"])
print({role: len(places) for role, places in told["cluster"].items()}, told["task"], flush=True)
if told["task"]["type"] == "ps":
    Path(sys.argv[1], os.environ["RANK"]).touch()
    signal.pause()
"""
    roles = [{"name": "chief", "nodes": 1}, {"name": "worker", "nodes": 2}, {"name": "ps", "nodes": 1}]
    begin, meet = MET.split("Path(sys.argv[1]", 1)
    code = f"{begin}{told}Path(sys.argv[1]{meet}"
    done = launch([code, str(tmp_path)], framework="tensorflow", nodes=4, roles=roles)
    assert done.returncode == 0, done.stderr
    cluster = "{'chief': 1, 'worker': 2, 'ps': 1}"
    assert sorted(done.stdout.splitlines()) == [
        f"[rank 0] {cluster} {{'type': 'chief', 'index': 0}}",
        f"[rank 1] {cluster} {{'type': 'worker', 'index': 0}}",
        f"[rank 2] {cluster} {{'type': 'worker', 'index': 1}}",
        f"[rank 3] {cluster} {{'type': 'ps', 'index': 0}}",
    ]


def test_a_role_may_have_a_command_of_its_own(tmp_path: Path) -> None:
    own = [sys.executable, "-c", f"print('evaluates', flush=True){MET}", str(tmp_path)]
    roles = [{"name": "worker", "nodes": 1}, {"name": "evaluator", "nodes": 1, "command": own}]
    done = launch([f"print('works', flush=True){MET}", str(tmp_path)], nodes=2, roles=roles)
    assert sorted(done.stdout.splitlines()) == ["[rank 0] works", "[rank 1] evaluates"]


def test_a_job_that_is_told_to_end_leaves_no_process(tmp_path: Path) -> None:
    waits = "import os, signal, sys, time; open(sys.argv[1] + os.environ['RANK'], 'w').write(str(os.getpid()))\n"
    ends = "import os, signal; os.kill(os.getppid(), signal.SIGTERM)\n"
    last = waits + "if os.environ['RANK'] == '1':\n    " + ends + "time.sleep(600)"
    done = launch([last, f"{tmp_path}/"], processes=2)
    assert done.returncode == 143
    for rank in range(2):
        if (tmp_path / str(rank)).exists():
            assert not Path(f"/proc/{(tmp_path / str(rank)).read_text()}").exists()
