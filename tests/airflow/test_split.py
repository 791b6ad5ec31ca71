"""Split workflows on a real Airflow: a task group for each part, with the states, outcome and outputs of the whole."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

import couler_py as couler
from couler_py.backends.airflow.client.tree import places
from couler_py.ir import Workflow
from couler_py.ir.graph import templates_by_name
from couler_py.ir.model import Graph
from couler_py.passes.pipeline import transform
from couler_py.passes.situation import Situation
from couler_py.passes.split.mark import helpers_of, parts_of
from couler_py.passes.split.splitting import not_split
from tests.airflow import harness
from tests.conformance.interpreter import interpret
from tests.conformance.random_graphs import random_workflow

if TYPE_CHECKING:
    from airflow.sdk import DAG


def tasks_of(workflow: Workflow) -> int:
    """The tasks of the graph that a workflow starts with."""
    graph = templates_by_name(workflow)[workflow.entrypoint].body
    assert isinstance(graph, Graph)
    return len(graph.tasks)


MOST = 8
BUDGET = f"tasks={MOST},slots=2"
SEEDS = [
    seed for seed in range(100) if not not_split(made := random_workflow(seed, tasks=12)) and tasks_of(made) > MOST
][:1]


@pytest.fixture(autouse=True)
def no_naps(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Airflow's loop for one DAG sleeps a second whenever only states have to be passed on."""
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    return


def test_parts_are_task_groups_that_mean_the_same(airflow_home: Path, tmp_path: Path) -> None:
    workflows = {
        f"split-{seed}": msgspec.structs.replace(random_workflow(seed, tasks=12), name=f"split-{seed}")
        for seed in SEEDS
    }
    texts = {
        name: couler.compile(workflow, to="airflow", operators="local", artifacts=str(tmp_path), split=BUDGET).text
        for name, workflow in workflows.items()
    }
    dags = harness.load(texts, airflow_home)
    for name, workflow in workflows.items():
        found = dags[name]
        if isinstance(found, Exception):
            raise found
        expected, ended = interpret(workflow), harness.run(found, workflow, {})
        assert ended.status == expected.state, name
        if expected.state == "Succeeded":
            assert ended.outputs == expected.outputs, name
        assert shown(found) == tasks_of_parts(workflow)


def shown(dag: DAG) -> set[str]:
    """The tasks that `couler status` shows of a run, down to those of the parts."""
    instances = [
        {"task_id": each.task_id, "map_index": -1, "state": "success", "operator_name": each.task_type}
        for each in dag.tasks
    ]
    paths = [place.path for place in places(instances)]
    return {path for path in paths if path.count("/") < 2 and not set(path) & set("[#")}


def tasks_of_parts(workflow: Workflow) -> set[str]:
    """The parts and the tasks in them that a person wrote."""
    made, _ = transform(workflow, Situation("airflow", options={"split": BUDGET}))
    templates = templates_by_name(made)
    parts = [task for task in templates[made.entrypoint].body.tasks if task.name in parts_of(made)]  # type: ignore[union-attr]
    inside = {
        f"{part.name}/{task.name}"
        for part in parts
        for task in templates[str(part.call)].body.tasks  # type: ignore[union-attr]
        if task.call not in helpers_of(made)
    }
    assert len(inside) == tasks_of(workflow)
    return inside | {part.name for part in parts}
