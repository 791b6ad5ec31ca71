"""Split workflows on the real controller: each part a run of its own, the same outputs and states as here."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import couler_py as couler
from couler_py.backends.argo.client import ArgoClient, parts
from couler_py.backends.argo.status import run_phase
from couler_py.backends.base import RunStatus
from couler_py.ir import Workflow
from couler_py.passes.split import Budget
from tests.cluster.argo import Namespace
from tests.cluster.fixtures import Cluster, ObjectStore
from tests.conformance.case import Case
from tests.conformance.harness import Result, result_of, run_local, stored
from tests.conformance.podless import act, workflow
from tests.engines.argo.doors import DOORS, door

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(400)]


@couler.step
def numbers(n: int) -> list[int]:
    return [n, n + 1]


@couler.step
def total(a: list[int], b: list[int]) -> int:
    return sum(a) + sum(b)


@couler.step
def text(n: int) -> str:
    print("writing", n)
    return f"a 'quoted' \"text\" {{{{workflow.name}}}}\nof two lines: {n}"


@couler.step
def write(n: int) -> Path:
    path = Path("x.txt")
    path.write_text(f"n is {n}")
    return path


@couler.step
def read(path: Path, words: str) -> str:
    return f"{path.read_text()}; {words}"


@couler.step
def identity(run: str) -> str:
    return run


@couler.workflow
def over_borders(n: int = 3):
    a, b = numbers(n), numbers(7)
    c = total(a, b)
    words, path = text(c), write(c)
    return {"said": read(path, words), "file": path, "run": identity(couler.run_info.id)}


def absolved() -> Workflow:
    """A task fails in one part, its handler is in another one, and who waits for it is blocked; others go on."""
    return workflow(
        act("a"),
        act("b", "F", value="a"),
        act("c", value="a"),
        act("handler", on_failure="b"),
        act("after-handler", value="handler c"),
        act("tidy", always="b"),
        act("guarded", or_else="b", always="b"),
    )


def failing() -> Workflow:
    """One chain fails, the other one runs to its end in other parts, and the run fails."""
    return workflow(
        act("a"), act("b", "F", value="a"), act("c", value="b"), act("d"), act("e", value="d"), act("f", value="e")
    )


CASES: Mapping[str, Any] = {"over borders": over_borders, "absolved": absolved, "failing": failing}
TASKS = {"over borders": 6, "absolved": 6, "failing": 5}
"""How many a part may have: what stands for others and three behind all are among them."""
FACTS = frozenset({"run"})
"""Outputs that are other on each run."""


@pytest.fixture(scope="module")
def ended(cluster: Cluster, namespace: Namespace, s3: ObjectStore) -> Mapping[str, Result]:
    client = door(DOORS[0], cluster, namespace)
    built = {name: couler.build(each() if name != "over borders" else each) for name, each in CASES.items()}
    documents = {
        name: list(couler.compile(each, to="argo", split=Budget(tasks=TASKS[name], slots=2)).documents)
        for name, each in built.items()
    }
    runs = namespace.run_all(documents, 3, 360, lambda given: client.send(given)[-1].rpartition("/")[2])
    found = {}
    for name, run in runs.items():
        assert not isinstance(run, Exception), (name, run)
        status = client.status(f"argo:{namespace.name}/{run['metadata']['name']}")
        if name == "over borders":
            lines = list(client.logs(status.run, "part-write/text"))
            assert [(each.task, each.text) for each in lines] == [("part-write/text", "writing 22")]
        found[name] = result_of(status, built[name], lambda key: stored(s3, key))
    return found


@pytest.mark.parametrize("name", CASES)
def test_a_split_run_ends_as_the_whole_does_here(
    name: str, ended: Mapping[str, Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COULER_HOME", str(tmp_path))
    workflow = couler.build(CASES[name]() if name != "over borders" else CASES[name])
    here, there = run_local(Case(name, lambda: workflow, {}, "")), ended[name]
    assert there.status == here.status, (there.messages, there.tasks)
    assert {key: value for key, value in there.outputs.items() if key not in FACTS} == {
        key: value for key, value in here.outputs.items() if key not in FACTS
    }
    tasks = {}
    for path, state in there.tasks.items():
        part, _, task = path.partition("/")
        if part.startswith("part-") and task:
            tasks[task] = state
    inside = {task: state for task, state in here.tasks.items() if "/" not in task}
    assert {task: tasks[task] for task in inside} == inside


@couler.step
def long(n: int) -> int:
    import time

    time.sleep(300)
    return n


@couler.workflow
def long_ones() -> None:
    for number in range(4):
        long(long(number))


def begun(status: RunStatus) -> bool:
    return any("/long" in task.name and task.status == "Running" for task in status.tasks)


def phases(client: ArgoClient, run: str) -> set[str]:
    """How the runs of the parts of a run stand."""
    return {run_phase(each) for each in parts.runs_of_parts(client._door, client.document(run)).values()}


def test_parts_are_stopped_and_held_with_the_run(cluster: Cluster, namespace: Namespace, s3: ObjectStore) -> None:
    client = door(DOORS[1], cluster, namespace)
    bundle = couler.compile(long_ones, to="argo", split="tasks=7,slots=2")
    held, ended = (door(DOORS[0], cluster, namespace).submit(bundle) for _ in range(2))
    for run in (held, ended):
        assert any(begun(status) for status in client.watch(run))
    client.suspend(held)
    assert phases(client, held) == {"Suspended"}
    client.terminate(ended)
    *_, last = client.watch(ended)
    assert last.status == "Stopped"
    assert phases(client, ended) == {"Stopped"}
    client.resume(held)
    assert client.status(held).status == "Running"
    client.stop(held)
    *_, last = client.watch(held)
    assert last.status == "Stopped"


@couler.step
def picky(n: int) -> int:
    if n == 2:
        raise ValueError("two is not allowed")
    return n


@couler.step
def plus(a: int, b: int) -> int:
    return a + b


@couler.workflow
def choosy(n: int = 2):
    good, bad = picky(1), picky(n)
    for _ in range(4):
        good = plus(good, 1)
    for _ in range(4):
        bad = plus(bad, 1)
    return {"good": good, "bad": bad}


AGAIN = ("picky-2", "plus-5", "plus-6", "plus-7", "plus-8")


@pytest.mark.soak
def test_a_retry_runs_failed_parts_again_and_what_follows_them(
    cluster: Cluster, namespace: Namespace, s3: ObjectStore
) -> None:
    client = door(DOORS[1], cluster, namespace)
    run = door(DOORS[0], cluster, namespace).submit(couler.compile(choosy, to="argo", split="tasks=7,slots=2"))
    *_, failed = client.watch(run)
    assert failed.status == "Failed"
    states = {task.name: task.status for task in failed.tasks}
    assert [name.partition("/")[2] for name, state in states.items() if state == "Failed"] == ["picky-2"]
    assert {name.partition("/")[2] for name, state in states.items() if state == "Blocked"} == set(AGAIN[1:])
    before = parts.runs_of_parts(client._door, client.document(run))
    client.retry(run, parameters={"n": "3"})
    *_, last = client.watch(run)
    assert (last.status, last.outputs) == ("Succeeded", {"good": 5, "bad": 7})
    after = parts.runs_of_parts(client._door, client.document(run))
    kept = {part for part in before if before[part]["metadata"]["uid"] == after[part]["metadata"]["uid"]}
    assert kept == {part for part in before if not any(states.get(f"{part}/{name}") for name in AGAIN)}
    assert kept
