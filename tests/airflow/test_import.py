"""DAGs of the sort that people have (`dags/`), imported: they end here as on Airflow, with the same results."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

import couler_py as couler
from couler_py.backends.airflow.importing import Imported, workflow_of
from couler_py.backends.airflow.importing.facts import Dag, Facts
from couler_py.backends.airflow.importing.reading import read
from couler_py.cli.load import load
from couler_py.ir import expr as x
from couler_py.ir.graph import templates_by_name
from couler_py.ir.model import Graph, OutputParameter, Outputs, Workflow
from couler_py.ir.types import ANY
from couler_py.printer import print_python
from tests.airflow import harness
from tests.airflow.dags import values

if TYPE_CHECKING:
    from airflow.sdk import DAG

FOLDER = Path(__file__).with_name("dags")
FILES = ("shapes", "values")
SHAPES = """diamond line_of_bash crossed made_in_a_loop branch_and_join branch_without_join branch_past_a_task
    branch_of_several branch_to_nothing short_circuit_open short_circuit_closed short_circuit_next_only a_failure_blocks
    one_failed_of_one one_failed_of_several one_failed_of_none all_failed all_done_in_the_middle
    none_failed_after_a_skip groups retried setup_and_teardown""".split()  # noqa: SIM905 - words
NAMES = [*SHAPES, *values.RESULTS]
JUDGED_OTHERWISE = {"all_failed"}
"""Where a run that Airflow calls a success is Failed here, or the other way, as a finding says."""


@pytest.fixture(scope="module")
def facts() -> dict[str, tuple[Facts, Dag]]:
    """What the program in Airflow's environment says of each DAG, by its id."""
    found = [read(str(FOLDER / f"{name}.py"), sys.executable) for name in FILES]
    return {dag.id: (each, dag) for each in found for dag in each.dags}


@pytest.fixture(scope="module")
def dags(airflow_home: Path) -> dict[str, DAG]:
    bag = harness.registered({name: (FOLDER / f"{name}.py").read_text() for name in FILES}, airflow_home)
    assert bag.import_errors == {}
    return dict(bag.dags)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COULER_HOME", str(tmp_path / "home"))


def imported(given: tuple[Facts, Dag]) -> Imported:
    made = workflow_of(*given)
    assert [found.render() for found in made.diagnostics if found.severity == "error"] == []
    return made


@pytest.mark.parametrize("name", NAMES)
def test_a_dag_ends_here_as_it_ends_on_airflow(
    name: str, facts: Mapping[str, tuple[Facts, Dag]], dags: Mapping[str, DAG]
) -> None:
    made = imported(facts[name])
    ended = dags[name].test()
    instances = {(each.task_id, each.map_index): each for each in ended.get_task_instances()}
    expected = {place: harness.STATES[str(each.state)] for place, each in instances.items()}
    run = run_here(with_results(made.workflow))
    names = dict(harness.places(facts[name][1], set(expected)))
    assert {place: run.tasks[names[place]].status for place in expected} == expected
    if name not in JUDGED_OTHERWISE:
        assert run.status == {"success": "Succeeded", "failed": "Failed"}[str(ended.state)]
    if name in values.RESULTS:
        given = {task: pulled(instances, task) for task in values.RESULTS[name]}
        assert given == values.RESULTS[name]
        ours = {task: value for task, value in given.items() if "." not in task}
        assert {task: run.outputs[f"of_{task}"] for task in ours} == ours


@pytest.mark.parametrize("name", NAMES)
def test_what_is_printed_builds_the_same_and_is_what_a_person_writes(
    name: str, facts: Mapping[str, tuple[Facts, Dag]], tmp_path: Path
) -> None:
    made = imported(facts[name])
    text = print_python(made.workflow)
    (tmp_path / "flow.py").write_text(text)
    built = load(str(tmp_path / "flow.py")).workflow
    assert [each.name for each in graph_of(built).tasks] == [each.name for each in graph_of(made.workflow).tasks]
    assert "@couler.workflow" in text


def run_here(workflow: Workflow) -> Any:
    with contextlib.redirect_stdout(io.StringIO()):
        return couler.run(workflow, runtime="process")


def graph_of(workflow: Workflow) -> Graph:
    body = templates_by_name(workflow)[workflow.entrypoint].body
    assert isinstance(body, Graph)
    return body


def with_results(workflow: Workflow) -> Workflow:
    """The workflow with all results of its tasks as outputs of the run."""
    templates = templates_by_name(workflow)
    found = []
    for task in graph_of(workflow).tasks:
        assert isinstance(task.call, str)
        for output in templates[task.call].outputs.parameters:
            name = task.name if output.name == "result" else f"{task.name}.{output.name}"
            value = x.OrElse(x.TaskOutput(task.name, output.name), x.Literal(None))
            found.append(OutputParameter(f"of_{name}", ANY, value=value))
    entry = msgspec.structs.replace(templates[workflow.entrypoint], outputs=Outputs(tuple(found)))
    return msgspec.structs.replace(
        workflow, templates=tuple(entry if each.name == entry.name else each for each in workflow.templates)
    )


def pulled(instances: Mapping[tuple[str, int], Any], task: str) -> Any:
    from airflow.models.xcom import XComModel
    from airflow.utils.session import create_session
    from sqlalchemy import select

    some = next(each for (task_id, _), each in instances.items() if task_id == task)
    of_task = (XComModel.dag_id == some.dag_id, XComModel.run_id == some.run_id, XComModel.task_id == task)
    with create_session() as session:
        query = select(XComModel).where(*of_task, XComModel.key == "return_value").order_by(XComModel.map_index)
        rows = list(session.scalars(query))
        found = [XComModel.deserialize_value(row) for row in rows]
    return found if rows and rows[0].map_index >= 0 else next(iter(found), None)
