"""Runs compiled workflows on a real Airflow, many in one process, and says how they ended in the IR's words."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from couler_py.backends.airflow.calls import holds_fan_outs
from couler_py.backends.airflow.emission import Emission
from couler_py.backends.airflow.importing.facts import Dag
from couler_py.backends.airflow.importing.levels import levels
from couler_py.backends.airflow.names import task_ids
from couler_py.backends.airflow.options import Options
from couler_py.ir import Workflow, to_builtins, wire
from couler_py.ir.graph import templates_by_name
from couler_py.ir.model import Graph, Template
from tests.conformance.harness import Result, content

if TYPE_CHECKING:
    from airflow.sdk import DAG

STATES = {"success": "Succeeded", "failed": "Failed", "skipped": "Skipped", "upstream_failed": "Blocked"}

GATES = r".*__(order|first|on_failure|always|none_failed|one_failed|goes)(_\d+)?|on_exit.ended|finish"
"""Tasks that do nothing: Airflow's scheduler never starts a process for them."""


def load(texts: Mapping[str, str], home: Path) -> dict[str, DAG | Exception]:
    """The DAGs of many files, registered at once, by file; of one that doesn't import, Airflow's words."""
    bag = registered(texts, home)
    broken = {Path(file).stem: AssertionError(text) for file, text in bag.import_errors.items()}
    return broken | {Path(dag.fileloc).stem: dag for dag in bag.dags.values()}


def registered(texts: Mapping[str, str], home: Path) -> Any:
    """Airflow's bag of all DAGs of many files."""
    from airflow.dag_processing.bundles.manager import DagBundlesManager
    from airflow.dag_processing.dagbag import BundleDagBag, sync_bag_to_db

    folder = home / "dags"
    # What other tests of this process have put here may hold DAGs of the same name.
    others = sorted(file.name for file in folder.glob("*.py") if file.stem not in texts)
    ignore = folder / ".airflowignore"
    ignore.write_text("".join(f"{name}\n" for name in others))
    for name, text in texts.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    try:
        DagBundlesManager().sync_bundles_to_db()
        bag = BundleDagBag(dag_folder=folder, bundle_path=folder, bundle_name="dags-folder")
        sync_bag_to_db(bag, "dags-folder", bundle_version=None)
    finally:
        # Each test run of a DAG reads the whole folder again, and those with mapped tasks need their own text.
        ignore.write_text("*\n")
    return bag


def look_every_second(dag: DAG) -> None:
    """Let operators look at their pods as often as is polite to the one machine that all of it runs on."""
    for task in dag.tasks:
        for pause in ("poll_interval", "startup_check_interval_seconds", "base_container_status_polling_interval"):
            if hasattr(task, pause):
                setattr(task, pause, 1)


def run(dag: DAG, workflow: Workflow, parameters: Mapping[str, Any]) -> Result:
    """Run a DAG to its end."""
    ended = dag.test(run_conf=dict(parameters), mark_success_pattern=GATES)
    instances = {(each.task_id, each.map_index): each for each in ended.get_task_instances()}
    found = Ended(workflow, {key: str(each.state) for key, each in instances.items()})
    attempts = {
        path: instances[task_id, -1].try_number for path, task_id in found.steps.items() if (task_id, -1) in instances
    }
    status = {"success": "Succeeded", "failed": "Failed"}[str(ended.state)]
    return Result(status, found.tasks, outputs_of(workflow, ended), attempts, {"states": str(found.states)})


def outputs_of(workflow: Workflow, ended: Any) -> dict[str, Any]:
    """The outputs of a run: its last task has them."""
    from airflow.models.xcom import XComModel
    from airflow.utils.session import create_session
    from sqlalchemy import select

    entry = templates_by_name(workflow)[workflow.entrypoint]
    types = {each.name: to_builtins(each.type) for each in entry.outputs.parameters}
    of_run = (XComModel.dag_id == ended.dag_id, XComModel.run_id == ended.run_id, XComModel.key == "return_value")
    with create_session() as session:
        row = session.scalars(select(XComModel).where(*of_run, XComModel.task_id == "result")).first()
        found = {} if row is None else XComModel.deserialize_value(row)
    if "@file" in found:
        found = json.loads(Path(found["@file"]).read_text())
    return {
        name: wire.restore(types[name], value) if name in types else content(Path(value.removeprefix("file://")))
        for name, value in found.items()
    }


def places(dag: Dag, of_airflow: set[tuple[str, int]]) -> Iterator[tuple[tuple[str, int], str]]:
    """The paths that the tasks of an imported DAG have here, by Airflow's task instances."""
    root, inner = levels(dag, frozenset())
    for task_id, index in of_airflow:
        home = root.nodes[root.places[task_id]]
        item = f"[{index}]" if index >= 0 else ""
        if home.group is None:
            yield (task_id, index), f"{home.name}{item}"
        else:
            yield (task_id, index), f"{home.name}{item}/{inner[home.id].nodes[task_id].name}"


class Ended:
    """The states of a run's tasks by the paths that the IR gives them."""

    def __init__(self, workflow: Workflow, states: Mapping[tuple[str, int], str]):
        self.states = states
        self.emission = Emission(workflow, Options(operators="local"))
        self.tasks: dict[str, str] = {}
        self.steps: dict[str, str] = {}
        entry = self.emission.templates[workflow.entrypoint]
        self._graph(entry, "", "", -1)

    def _graph(self, template: Template, path: str, prefix: str, index: int) -> None:
        assert isinstance(template.body, Graph)
        ids = task_ids(template.body, entry=not prefix, helpers=self.emission.helpers)
        for task in template.body.tasks:
            callee = self.emission.callee(task)
            place, task_id = f"{path}{task.name}", f"{prefix}{ids[task.name]}"
            if task.each is None:
                self._one(callee, place, task_id, index)
                continue
            self.tasks[place] = self._group(task_id, index)
            for number, inner, inner_index in self._items(callee, task_id):
                self._one(callee, f"{place}[{number}]", inner, inner_index, mapped=True)

    def _items(self, callee: Template, task_id: str) -> Iterator[tuple[int, str, int]]:
        if holds_fan_outs(self.emission, callee):
            number = 0
            while (f"{task_id}.each_{number}.start", -1) in self.states:
                yield number, f"{task_id}.each_{number}", -1
                number += 1
            return
        last = f"{task_id}.each.end" if isinstance(callee.body, Graph) else f"{task_id}.each"
        for number in sorted(index for name, index in self.states if name == last and index >= 0):
            yield number, f"{task_id}.each", number

    def _one(self, callee: Template, place: str, task_id: str, index: int, mapped: bool = False) -> None:
        if (task_id, index) in self.states:
            self.tasks[place] = STATES.get(self.states[task_id, index], self.states[task_id, index])
            self.steps[place] = task_id
            return
        self.tasks[place] = self._group(task_id, index)
        if isinstance(callee.body, Graph):
            self._graph(callee, f"{place}/", f"{task_id}.", index)

    def _group(self, task_id: str, index: int) -> str:
        ended, began = (self.states.get((f"{task_id}.{name}", index), "none") for name in ("end", "start"))
        if ended in ("success", "skipped"):
            return STATES[ended]
        return "Blocked" if began == "upstream_failed" else "Failed"
