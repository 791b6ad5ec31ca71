"""The cases about graphs, and random graphs, on a real Airflow: states and outcome as the meaning says."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from couler_py.ir import to_json
from couler_py.ir.meaning import State
from tests.conformance.case import Case
from tests.conformance.cases import PACKED
from tests.conformance.interpreter import interpret
from tests.conformance.podless import ABSENT
from tests.conformance.random_graphs import random_workflow

if TYPE_CHECKING:
    from tests.airflow.emission import Emission

RANDOM = range(100)

# One file makes all DAGs, so that Airflow reads it once. It is short: Airflow keeps its text for every DAG.
FILE = """
import json
from pathlib import Path

from couler_py.ir import from_json
from tests.airflow.emission import Emission  # it makes airflow DAGs

for name, text in json.loads(Path({workflows!r}).read_text()).items():
    globals()[name] = Emission(from_json(text), name).dag
"""

# Gates do nothing, and Airflow's scheduler never starts a process for them.
GATES = r".*_(order|value|first|on_failure|always)_\d+|.*_(N|NF|K\d+)|.*\.end"


@pytest.fixture(scope="module")
def emitted(airflow_home: Path) -> Mapping[str, Emission]:
    """All workflows as DAGs that Airflow knows."""
    from airflow.dag_processing.bundles.manager import DagBundlesManager
    from airflow.dag_processing.dagbag import BundleDagBag, sync_bag_to_db

    from tests.airflow.emission import Emission

    workflows = {case.name: case.build() for case in PACKED}
    workflows |= {f"random-{seed}": random_workflow(seed, tasks=6) for seed in RANDOM}
    folder = airflow_home / "dags"
    for old in folder.glob("*.py"):
        old.unlink()
    file = folder / "meaning.py"
    data = airflow_home / "workflows.json"
    data.write_text(json.dumps({name: to_json(workflow) for name, workflow in workflows.items()}))
    file.write_text(FILE.format(workflows=str(data)))
    DagBundlesManager().sync_bundles_to_db()
    bag = BundleDagBag(dag_folder=folder, bundle_path=folder, bundle_name="dags-folder")
    assert not bag.import_errors
    sync_bag_to_db(bag, "dags-folder", bundle_version=None)
    file.unlink()  # each test run of a DAG reads the whole folder again
    return Emission.made


@pytest.fixture(autouse=True)
def no_naps(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Airflow's loop for one DAG sleeps a second whenever only states have to be passed on."""
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    return


class Run:
    """A DAG that has run: the run's state, and the states and outputs of the tasks of its entrypoint."""

    def __init__(self, emission: Emission):
        run = emission.dag.test(mark_success_pattern=GATES)
        self.status = {"success": "Succeeded", "failed": "Failed"}[str(run.state)]
        self._nodes = emission.nodes
        self._states = {(each.task_id, each.map_index): str(each.state) for each in run.get_task_instances()}
        self._values = results(run)

    def tasks(self) -> dict[str, State]:
        states = {task: state for (task, index), state in self._states.items() if index == -1}
        return {name: node.state(states) for name, node in self._nodes.items()}

    def output(self, name: str, absent: Any) -> Any:
        """What a task of the entrypoint said, of a fan-out the list."""
        node = self._nodes[name]
        if self.tasks()[name] != "Succeeded":
            return absent
        if not node.mapped:
            return self._values[node.values, -1]["out"]
        found = {index: value["out"] for (task, index), value in self._values.items() if task == node.values}
        return [found[index] for index in sorted(found)]


def results(run: Any) -> dict[tuple[str, int], Any]:
    """What the tasks of a run returned, by id and map index."""
    from airflow.models.xcom import XComModel
    from airflow.utils.session import create_session
    from sqlalchemy import select

    of_run = (XComModel.dag_id == run.dag_id, XComModel.run_id == run.run_id, XComModel.key == "return_value")
    with create_session() as session:
        found = session.scalars(select(XComModel).where(*of_run))
        return {(each.task_id, each.map_index): XComModel.deserialize_value(each) for each in found}


def top(states: Mapping[str, State]) -> dict[str, State]:
    """The states of the entrypoint's own tasks, without what is inside them."""
    return {name: state for name, state in states.items() if not set("/[#") & set(name)}


def check(run: Run, tasks: Mapping[str, State], status: State, outputs: Mapping[str, Any]) -> None:
    assert run.tasks() == top(tasks)
    assert run.status == status
    if status == "Succeeded":
        found = {name: run.output(name, [] if isinstance(text, list) else ABSENT) for name, text in outputs.items()}
        assert found == outputs


@pytest.mark.parametrize("case", PACKED, ids=str)
def test_case(case: Case, emitted: Mapping[str, Emission]) -> None:
    check(Run(emitted[case.name]), case.tasks, case.status, case.outputs)


@pytest.mark.parametrize("seed", RANDOM)
def test_random_graph(seed: int, emitted: Mapping[str, Emission]) -> None:
    expected = interpret(random_workflow(seed, tasks=6))
    check(Run(emitted[f"random-{seed}"]), expected.tasks, expected.state, expected.outputs)
