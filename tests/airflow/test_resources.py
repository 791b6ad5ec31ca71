"""Kubernetes objects as steps, on the cluster of the tests: made, waited for by their conditions, read, and deleted."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import pytest

import couler_py as couler
from tests.airflow import harness

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cluster.argo import Namespace
    from tests.cluster.fixtures import Cluster

pytestmark = pytest.mark.cluster


@pytest.fixture(autouse=True)
def connection(cluster: Cluster, namespace: Namespace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Airflow's connection to the cluster, with the namespace of this run."""
    extra = {"kube_config_path": str(cluster.kubeconfig), "namespace": namespace.name}
    monkeypatch.setenv("AIRFLOW_CONN_KUBERNETES_DEFAULT", json.dumps({"conn_type": "kubernetes", "extra": extra}))
    monkeypatch.setattr(time, "sleep", lambda seconds, nap=time.sleep: nap(min(seconds, 0.5)))


def ran(workflow: couler.Workflow, airflow_home: Path, **parameters: Any) -> Any:
    built = workflow.build()
    text = couler.compile(built, to="airflow").text
    dag = harness.load({built.name: text}, airflow_home)[built.name]
    if isinstance(dag, Exception):
        raise dag
    return harness.run(dag, built, parameters)


def job(*command: str) -> dict[str, Any]:
    container = {"name": "main", "image": "debian:12", "command": list(command)}
    pod = {"spec": {"restartPolicy": "Never", "containers": [container]}}
    spec = {"backoffLimit": 0, "ttlSecondsAfterFinished": 60, "template": pod}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"generateName": "job-"}, "spec": spec}


ENDS = {"success_condition": "status.succeeded > 0", "failure_condition": "status.failed > 0"}


def test_a_job_is_waited_for_and_read(airflow_home: Path) -> None:
    workflow = couler.Workflow("job-that-succeeds")
    with workflow:
        made = couler.resource(job("true"), outputs={"done": ("{.status.succeeded}", int)}, **ENDS).named("job")()
        workflow.output("done", made)
    found = ran(workflow, airflow_home)
    assert (found.status, found.tasks, found.outputs) == ("Succeeded", {"job": "Succeeded"}, {"done": 1})


def test_a_job_that_fails_is_a_failed_task(airflow_home: Path) -> None:
    workflow = couler.Workflow("job-that-fails")
    with workflow:
        couler.resource(job("false"), **ENDS).named("job")()
    found = ran(workflow, airflow_home)
    assert (found.status, found.tasks) == ("Failed", {"job": "Failed"})


def test_an_object_is_made_changed_read_and_deleted(airflow_home: Path, namespace: Namespace) -> None:
    one = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "of-a-test"}}
    workflow = couler.Workflow("config-map")
    with workflow:
        made = couler.resource(one | {"data": {"x": "1"}}).named("made")()
        changed = couler.resource(one | {"data": {"y": "2"}}, action="patch").named("changed")()
        read = couler.resource(one, action="get", outputs={"x": "{.data.x}", "y": "{.data.y}"}).named("read")()
        gone = couler.resource(one, action="delete").named("gone")()
        made >> changed >> read >> gone
        workflow.output("x", read.x)
        workflow.output("y", read.y)
    found = ran(workflow, airflow_home)
    assert (found.status, found.outputs) == ("Succeeded", {"x": "1", "y": "2"})

    from kubernetes import client

    left = client.CoreV1Api(namespace.api).list_namespaced_config_map(namespace.name).items
    assert "of-a-test" not in [each.metadata.name for each in left]
