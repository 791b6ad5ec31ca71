"""What a run's page is told of a run of this machine."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

import couler_py as couler
from couler_py.backends.base import backend
from couler_py.backends.local.client import LocalClient
from couler_py.backends.local.runs import reporting
from couler_py.backends.local.runs.exported import ExportedClient
from couler_py.report.facts import Log, Look, RunFacts, TaskFacts
from couler_py.report.runs import run_page
from couler_py.store import runs, samples
from couler_py.store.database import connect
from couler_py.store.home import open_home
from couler_py.store.samples import Sample


@couler.step(cache=True)
def load(n: int) -> list[int]:
    print("loading", n)
    return list(range(n))


@couler.step(retries=1)
def work(x: int) -> int:
    couler.log_metric("x", x, 0)
    couler.log_metric("attempt", couler.run_info.attempt)
    if x == 1:
        raise ValueError("not one")
    return x


@couler.workflow
def flow(n: int = 3):
    return couler.map(work, load(n))


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def client(home: Path) -> LocalClient:
    return LocalClient(home)


@pytest.fixture(scope="module")
def facts(client: LocalClient) -> RunFacts:
    """Of the second of two runs, which finds what the first has cached."""
    return [ran(client, flow) for _ in range(2)][-1]


def ran(client: LocalClient, workflow: Any) -> RunFacts:
    run = client.submit(backend("local").compile(couler.build(workflow)), runtime="process")
    for _ in client.watch(run):
        pass
    return client.report(run)


def task(facts: RunFacts, name: str) -> TaskFacts:
    (found,) = [each for each in facts.tasks if each.name == name]
    return found


def test_each_attempt_has_its_end_and_its_log(facts: RunFacts) -> None:
    failed = task(facts, "work[1]")
    assert [(each.number, each.state, each.exit_code) for each in failed.tries] == [(0, "Failed", 1), (1, "Failed", 1)]
    assert all(each.log is not None and each.log.text.endswith("ValueError: not one\n") for each in failed.tries)
    assert all(each.started is not None and each.finished is not None for each in failed.tries)


def test_a_task_is_ready_before_it_starts(facts: RunFacts) -> None:
    found = task(facts, "work[2]")
    assert found.ready is not None
    assert found.started is not None
    assert found.ready <= found.started


def test_a_cached_task_names_who_made_its_result(facts: RunFacts) -> None:
    found = task(facts, "load")
    made_by, _, name = found.cached.partition("/")
    assert (made_by.startswith("flow-"), made_by != facts.run, name) == (True, True, "load")
    assert (found.outputs, found.tries) == ({"result": [0, 1, 2]}, ())


def test_metrics_and_kinds_are_there(facts: RunFacts) -> None:
    assert task(facts, "work[2]").metrics == {"x": ((0.0, 2.0),), "attempt": ((0.0, 0.0),)}
    assert [(each.name, each.kind) for each in facts.tasks if "[" not in each.name] == [
        ("load", "function"),
        ("work", "map"),
    ]


def test_metrics_are_those_of_the_last_attempt(facts: RunFacts) -> None:
    assert task(facts, "work[1]").metrics == {"x": ((0.0, 1.0),), "attempt": ((0.0, 1.0),)}


def test_the_picture_has_the_states_and_a_place_for_each_box(facts: RunFacts) -> None:
    assert facts.picture is not None
    assert [(area.path, area.label) for area in facts.picture.areas] == [
        ("load", "load, Succeeded"),
        ("work", "work, 1 failed, 2 succeeded"),
    ]


def sample(home: Path, run: str) -> None:
    """Note that the attempts of a run were looked at twice, however short they were."""
    connection = connect(open_home(home))
    for _, attempt in runs.load_attempts(connection, run):
        looks = [Sample(1.5, 0.25, 1000), Sample(2.5, 0.75, 3000)]
        connection.execute(samples.SAVE, samples.row(run, attempt.folder, looks))
    connection.commit()
    connection.close()


def test_an_exported_run_has_the_same_page(client: LocalClient, home: Path, tmp_path: Path) -> None:
    run = ran(client, flow).run
    sample(home, run)
    here = client.report(run)
    client.export(here.run, tmp_path / "exported")
    with ExportedClient(tmp_path / "exported") as exported:
        there = exported.report(here.run)
    assert there.engine == "exported"
    assert there.picture == here.picture
    assert [(each.name, each.status, each.metrics) for each in there.tasks] == [
        (each.name, each.status, each.metrics) for each in here.tasks
    ]
    assert task(there, "work[1]").tries == task(here, "work[1]").tries
    assert task(there, "work[1]").tries[0].looks == (Look(1.5, 0.25, 1000), Look(2.5, 0.75, 3000))
    assert "couler retry" not in run_page(there)
    assert "couler retry" in run_page(here)


def test_a_run_of_one_step_is_named_by_it(client: LocalClient) -> None:
    with couler.Workflow("single") as single:
        couler.container("x", [sys.executable, "-c", "print('hi')"], name="only")()
    found = ran(client, single)
    assert [each.name for each in found.tasks] == ["only"]
    assert found.tasks[0].tries[0].log == Log("hi\n")


def test_of_a_long_log_the_end_is_read_from_the_beginning_of_a_line(client: LocalClient) -> None:
    with couler.Workflow("long") as long:
        couler.container("x", [sys.executable, "-c", "for n in range(20_000): print('line', n)"], name="only")()
    (attempt,) = ran(client, long).tasks[0].tries
    assert attempt.log is not None
    assert attempt.log.text.startswith("line ")
    assert attempt.log.text.endswith("line 19999\n")
    assert len(attempt.log.text) <= reporting.LOG
    whole = sum(len(f"line {number}\n") for number in range(20_000))
    assert len(attempt.log.text) + attempt.log.left_out == whole
