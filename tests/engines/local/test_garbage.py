"""What a home no longer needs goes, and nothing else: not what runs, not what a record or the cache refers to."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing, suppress
from functools import partial
from pathlib import Path

import pytest

from couler_py.backends.base import RunNotFoundError
from couler_py.backends.local import execute, retry
from couler_py.backends.local.api import load, run_list
from couler_py.backends.local.client import LocalClient
from couler_py.backends.local.lifecycle import RunBusyError
from couler_py.backends.local.runs.garbage import forget_cached, sweep
from couler_py.backends.local.steps.packages import lock_of
from couler_py.ir.expr import TaskArtifact, TaskOutput
from couler_py.ir.model import (
    ArtifactArgument,
    Cache,
    Function,
    InputArtifact,
    Inputs,
    OutputArtifact,
    OutputParameter,
    Outputs,
    Piece,
    Task,
    Template,
    Workflow,
)
from couler_py.ir.pod import Container
from couler_py.ir.types import INT
from couler_py.store.cache import Hit, entries, find, missing
from couler_py.store.database import connect
from couler_py.store.home import open_home
from couler_py.store.locks import release, try_lock
from tests.engines.local.conftest import Driver, Drivers
from tests.engines.local.flows import flow, graph, shell

DAY = 86_400.0


def making(tmp_path: Path, text: str, **options: object) -> Workflow:
    """A step that leaves a file."""
    file = f"{tmp_path}/made.txt"
    body = Container("busybox", ("sh",), ("-c", f"echo {text} > {file}"))
    step = Template("make", body, outputs=Outputs(artifacts=(OutputArtifact("f", path=file),)), **options)  # type: ignore[arg-type]
    return flow(step, graph(Task("a", "make")))


def aged(home: Path, seconds: float) -> None:
    """Everything in a home as if it had been so long ago; kept files are marked by when they were last changed, too."""
    then = time.time() - seconds
    for path in home.rglob("*"):
        if not path.is_symlink() and path.name != "couler.sqlite":
            os.utime(path, (then, then))
    with closing(sqlite3.connect(home / "couler.sqlite")) as connection, connection:
        connection.execute("UPDATE runs SET created=created-?1, finished=finished-?1", (seconds,))
        connection.execute("UPDATE cache SET created=created-?1, used=used-?1", (seconds,))


def ids(home: Path) -> list[str]:
    return [record.id for record in run_list(home=home)]


def test_runs_go_only_where_they_are_asked_for(home: Path, tmp_path: Path) -> None:
    record = execute(making(tmp_path, "x"), home=home)
    aged(home, 100 * DAY)
    found = sweep(home=home)
    assert (found.runs, ids(home)) == ([], [record.id])


def test_old_runs_go_with_their_folders(home: Path, tmp_path: Path) -> None:
    old = execute(making(tmp_path, "x"), home=home)
    aged(home, 2 * DAY)
    young = execute(making(tmp_path, "x"), home=home)
    found = sweep(home=home, older_than=DAY)
    assert (found.runs, ids(home)) == ([old.id], [young.id])
    assert not (home / "runs" / old.id).exists()
    assert found.freed["runs"].count == 1


def test_the_newest_runs_stay(home: Path, tmp_path: Path) -> None:
    made = [execute(making(tmp_path, "x"), home=home).id for _ in range(4)]
    assert sweep(home=home, keep=2).runs == [made[1], made[0]]
    assert ids(home) == [made[3], made[2]]


def test_a_run_that_is_old_and_among_the_newest_stays(home: Path, tmp_path: Path) -> None:
    execute(making(tmp_path, "x"), home=home)
    aged(home, 2 * DAY)
    assert sweep(home=home, keep=1, older_than=DAY).runs == []


def test_who_only_asks_changes_nothing(home: Path, tmp_path: Path) -> None:
    record = execute(making(tmp_path, "x"), home=home)
    aged(home, 100 * DAY)
    (home / "tmp" / "left").write_text("half made")
    aged(home, 100 * DAY)
    before = sorted(str(path) for path in home.rglob("*"))
    found = sweep(home=home, older_than=DAY, budget=0, dry_run=True)
    assert found.runs == [record.id]
    assert found.freed["leftovers"].count == 1
    assert sorted(str(path) for path in home.rglob("*") if "sqlite" not in path.name) == [
        path for path in before if "sqlite" not in path
    ]


def test_files_that_the_cache_refers_to_stay(home: Path, tmp_path: Path) -> None:
    workflow = making(tmp_path, "x", cache=Cache())
    execute(workflow, home=home)
    aged(home, 2 * DAY)
    sweep(home=home, keep=0)
    assert ids(home) == []
    assert execute(workflow, home=home).tasks["a"].cached


def test_cached_outputs_over_the_budget_go_the_least_used_first(home: Path, tmp_path: Path) -> None:
    first, second = (making(tmp_path, text, cache=Cache()) for text in ("first", "second"))
    for workflow in (first, second, first):
        execute(workflow, home=home)
    with closing(sqlite3.connect(home / "couler.sqlite")) as connection:
        sizes = [row[0] for row in connection.execute("SELECT size FROM cache")]
    found = sweep(home=home, budget=max(sizes), policy="lru")
    assert found.freed["cached outputs"].count == 1
    assert execute(first, home=home).tasks["a"].cached
    assert not execute(second, home=home).tasks["a"].cached


def waiting(tmp_path: Path) -> Workflow:
    script = f"touch {tmp_path}/begun; until test -e {tmp_path}/go; do sleep 0.02; done"
    return flow(shell("wait", script), graph(Task("a", "wait")))


def begun(driver: Driver, tmp_path: Path) -> None:
    """Wait until the step's own process is at work."""
    driver.until(kind="task", path="a", state="Running")
    while not (tmp_path / "begun").exists():
        time.sleep(0.01)


def test_a_run_that_works_stays_and_is_said(home: Path, tmp_path: Path, drivers: Drivers) -> None:
    driver = drivers.run(waiting(tmp_path))
    begun(driver, tmp_path)
    found = sweep(home=home, keep=0)
    assert found.runs == []
    assert found.kept[driver.run].startswith("is running")
    with pytest.raises(RunBusyError, match="is running"):
        LocalClient(home).delete(driver.run)
    (tmp_path / "go").touch()
    assert driver.finish()["status"] == "Succeeded"


def test_a_run_whose_steps_outlived_its_engine_stays(home: Path, tmp_path: Path, drivers: Drivers) -> None:
    driver = drivers.run(waiting(tmp_path))
    begun(driver, tmp_path)
    driver.kill()
    assert sweep(home=home, keep=0).kept[driver.run].startswith("has steps that still run")
    (tmp_path / "go").touch()
    assert drivers.resume(driver.run).finish()["status"] == "Succeeded"


def environment(home: Path, name: str) -> Path:
    folder = home / "environments" / name
    folder.mkdir(parents=True)
    (folder / "complete").touch()
    return folder


def test_an_environment_goes_when_nobody_used_it_for_long_and_nobody_holds_it(home: Path, tmp_path: Path) -> None:
    execute(making(tmp_path, "x"), home=home)
    unused, held = environment(home, "unused"), environment(home, "held")
    aged(home, 40 * DAY)
    used = environment(home, "used")
    lock = try_lock(lock_of(held), shared=True)
    assert lock is not None
    assert sweep(home=home).freed["environments"].count == 1
    release([lock])
    assert [path.exists() for path in (unused, held, used)] == [False, True, True]


def test_a_run_that_goes_on_needs_nothing_that_went(home: Path, tmp_path: Path) -> None:
    fails = flow(
        Template("make", making(tmp_path, "x").templates[0].body, outputs=making(tmp_path, "x").templates[0].outputs),
        shell("fail", f"test -e {tmp_path}/mended"),
        graph(Task("a", "make"), Task("b", "fail")),
    )
    record = execute(fails, home=home)
    aged(home, 100 * DAY)
    sweep(home=home, budget=0)
    (tmp_path / "mended").touch()
    client = LocalClient(home)
    client.retry(record.id)
    *_, last = client.watch(record.id)
    assert last.status == "Succeeded"
    assert Path(client.artifacts(record.id)["a/f"]).read_text() == "x\n"


def test_a_run_that_is_not_there_can_not_be_deleted(home: Path) -> None:
    with pytest.raises(RunNotFoundError):
        LocalClient(home).delete("nothing-here")
    with pytest.raises(RunNotFoundError):
        load("nothing-here", home=home)


def test_a_run_whose_deletion_was_cut_off_leaves_nothing_for_long(home: Path, tmp_path: Path) -> None:
    record = execute(making(tmp_path, "x"), home=home)
    program = (
        f"from couler_py.backends.local.client import LocalClient; LocalClient({str(home)!r}).delete({record.id!r})"
    )
    fault = {**os.environ, "COULER_FAULT": "run.forgotten"}
    assert subprocess.run([sys.executable, "-c", program], env=fault, check=False).returncode == -signal.SIGKILL
    assert (ids(home), (home / "runs" / record.id).exists()) == ([], True)
    aged(home, 2 * DAY)
    freed = sweep(home=home).freed
    assert (freed["leftovers"].count, freed["artifacts"].count) == (1, 0)
    assert not (home / "runs" / record.id).exists()
    assert sweep(home=home).freed["artifacts"].count == 1


def test_a_run_that_is_deleted_while_somebody_takes_it_up_is_gone_for_both(home: Path, tmp_path: Path) -> None:
    """Whoever comes second, to go on with it or to delete it too, is told so, and leaves no folder."""
    for number in range(10):
        record = execute(making(tmp_path, "x"), home=home)
        delete = LocalClient(home).delete
        wrong: list[BaseException] = []
        threads = [
            threading.Thread(target=told, args=(wrong, act, record.id))
            for act in (delete, partial(retry, home=home, start=["a"]) if number % 2 else delete)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [error for error in wrong if not isinstance(error, RunNotFoundError | RunBusyError)] == []
        assert ids(home) == [path.name for path in (home / "runs").iterdir()]
        for run in ids(home):
            LocalClient(home).delete(run)


def told(wrong: list[BaseException], act: Callable[[str], object], run: str) -> None:
    try:
        act(run)
    except BaseException as error:
        wrong.append(error)


def test_files_of_a_result_that_somebody_has_found_stay(home: Path, tmp_path: Path) -> None:
    """It is forgotten before the run that found it has written that it needs them."""
    record = execute(making(tmp_path, "x", cache=Cache()), home=home)
    aged(home, 2 * DAY)
    with closing(connect(open_home(home))) as connection:
        [entry] = entries(connection)
        found = find(connection, open_home(home), entry.key, now=time.time())
        assert isinstance(found, Hit)
        LocalClient(home).delete(record.id)
        forget_cached([entry], home=home)
        assert missing(open_home(home), found.result.artifacts.values()) == ""


def relay(length: int) -> Workflow:
    """Cached Python steps, each of which adds a letter to the file of the one before."""
    first = "def first():\n    import pathlib\n    made = pathlib.Path('a.txt')\n"
    first += "    made.write_text('x')\n    return made"
    more = "def more(before):\n    import pathlib\n    made = pathlib.Path('b.txt')\n"
    more += "    made.write_text(before.read_text() + 'x')\n    return made"
    left = Outputs(artifacts=(OutputArtifact("f"),))
    steps = [
        Template("first", Function("first", (Piece(first),), returns="one"), outputs=left, cache=Cache()),
        Template(
            "more",
            Function("more", (Piece(more),), returns="one"),
            Inputs(artifacts=(InputArtifact("before"),)),
            left,
            cache=Cache(),
        ),
        Template(
            "last",
            Function("last", (Piece("def last(before):\n    return len(before.read_text())"),), returns="one"),
            Inputs(artifacts=(InputArtifact("before"),)),
            Outputs((OutputParameter("n", INT),)),
        ),
    ]
    tasks = [Task("t0", "first")]
    for number in range(1, length + 1):
        given = (ArtifactArgument("before", TaskArtifact(f"t{number - 1}", "f")),)
        tasks.append(Task(f"t{number}", "more" if number < length else "last", artifacts=given))
    return flow(*steps, graph(*tasks, outputs={"n": TaskOutput(f"t{length}", "n")}))


@pytest.mark.parametrize("rounds", [2, pytest.param(20, marks=pytest.mark.soak)])
def test_what_runs_need_stays_while_everything_else_is_freed_around_them(
    rounds: int, home: Path, drivers: Drivers
) -> None:
    """Two runs at a time make and find the same files, most of them old, and all that can be freed is, over and over.

    Every run is also asked to go: those that work are refused, and stay whole.
    """
    freed = 0
    for _ in range(rounds):
        if home.exists():
            aged(home, 2 * DAY)
        both = [drivers.run(relay(12)) for _ in range(2)]
        while any(driver.process.poll() is None for driver in both):
            freed += sweep(home=home, budget=0).of("artifacts").count
            for run in ids(home):
                with suppress(RunBusyError, RunNotFoundError):
                    LocalClient(home).delete(run)
            with closing(connect(open_home(home))) as connection:
                kept = entries(connection)
            freed += forget_cached(kept, home=home).of("artifacts").count
        assert [driver.finish()["outputs"] for driver in both] == [{"n": 12}] * 2
    assert freed > 0
    assert [record for record in run_list(home=home) if record.status != "Succeeded"] == []
