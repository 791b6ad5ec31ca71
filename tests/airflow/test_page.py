"""The Airflow halves of "From Airflow operators to couler-py" are real, and do what ours do."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import couler_py as couler
from couler_py.backends.airflow.importing import workflow_of
from couler_py.backends.airflow.importing.facts import Dag, Facts
from couler_py.backends.airflow.importing.reading import read
from couler_py.cli.load import load
from couler_py.ir.graph import templates_by_name
from couler_py.ir.meaning import edges
from couler_py.ir.model import Graph, Template, Workflow
from tests.airflow import harness
from tests.pages import ROOT, blocks

if TYPE_CHECKING:
    from airflow.sdk import DAG

PAGE = ROOT / "docs" / "from-airflow.md"
PROGRAMS = {block.title.removesuffix(".py"): block.text for block in blocks(PAGE) if block.title}
THEIRS = {name.removeprefix("airflow/"): text for name, text in PROGRAMS.items() if name.startswith("airflow/")}
OURS = {name: text for name, text in PROGRAMS.items() if not name.startswith("airflow/")}
ONLY_THERE = {"branches": {"choose"}}
"""Tasks that need no counterpart."""
RUN = sorted(THEIRS.keys() - {"pods"})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("page")
    together = "\n".join(THEIRS.values()).replace("from __future__ import annotations\n", "")
    (made / "theirs.py").write_text(together)
    for name, text in OURS.items():
        (made / f"{name}.py").write_text(text)
    return made


@pytest.fixture(scope="module")
def facts(folder: Path) -> dict[str, tuple[Facts, Dag]]:
    found = read(str(folder / "theirs.py"), sys.executable)
    return {dag.id: (found, dag) for dag in found.dags}


@pytest.fixture(scope="module")
def dags(airflow_home: Path) -> dict[str, DAG]:
    bag = harness.registered({f"page_{name}": text for name, text in THEIRS.items()}, airflow_home)
    assert bag.import_errors == {}
    return dict(bag.dags)


def ours(folder: Path, name: str) -> Workflow:
    return load(str(folder / f"{name}.py") + f":{name}").workflow


def test_each_workflow_stands_there_twice() -> None:
    assert THEIRS.keys() == OURS.keys()


@pytest.mark.parametrize("name", sorted(THEIRS))
def test_tasks_wait_for_each_other_alike(name: str, folder: Path, facts: Mapping[str, tuple[Facts, Dag]]) -> None:
    theirs = waits(workflow_of(*facts[name]).workflow)
    dropped = ONLY_THERE.get(name, set())
    for task in dropped:
        for before in theirs.values():
            if task in before:
                before.discard(task)
                before |= theirs[task]
    assert waits(ours(folder, name)) == {task: found for task, found in theirs.items() if task not in dropped}


@pytest.mark.parametrize("name", RUN)
def test_both_end_alike(
    name: str,
    folder: Path,
    facts: Mapping[str, tuple[Facts, Dag]],
    dags: Mapping[str, DAG],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COULER_HOME", str(tmp_path / "home"))
    ended = dags[name].test()
    states = {(each.task_id, each.map_index): harness.STATES[str(each.state)] for each in ended.get_task_instances()}
    names = dict(harness.places(facts[name][1], set(states)))
    expected = {names[place]: state for place, state in states.items() if place[0] not in ONLY_THERE.get(name, ())}
    with contextlib.redirect_stdout(io.StringIO()):
        run = couler.run(ours(folder, name), runtime="process")
    assert {place: run.tasks[place].status for place in expected} == expected
    assert run.status == {"success": "Succeeded", "failed": "Failed"}[str(ended.state)]


def test_a_pod_is_the_same(folder: Path, facts: Mapping[str, tuple[Facts, Dag]]) -> None:
    made, written = (step(each, "train") for each in (workflow_of(*facts["pods"]).workflow, ours(folder, "pods")))
    assert (made.body, made.pod) == (written.body, written.pod)


def test_retries_and_schedules_are_the_same(folder: Path, facts: Mapping[str, tuple[Facts, Dag]]) -> None:
    made, written = workflow_of(*facts["retries"]).workflow, ours(folder, "retries")
    assert made.deadline == written.deadline
    assert step(made, "fetch").retry == step(written, "fetch").retry
    assert step(made, "fetch").timeout == step(written, "fetch").timeout
    made, written = workflow_of(*facts["schedule"]).workflow, ours(folder, "schedule")
    assert (made.schedule, made.engines) == (written.schedule, written.engines)


def step(workflow: Workflow, name: str) -> Template:
    return templates_by_name(workflow)[name]


def waits(workflow: Workflow) -> dict[str, set[str]]:
    """What each task of the run waits for."""
    body: Any = templates_by_name(workflow)[workflow.entrypoint].body
    assert isinstance(body, Graph)
    return {task.name: {name for edge in edges(task) for name in edge.tasks} for task in body.tasks}
