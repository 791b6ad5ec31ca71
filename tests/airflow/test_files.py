"""What is written for Airflow, read by Airflow: every example in each form, and workflows of every kind.

A file must import, and its DAGs must come through Airflow's own serialisation unchanged, twice to the same bytes.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

import couler_py as couler
from couler_py.cli.load import load
from couler_py.ir import DiagnosticError
from couler_py.ir.pod import Container, Toleration, Volume
from couler_py.ir.storage import SecretRef
from couler_py.ir.templated import Templated
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


def everything_about_pods() -> Any:
    """A workflow whose pods have all that pods can have."""
    built = couler.Workflow("everything-about-pods")
    with built:
        couler.container(
            "alpine:3",
            ["cat", "/data/x"],
            cpu="500m",
            memory="1Gi",
            gpu=1,
            env={"TOKEN": SecretRef("s", "token")},
            volumes={"/data": Volume("data", Templated({"persistentVolumeClaim": {"claimName": "data"}}))},
            sidecars=[Container("alpine:3", ("sleep", "1"), name="beside")],
            init_containers=[Container("alpine:3", ("true",), name="before")],
            node_selector={"disk": "ssd"},
            tolerations=[Toleration(key="gpu", operator="Exists")],
            service_account="runner",
            pod_patch='{"securityContext": {"runAsUser": 1000}, "containers": [{"name": "main", "tty": true}]}',
        ).named("all")()
    return built.build()


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    texts: dict[str, str] = {}
    for example in EXAMPLES:
        for operators in ("kubernetes", "docker", "local"):
            workflow = load(str(example)).workflow
            name = f"{example.stem}-{operators}"
            text = compiled(workflow, operators=operators, dag_id=name)
            texts |= {} if text is None else {name: text}
    text = compiled(everything_about_pods())
    texts |= {} if text is None else {"everything-about-pods": text}
    for case in SAMPLE:
        text = compiled(msgspec.structs.replace(case.build(), name=f"pods-{case.name}"))
        texts |= {} if text is None else {f"pods-{case.name}": text}
    assert len(texts) > 100
    return texts


@pytest.fixture(scope="module")
def dags(texts: dict[str, str], airflow_home: Path) -> dict[str, DAG | Exception]:
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


class Anything(dict[str, Any]):
    """The inputs of a step of which nothing is known."""

    def __missing__(self, name: str) -> str:
        return "1"


def pods(name: str, text: str) -> Iterator[dict[str, Any]]:
    """The pods of a file's steps, as it says them."""
    held: dict[str, Any] = {"__name__": name, "__doc__": name, "__file__": f"{name}.py"}
    exec(compile(text, f"{name}.py", "exec"), held)
    for value in held.values():
        if isinstance(value, dict) and "pod" in value:
            pod = value["pod"]
            yield pod(Anything()) if callable(pod) else pod
        if hasattr(value, "task_dict"):
            plain = [getattr(task, "pod_template_dict", None) for task in value.tasks]
            yield from (pod for pod in plain if pod)


def test_every_pod_is_one_that_kubernetes_knows(texts: dict[str, str]) -> None:
    """Its models take every field, and give back the same."""
    from airflow.providers.cncf.kubernetes.pod_generator import PodGenerator
    from kubernetes.client import ApiClient

    client, seen = ApiClient(), 0
    for name, text in texts.items():
        for pod in pods(name, text) if "pod" in text else ():
            model = PodGenerator.deserialize_model_dict(pod)
            assert client.sanitize_for_serialization(model) == pod, name
            seen += 1
    assert seen >= 4


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


BY_HAND = """
from airflow.providers.standard.operators.python import PythonOperator
from airflow.sdk import DAG

with DAG("by-hand", schedule=None):
    for n in range(1000):
        PythonOperator(task_id=f"work-{n}", python_callable=print, op_args=[n])
"""


def calls(text: str) -> int:
    """How many functions are called while a file is read: what it costs, whatever the machine does besides."""
    number = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal number
        number += event in ("call", "c_call")

    program = compile(text, "dag.py", "exec")
    sys.setprofile(count)
    try:
        exec(program, {"__name__": "dag", "__file__": "dag.py"})
    finally:
        sys.setprofile(None)
    return number


def test_a_thousand_tasks_cost_less_than_twice_what_a_loop_by_hand_costs(airflow_home: Path) -> None:
    workflow = couler.Workflow("thousand")
    with workflow:
        for number in range(1000):
            couler.container("alpine:3", ["echo", couler.argument("n")], inputs={"n": int}, name="work")(n=number)
    text = couler.compile(workflow, to="airflow", operators="local").text
    dag = harness.load({"thousand": text}, airflow_home)["thousand"]
    assert not isinstance(dag, Exception)
    assert len(dag.task_ids) == 1000
    assert len(text.encode()) < 300_000
    assert calls(text) < 2 * calls(BY_HAND)
