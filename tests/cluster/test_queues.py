"""Kueue admits the jobs of workflows: as many at once as the quota of their queue allows, whatever their launcher."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from kubernetes import watch

import couler_py as couler
from couler_py.api import run
from couler_py.backends.argo.client import ArgoClient
from tests.cluster import controllers
from tests.cluster.argo import Namespace
from tests.cluster.fixtures import Cluster, ObjectStore
from tests.cluster.jobs import HOLDS, job, name_of, objects

pytestmark = [pytest.mark.cluster, pytest.mark.soak]

GROUP, VERSION = "kueue.x-k8s.io", "v1beta2"
QUEUE, GATE = "one-job", "gate"


@pytest.fixture
def queue(cluster: Cluster, namespace: Namespace) -> Iterator[None]:
    """A queue of this namespace for half a processor, which is what one job asks for."""
    controllers.add(cluster, "jobset", "kueue")
    name, custom = namespace.name, namespace.custom
    quota = {"name": name, "resources": [{"name": "cpu", "nominalQuota": "500m"}]}
    groups = [{"coveredResources": ["cpu"], "flavors": [quota]}]
    whole = {"resourceflavors": {}, "clusterqueues": {"namespaceSelector": {}, "resourceGroups": groups}}
    for plural, spec in whole.items():
        kind = {"resourceflavors": "ResourceFlavor", "clusterqueues": "ClusterQueue"}[plural]
        body = {"apiVersion": f"{GROUP}/{VERSION}", "kind": kind, "metadata": {"name": name}, "spec": spec}
        custom.create_cluster_custom_object(GROUP, VERSION, plural, body)
    local = {"apiVersion": f"{GROUP}/{VERSION}", "kind": "LocalQueue", "metadata": {"name": QUEUE}}
    place = (GROUP, VERSION, name, "localqueues")
    custom.create_namespaced_custom_object(*place, local | {"spec": {"clusterQueue": name}})
    yield
    custom.delete_namespaced_custom_object(*place, QUEUE)
    for plural in reversed(whole):
        custom.delete_cluster_custom_object(GROUP, VERSION, plural, name)


def holding(launcher: str) -> Any:
    """A workflow of a job in the queue, which asks for half a processor and holds it until the gate is there."""
    hold = job(launcher, HOLDS, GATE, name=f"holds-{launcher}", queue=QUEUE, cpu="250m")

    @couler.workflow
    def main():
        hold()

    return main


def workload(namespace: Namespace, step: str, state: Callable[[dict[str, str]], bool]) -> dict[str, Any]:
    """What Kueue knows of the one job of a step, once its conditions (their status by type) are as asked."""
    where = (GROUP, VERSION, namespace.name, "workloads")
    for event in watch.Watch().stream(namespace.custom.list_namespaced_custom_object, *where, timeout_seconds=120):
        found = event["object"]
        owner = found["metadata"]["ownerReferences"][0]["name"]
        if owner.startswith(step) and state({key: each["status"] for key, each in conditions(found).items()}):
            return found
    raise TimeoutError(json.dumps(namespace.custom.list_namespaced_custom_object(*where)["items"], indent=1))


def conditions(workload: dict[str, Any]) -> dict[str, dict[str, str]]:
    return {each["type"]: each for each in workload.get("status", {}).get("conditions", ())}


def test_a_second_job_begins_when_the_first_has_ended(
    queue: None, cluster: Cluster, namespace: Namespace, s3: ObjectStore
) -> None:
    client = ArgoClient(namespace=namespace.name, kubeconfig=cluster.kubeconfig, server=cluster.argo_server or "")
    first = run(holding("indexed-job"), submitter=client)
    workload(namespace, "holds-indexed-job", lambda state: state.get("Admitted") == "True")
    second = run(holding("jobset"), submitter=client)
    workload(namespace, "holds-jobset", lambda state: state.get("QuotaReserved") == "False")
    waiting = objects(namespace, "jobset", name_of(namespace, "holds-jobset"))
    assert "JobSet" in dict(waiting)
    assert "Pod" not in dict(waiting)

    gate = {"metadata": {"name": GATE}, "spec": {"ports": [{"port": 80}]}}
    namespace.core.create_namespaced_service(namespace.name, gate)
    assert [each.wait().status for each in (first, second)] == ["Succeeded", "Succeeded"]
    ended = conditions(workload(namespace, "holds-indexed-job", lambda state: state.get("Finished") == "True"))
    begun = conditions(workload(namespace, "holds-jobset", lambda state: state.get("Admitted") == "True"))
    assert begun["Admitted"]["lastTransitionTime"] >= ended["Finished"]["lastTransitionTime"]
