"""The controllers that the script installs run the objects that we write, without any engine around them."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from kubernetes import client as kubernetes
from kubernetes import watch

import couler_py as couler
from couler_py.ir.model import DistributedJob
from couler_py.kubernetes.jobs import LAUNCHERS, Plan, service
from tests.cluster.argo import Namespace
from tests.cluster.controllers import add
from tests.cluster.fixtures import Cluster

pytestmark = pytest.mark.cluster

GROUP, VERSION = "jobset.x-k8s.io", "v1alpha2"

# Rank 0 says how often rank 1 has come: the first time, rank 1 is killed.
MEETS = """
import os, pathlib, signal, socket, time
where = (os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]))
if os.environ["RANK"] == "0":
    server = socket.create_server(("", where[1]))
    for come in (1, 2):
        server.accept()[0].sendall(str(come).encode())
    pathlib.Path("/tmp/couler/outputs/come").write_text(str(come))
else:
    while True:
        try:
            come = socket.create_connection(where, timeout=10).recv(1)
            break
        except OSError:
            time.sleep(0.2)
    if come == b"1":
        os.kill(os.getpid(), signal.SIGKILL)
"""


def job(name: str, words: list[str], **given: Any) -> DistributedJob:
    """A job of two nodes, as a workflow has it."""
    step = couler.distributed_job(
        "python:3.11", words, name=name, framework="generic", nodes=2, image_pull_policy="Never", **given
    )

    @couler.workflow
    def main() -> None:
        step()

    [found] = [each.body for each in main.build().templates if isinstance(each.body, DistributedJob)]
    return found


def begun(namespace: Namespace, of: str, given: DistributedJob, deadline: float | None = None) -> str:
    """Create the service of a job and its JobSet; gives the name of both."""
    name = namespace.core.create_namespaced_service(namespace.name, service(of)).metadata.name
    made = LAUNCHERS["jobset"].manifest(Plan(given, name, of, str, deadline=deadline))
    namespace.custom.create_namespaced_custom_object(GROUP, VERSION, namespace.name, "jobsets", made)
    return str(name)


def ended(namespace: Namespace, names: list[str]) -> dict[str, str]:
    """How these JobSets end."""
    found: dict[str, str] = {}
    where = (GROUP, VERSION, namespace.name, "jobsets")
    for event in watch.Watch().stream(namespace.custom.list_namespaced_custom_object, *where, timeout_seconds=180):
        state = event["object"].get("status", {}).get("terminalState")
        if state:
            found[event["object"]["metadata"]["name"]] = state
        if found.keys() >= set(names):
            break
    return {name: found.get(name, "") for name in names}


def test_nodes_of_a_jobset_meet_by_name_come_back_when_killed_and_end_in_time(
    cluster: Cluster, namespace: Namespace
) -> None:
    add(cluster, "jobset")
    meets = begun(namespace, "meets", job("meets", ["python3", "-c", MEETS], max_restarts=1))
    slow = begun(namespace, "slow", job("slow", ["sleep", "600"], max_restarts=1), deadline=5)
    assert ended(namespace, [meets, slow]) == {meets: "Completed", slow: "Failed"}
    [inside] = (
        kubernetes.BatchV1Api(namespace.api)
        .list_namespaced_job(namespace.name, label_selector=f"jobset.sigs.k8s.io/jobset-name={meets}")
        .items
    )
    assert (inside.status.succeeded, inside.status.failed) == (2, 1)
    pods = namespace.core.list_namespaced_pod(namespace.name, label_selector=f"couler-py/job={meets}").items
    logs = [namespace.core.read_namespaced_pod_log(each.metadata.name, namespace.name) for each in pods]
    assert f"couler-output come {base64.b64encode(b'2').decode()}" in "\n".join(logs).splitlines()
