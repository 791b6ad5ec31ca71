"""Jobs of several nodes by Airflow's operators, on the cluster: a rank comes back, a failure is told."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pytest

import couler_py as couler
from tests.airflow import harness
from tests.airflow.real_pods import IMAGE
from tests.cluster import controllers
from tests.cluster.jobs import KINDS, broken, name_of, objects, phases, recovering

if TYPE_CHECKING:
    from pathlib import Path

    from airflow.sdk import DAG

    from tests.cluster.argo import Namespace
    from tests.cluster.fixtures import Cluster

pytestmark = pytest.mark.cluster


@pytest.fixture(scope="module")
def connected(cluster: Cluster, namespace: Namespace) -> Iterator[None]:
    """Airflow's connection to the cluster, whose controllers are there, with the namespace of this run."""
    controllers.add(cluster, "jobset")
    extra = {
        "kube_config_path": str(cluster.kubeconfig),
        "namespace": namespace.name,
        "xcom_sidecar_container_image": IMAGE,
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AIRFLOW_CONN_KUBERNETES_DEFAULT", json.dumps({"conn_type": "kubernetes", "extra": extra}))
        patch.setattr(time, "sleep", lambda seconds, nap=time.sleep: nap(min(seconds, 0.5)))
        yield


@pytest.fixture(scope="module")
def dags(airflow_home: Path, connected: None) -> Mapping[str, DAG | Exception]:
    workflows = {f"{each.__name__}-{name}": each(name) for name in KINDS for each in (recovering, broken)}
    texts = {name: couler.compile(each, to="airflow", dag_id=name).text for name, each in workflows.items()}
    return harness.load(texts, airflow_home)


def found(dags: Mapping[str, DAG | Exception], name: str) -> DAG:
    dag = dags[name]
    if isinstance(dag, Exception):
        raise dag
    harness.look_every_second(dag)
    return dag


@pytest.mark.parametrize("launcher", KINDS)
def test_a_killed_rank_comes_back_and_rank_0_leaves_the_outputs(
    launcher: str, dags: Mapping[str, DAG | Exception], namespace: Namespace
) -> None:
    ended = harness.run(found(dags, f"recovering-{launcher}"), recovering(launcher).build(), {})
    assert (ended.status, ended.outputs) == ("Succeeded", {"result": 135}), ended.messages
    name = name_of(namespace, f"adds-{launcher}")
    assert phases(namespace, name) == {"Succeeded": 2, "Failed": 1}
    assert {kind for kind, _ in objects(namespace, launcher, name)} == KINDS[launcher].keys()


@pytest.mark.soak
@pytest.mark.parametrize("launcher", KINDS)
def test_the_last_lines_of_the_rank_that_failed_reach_the_operator(
    launcher: str, dags: Mapping[str, DAG | Exception]
) -> None:
    dag = found(dags, f"broken-{launcher}")
    lines = heard(dag, f"fails-{launcher}.report")
    assert harness.run(dag, broken(launcher).build(), {}).status == "Failed"
    assert "no data for rank 1" in lines
    assert any("failed at" in line and "exit code 1" in line for line in lines)


def heard(dag: DAG, task: str) -> list[str]:
    """The lines that the operator of a task will read from its pod."""
    from airflow.providers.cncf.kubernetes.callbacks import KubernetesPodOperatorCallback

    lines: list[str] = []

    class Listens(KubernetesPodOperatorCallback):
        @staticmethod
        def progress_callback(*, line: str, **_: Any) -> None:
            lines.append(line)

    dag.get_task(task).callbacks.append(Listens)
    return lines
