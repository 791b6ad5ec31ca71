"""kill -9 of the engine, or of its warden, at every point where something becomes true of a run; then `resume`.

Nothing that has a record runs again, what comes out is right, and no process, lock or temporary file is left behind.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import subprocess
import sys
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from couler_py.backends.local.steps import attempts
from couler_py.ir.expr import Input, TaskArtifact, TaskOutput, Text
from couler_py.ir.model import (
    Argument,
    ArtifactArgument,
    Cache,
    Function,
    InputArtifact,
    Inputs,
    OutputArtifact,
    OutputParameter,
    Outputs,
    Parameter,
    Piece,
    RetryPolicy,
    Task,
    Template,
    Workflow,
)
from couler_py.ir.pod import Container
from couler_py.ir.types import INT, STR
from couler_py.store.faults import POINTS
from couler_py.store.home import open_home
from couler_py.store.ledger import Ledger
from couler_py.store.locks import release, try_lock
from couler_py.store.migrations import FIRST
from couler_py.store.remote.location import blob_name
from tests.engines.local.conftest import Drivers, integrity, processes_of
from tests.engines.local.flows import flow, graph, shell
from tests.engines.local.test_packages import wheel

RETRY = RetryPolicy(3)


@pytest.fixture(autouse=True)
def apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine, and scratch files, of the test's own."""
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("COULER_LEDGER", str(tmp_path / "ledger"))
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))


def workflow(witness: Path) -> Workflow:
    """A file and a folder are made, joined, and counted; commands, a Python step, one step that is cached."""
    file = Template(
        "file",
        Container("x", ("sh",), ("-c", f"echo file >> {witness}; echo one > {witness.parent}/made")),
        outputs=Outputs(artifacts=(OutputArtifact("o", f"{witness.parent}/made"),)),
        retry=RETRY,
        cache=Cache(),
    )
    count = Template(
        "count",
        Container(
            "x",
            ("sh",),
            (
                "-c",
                f"echo count >> {witness}; echo $(( $(cat /tmp/{witness.parent.name}/d | wc -w) + $0 ))",
                Text((Input("n"),)),
            ),
        ),
        Inputs((Parameter("n", INT),), (InputArtifact("d", f"/tmp/{witness.parent.name}/d"),)),
        Outputs((OutputParameter("result", INT, stdout=True),)),
        retry=RETRY,
    )
    source = f"def double(n):\n    print('double', file=open({str(witness)!r}, 'a'))\n    return 2 * n"
    double = Template(
        "double",
        Function("double", (Piece(source, "step.py", 1),), returns="one"),
        Inputs((Parameter("n", INT),)),
        Outputs((OutputParameter("result", INT),)),
        retry=RETRY,
    )
    start = shell("start", f"echo start >> {witness}; echo 20", output=INT, retry=RETRY)
    tasks = (
        Task("start", "start"),
        Task("file", "file"),
        Task("double", "double", (Argument("n", TaskOutput("start", "result")),)),
        Task(
            "count",
            "count",
            (Argument("n", TaskOutput("double", "result")),),
            artifacts=(ArtifactArgument("d", TaskArtifact("file", "o")),),
        ),
    )
    return flow(file, count, double, start, graph(*tasks, outputs={"answer": TaskOutput("count", "result")}))


def strike(drivers: Drivers, witness: Path, made: Workflow, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Run a workflow into the fault that the environment names; go on with it; check what must hold whatever it was."""
    mark = witness.parent / "mark"
    witness.touch()
    monkeypatch.setenv("COULER_FAULT_MARK", str(mark))
    driver = drivers.run(made)
    summary = driver.finish()
    assert mark.exists(), f"the run never came to {os.environ['COULER_FAULT']}"
    monkeypatch.delenv("COULER_FAULT")
    before = Counter(witness.read_text().split())
    kept = {name for name in before if successes(drivers.home, name)}
    if not summary:  # the engine was killed
        run = begun(drivers.home)
        summary = (drivers.resume(run) if run else drivers.run(made)).finish()
    if summary["status"] == "Failed":  # it said so, as of a full disk
        summary = drivers.retry(begun(drivers.home)).finish()
    starts = Counter(witness.read_text().split())
    assert {name: starts[name] - before[name] for name in kept if starts[name] != before[name]} == {}
    assert {name: successes(drivers.home, name) for name in starts} == dict.fromkeys(starts, 1)
    assert summary["status"] == "Succeeded", summary
    assert processes_of(drivers.home) == {}
    assert integrity(drivers.home) == "ok"
    assert left_behind(drivers.home, witness.parent) == []
    return summary


def successes(home: Path, task: str) -> int:
    """How many attempts of a task have left a record of success, in any run."""
    folders = (home / "runs").glob(f"*/attempts/{attempts.key_of(task)}-*")
    found = [attempts.record(folder) or {} for folder in folders]
    return sum((each.get("reason"), each.get("exit")) == ("exited", 0) for each in found)


def begun(home: Path) -> str:
    """The run that is in the store; "" where there is none."""
    with closing(sqlite3.connect(home / "couler.sqlite")) as connection:
        row = connection.execute("SELECT id FROM runs").fetchone()
    return "" if row is None else str(row[0])


def left_behind(home: Path, place: Path) -> list[str]:
    """Temporary files, locks that somebody holds, and seats at the ledger that nobody uses any more."""
    locks = [path for path in place.glob("tmp/couler-locks-*/*") if not is_free(path)]
    scratch = [home / "artifacts" / "tmp", home / "tmp", place / "tmp"]
    files = [path for folder in scratch if folder.exists() for path in folder.iterdir()]
    files = [path for path in files if not path.name.startswith("couler-locks-")]
    files += home.glob("**/*.tmp")
    files += [path for path in (place / "ledger").iterdir() if path.name != "book"]
    with Ledger(place / "ledger").opened() as table:
        seats = list(table.seats)
    return [str(path.relative_to(place)) for path in [*locks, *files]] + seats


def is_free(path: Path) -> bool:
    """Whether nobody holds a lock."""
    handle = try_lock(path)
    release([handle] if handle is not None else [])
    return handle is not None


SPECIAL = {"attempt.forked", "run.forgotten", "store.migrating", "environment.built", "upload.begun", "upload.kept"}
QUICK = {"store.committed", "attempt.spawned", "record.written", "record.kept", "content.written"}
SEVERAL = ("store.", "attempt.", "record.", "ledger.")  # come by often enough, in one process
CASES = [
    pytest.param(f"{point}:{time}", marks=[] if point in QUICK and time == 1 else pytest.mark.soak)
    for point in POINTS
    if point not in SPECIAL
    for time in ((1, 2, 3) if point.startswith(SEVERAL) else (1,))
]


@pytest.mark.parametrize("fault", CASES)
def test_a_run_is_what_it_would_have_been(
    fault: str, drivers: Drivers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COULER_FAULT", fault)
    summary = strike(drivers, tmp_path / "witness", workflow(tmp_path / "witness"), monkeypatch)
    assert summary["outputs"] == {"answer": 41}


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(
            f"{point}:{1 if point == 'content.written' else 2}:full",
            marks=[] if point == "record.written" else pytest.mark.soak,
        )
        for point in ("store.commit", "content.written", "record.written", "ledger.written")
    ],
)
def test_a_run_that_found_the_disk_full_goes_on_when_there_is_room(
    fault: str, drivers: Drivers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COULER_FAULT", fault)
    summary = strike(drivers, tmp_path / "witness", workflow(tmp_path / "witness"), monkeypatch)
    assert summary["outputs"] == {"answer": 41}


def test_a_step_whose_zygote_is_killed_as_it_forks_is_not_lost(
    drivers: Drivers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COULER_FAULT", "attempt.forked")
    summary = strike(drivers, tmp_path / "witness", workflow(tmp_path / "witness"), monkeypatch)
    assert summary["outputs"] == {"answer": 41}


def test_a_step_whose_warden_is_killed_as_it_forks_leaves_nothing_and_runs_again(
    drivers: Drivers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    witness, given = tmp_path / "witness", f"/tmp/{tmp_path.name}/folder"
    fill = Template(
        "fill",
        Container(
            "x", ("sh",), ("-c", f"echo fill >> {witness}; mkdir -p {tmp_path}/made; echo 7 > {tmp_path}/made/n")
        ),
        outputs=Outputs(artifacts=(OutputArtifact("o", f"{tmp_path}/made"),)),
        retry=RETRY,
    )
    read = Template(  # a folder that is given takes its time: the warden has a copy of itself put it there
        "read",
        Container("x", ("sh",), ("-c", f"cat {given}/n; echo read >> {witness}")),
        Inputs((), (InputArtifact("d", given),)),
        Outputs((OutputParameter("result", INT, stdout=True),)),
        retry=RETRY,
    )
    tasks = (
        Task("fill", "fill"),
        Task("read", "read", artifacts=(ArtifactArgument("d", TaskArtifact("fill", "o")),)),
    )
    made = flow(fill, read, graph(*tasks, outputs={"answer": TaskOutput("read", "result")}))
    monkeypatch.setenv("COULER_FAULT", "attempt.forked")
    assert strike(drivers, witness, made, monkeypatch)["outputs"] == {"answer": 7}


@pytest.mark.parametrize("fault", ["upload.begun:1", pytest.param("upload.kept:1", marks=pytest.mark.soak)])
def test_what_goes_to_a_store_elsewhere_is_there(
    fault: str, drivers: Drivers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COULER_FAULT", fault)
    monkeypatch.setenv("COULER_ARTIFACTS", str(tmp_path / "store"))
    summary = strike(drivers, tmp_path / "witness", workflow(tmp_path / "witness"), monkeypatch)
    assert summary["outputs"] == {"answer": 41}
    assert (tmp_path / "store" / blob_name(hashlib.sha256(b"one\n").hexdigest())).read_text() == "one\n"


@pytest.mark.soak
def test_packages_that_were_installed_halfway_are_installed_anew(
    drivers: Drivers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel(tmp_path, "couler_test_wheel", "1.0")
    for tool in ("UV", "PIP"):
        monkeypatch.setenv(f"{tool}_NO_INDEX", "1")
        monkeypatch.setenv(f"{tool}_FIND_LINKS", str(tmp_path))
    monkeypatch.setenv("COULER_FAULT", "environment.built")
    source = "def use():\n    import couler_test_wheel\n    return couler_test_wheel.VERSION"
    body = Function("use", (Piece(source, "step.py", 1),), "one", packages=("couler_test_wheel",))
    step = Template("use", body, outputs=Outputs((OutputParameter("result", STR),)))
    made = flow(step, graph(Task("use", "use")))
    assert strike(drivers, tmp_path / "witness", made, monkeypatch)["status"] == "Succeeded"


def test_a_store_whose_migration_was_cut_off_is_migrated(
    drivers: Drivers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = open_home(drivers.home)
    with closing(sqlite3.connect(home.database)) as connection:
        connection.executescript(FIRST)
        connection.execute("INSERT INTO workflows VALUES ('d', 'text')")
        connection.execute("PRAGMA user_version=1")
        connection.commit()
    monkeypatch.setenv("COULER_FAULT", "store.migrating")
    strike(drivers, tmp_path / "witness", flow(shell("a", "true"), graph(Task("a", "a"))), monkeypatch)
    with closing(sqlite3.connect(home.database)) as connection:
        assert connection.execute("SELECT text FROM workflows WHERE digest='d'").fetchone() == ("text",)


def test_what_is_no_fault_is_said() -> None:
    program = "import couler_py.store.faults"
    wrong = {**os.environ, "COULER_FAULT": "record.kept:often"}
    ended = subprocess.run([sys.executable, "-c", program], env=wrong, capture_output=True, text=True, check=False)
    assert "COULER_FAULT is 'record.kept:often', which is no fault" in ended.stderr
