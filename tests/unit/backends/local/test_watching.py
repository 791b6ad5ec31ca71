"""Runs while they are watched: what is told of them, in this process and from another."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

import couler_py as couler
from couler_py.backends.base import Change, Expected, backend
from couler_py.backends.local.client import LocalClient
from couler_py.backends.local.machine.capacity import available
from couler_py.backends.local.scheduling.expected import expected
from couler_py.cli.progress import Progress
from couler_py.store.home import open_home


@couler.step
def one(x: int = 1) -> int:
    return x


@couler.step
def numbers() -> list[int]:
    return [1, 2, 3]


@couler.workflow
def static():
    first = one()
    couler.map(one, [1, 2, 3])
    return one(first)


@couler.workflow
def dynamic():
    return couler.map(one, numbers())


@couler.workflow
def inner(x: int):
    return one(one(x))


@couler.workflow
def nested():
    couler.map(inner, list(range(4)))
    return one()


def told(client: LocalClient, run: str) -> tuple[list[Change], Progress]:
    """Everything that is told of a run until it has ended."""
    progress = Progress()
    changes = []
    for change in client.changes(run):
        changes.append(change)
        progress.apply(change)
    return changes, progress


def start(client: LocalClient, workflow: object) -> str:
    return client.submit(backend("local").compile(couler.build(workflow)), runtime="process")


def test_what_was_told_of_a_run_of_this_process_adds_up_to_its_status(tmp_path: Path) -> None:
    client = LocalClient(tmp_path)
    run = start(client, dynamic)
    changes, progress = told(client, run)
    status = client.status(run)
    assert status.status == "Succeeded"
    found = progress.status()
    assert found is not None
    assert {task.name: task.status for task in found.tasks} == {task.name: task.status for task in status.tasks}
    assert (found.status, found.outputs) == (status.status, status.outputs)
    assert changes[-1].run.status == "Succeeded"


def test_a_run_of_another_process_is_told_of_from_its_record(tmp_path: Path) -> None:
    client = LocalClient(tmp_path)
    run = start(client, dynamic)
    told(client, run)
    changes, progress = told(LocalClient(tmp_path), run)  # a client that started nothing
    found = progress.status()
    assert found is not None
    assert (len(changes), found.status) == (1, "Succeeded")
    assert {task.name for task in found.tasks} == {task.name for task in client.status(run).tasks}


UNTIL_NOTED = """
import sqlite3, sys, time
while not sqlite3.connect(sys.argv[1]).execute("SELECT * FROM in_use").fetchall():
    time.sleep(0.05)
open(sys.argv[2]).read()
"""


def test_what_the_steps_of_a_run_of_another_process_use_is_told_of(tmp_path: Path) -> None:
    """The step waits for its use to be noted, and then for somebody to have heard of it."""
    os.mkfifo(tmp_path / "heard")
    with couler.Workflow("long") as long:
        database = str(open_home(tmp_path / "home").database)
        couler.container("x", [sys.executable, "-c", UNTIL_NOTED, database, str(tmp_path / "heard")], name="long")()
    client = LocalClient(tmp_path / "home")
    run = start(client, long)
    watched = LocalClient(tmp_path / "home").changes(run)
    found = next(change for change in watched if change.used is not None)
    (tmp_path / "heard").write_text("")
    assert found.used is not None
    assert found.used[1] > 0
    assert found.processors == available().cpu
    last = list(watched)[-1]
    told(client, run)
    assert (last.run.status, last.used) == ("Succeeded", None)


FAILS_ONCE = (
    "import pathlib, sys; there = pathlib.Path(sys.argv[1]); known = there.exists(); there.touch(); sys.exit(not known)"
)


def test_a_task_that_is_tried_again_is_told_of_as_one(tmp_path: Path) -> None:
    with couler.Workflow("again") as again:
        flaky = couler.container(
            "x", [sys.executable, "-c", FAILS_ONCE, str(tmp_path / "mark")], name="flaky", retries=1
        )
        flaky()
    client = LocalClient(tmp_path / "home")
    run = start(client, again)
    _, progress = told(client, run)
    (task,) = progress.tasks.values()
    assert (task.name, task.status, task.attempts) == ("flaky", "Succeeded", 2)


def test_an_unknown_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(couler.CoulerError, match="no run 'nothing'"):
        next(LocalClient(tmp_path).changes("nothing"))


# ---- how many steps there will be


def test_steps_of_a_graph_and_of_fan_outs_over_lists_that_are_known_are_counted() -> None:
    assert expected(couler.build(static)) == Expected({"one": 5})


def test_where_a_step_makes_the_list_there_may_be_more() -> None:
    assert expected(couler.build(dynamic)) == Expected({"numbers": 1}, unknown=True)


def test_graphs_inside_are_counted_once_for_each_item() -> None:
    assert expected(couler.build(nested)) == Expected({"one": 9})


def test_a_loop_and_a_branch_of_several_steps_have_no_number() -> None:
    @couler.workflow
    def branch(x: int):
        couler.when(one(x) > 0, lambda: inner(x))

    assert expected(couler.build(branch)).unknown
