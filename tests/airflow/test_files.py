"""What is written for Airflow, read by Airflow: every example in both forms, and workflows of every kind.

A file must import, and its DAGs must come through Airflow's own serialisation unchanged, twice to the same bytes.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

import couler_py as couler
from couler_py.cli.load import load
from couler_py.ir import DiagnosticError
from tests.airflow import harness
from tests.conformance.cases import PODLESS
from tests.conformance.suite import WRITTEN

if TYPE_CHECKING:
    from airflow.sdk import DAG

CHECKOUT = Path(__file__).parents[2]
EXAMPLES = sorted((CHECKOUT / "examples").glob("*.py"))
SAMPLE = [*PODLESS[::8], *WRITTEN]
"""Cases as pods; as processes, all are run."""


def compiled(workflow: Any, **options: Any) -> str | None:
    """The text of a workflow's file; None where Airflow can't do it."""
    try:
        return couler.compile(workflow, to="airflow", claim="files", **options).text
    except DiagnosticError as error:
        if {found.code for found in error.diagnostics if found.severity == "error"} != {"CLR501"}:
            raise
        return None


@pytest.fixture(scope="module")
def dags(airflow_home: Path) -> dict[str, DAG | Exception]:
    texts: dict[str, str] = {}
    for example in EXAMPLES:
        for operators in ("kubernetes", "local"):
            workflow = load(str(example)).workflow
            name = f"{example.stem}-{operators}"
            text = compiled(workflow, operators=operators, dag_id=name)
            texts |= {} if text is None else {name: text}
    for case in SAMPLE:
        text = compiled(msgspec.structs.replace(case.build(), name=f"pods-{case.name}"))
        texts |= {} if text is None else {f"pods-{case.name}": text}
    assert len(texts) > 100
    return harness.load(texts, airflow_home)


def test_every_file_imports(dags: dict[str, DAG | Exception]) -> None:
    assert {name: str(found) for name, found in dags.items() if isinstance(found, Exception)} == {}


def test_every_dag_comes_through_serialisation(dags: dict[str, DAG | Exception]) -> None:
    from airflow.serialization.serialized_objects import DagSerialization

    for name, dag in dags.items():
        assert not isinstance(dag, Exception)
        told = DagSerialization.to_dict(dag)
        json.dumps(told)
        back = DagSerialization.from_dict(told)
        assert sorted(back.task_ids) == sorted(dag.task_ids), name


def test_nothing_in_a_serialised_dag_changes_from_one_reading_to_the_next(airflow_home: Path) -> None:
    """Else each reading of the file would be a new version of the DAG."""
    from airflow.serialization.serialized_objects import DagSerialization

    names = ("map-with-members", "handler-status-and-published-values", "loop-inside-a-fan-out")
    cases = {case.name: case for case in WRITTEN if case.name in names}
    texts = {name: compiled(msgspec.structs.replace(case.build(), name=name)) or "" for name, case in cases.items()}
    first, second = (
        {name: DagSerialization.to_dict(dag) for name, dag in harness.load(texts, airflow_home).items()}
        for _ in range(2)
    )
    assert json.dumps(first, sort_keys=True) == json.dumps(second, sort_keys=True)


def test_a_thousand_tasks_cost_what_a_loop_by_hand_costs(airflow_home: Path) -> None:
    """Counted in tasks and bytes: no test depends on how fast a machine is."""
    workflow = couler.Workflow("thousand")
    with workflow:
        for number in range(1000):
            couler.container("alpine:3", ["echo", couler.argument("n")], inputs={"n": int}, name="work")(n=number)
    text = couler.compile(workflow, to="airflow", operators="local").text
    dag = harness.load({"thousand": text}, airflow_home)["thousand"]
    assert not isinstance(dag, Exception)
    assert len(dag.task_ids) == 1000
    assert len(text.encode()) < 300_000
