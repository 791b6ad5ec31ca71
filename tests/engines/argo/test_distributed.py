"""Jobs of several nodes on the real controller: two nodes meet, one is killed and comes back, a failure is told."""

from __future__ import annotations

import pytest
from kubernetes import client as kubernetes
from kubernetes import watch

import couler_py as couler
from couler_py.api import run
from couler_py.backends.argo.client import ArgoClient
from tests.cluster.argo import Namespace
from tests.cluster.fixtures import Cluster, ObjectStore

pytestmark = pytest.mark.cluster

# Rank 0 adds up what rank 1 sends; rank 1 is killed in the middle the first time that it has connected.
ADDS = """
import os, pathlib, signal, socket, sys, time
where = (os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]))
if os.environ["RANK"] == "0":
    server = socket.create_server(("", where[1]))
    for connected in (1, 2):
        with server.accept()[0] as peer, peer.makefile("rw") as stream:
            stream.write(f"{connected}\\n")
            stream.flush()
            numbers = [int(line) for line in stream]
    pathlib.Path("/tmp/couler/outputs/total").write_text(str(sum(numbers) * int(sys.argv[1])))
else:
    while True:
        try:
            peer = socket.create_connection(where, timeout=10)
            break
        except OSError:
            time.sleep(0.2)
    with peer, peer.makefile("rw") as stream:
        connected = stream.readline().strip()
        for number in range(10):
            stream.write(f"{number}\\n")
            stream.flush()
            if connected == "1" and number == 5:
                os.kill(os.getpid(), signal.SIGKILL)
"""
FAILS = "import os, sys, time; sys.exit('no data for rank 1') if os.environ['RANK'] == '1' else time.sleep(600)"

add = couler.distributed_job(
    "python:3.11",
    ["python3", "-c", ADDS, couler.argument("times")],
    name="add",
    framework="generic",
    nodes=2,
    max_restarts=2,
    image_pull_policy="Never",
    inputs={"times": int},
    outputs={"total": int},
)
fails = couler.distributed_job(
    "python:3.11", ["python3", "-c", FAILS], name="fails", framework="generic", nodes=2, image_pull_policy="Never"
)


@couler.workflow
def adding(times: int = 3):
    return add(times)


@couler.workflow
def failing():
    fails()


def test_a_killed_rank_comes_back_and_nothing_is_left_of_a_deleted_run(
    cluster: Cluster, namespace: Namespace, s3: ObjectStore
) -> None:
    client = ArgoClient(namespace=namespace.name, kubeconfig=cluster.kubeconfig, server=cluster.argo_server or "")
    done = run(adding, submitter=client, wait=True)
    assert done.outputs == {"result": 135}
    jobs = kubernetes.BatchV1Api(namespace.api)
    [job] = jobs.list_namespaced_job(namespace.name).items
    assert (job.status.succeeded, job.status.failed) == (2, 1)
    [service] = namespace.core.list_namespaced_service(namespace.name).items
    assert service.metadata.name == job.metadata.name
    client.delete(done.id)
    gone = {"Job": jobs.list_namespaced_job, "Service": namespace.core.list_namespaced_service}
    for listed in gone.values():
        for _ in watch.Watch().stream(listed, namespace.name, timeout_seconds=30):
            if not listed(namespace.name).items:
                break
        assert listed(namespace.name).items == []


def test_the_last_lines_of_the_rank_that_failed_reach_who_looks(
    cluster: Cluster, namespace: Namespace, s3: ObjectStore
) -> None:
    client = ArgoClient(namespace=namespace.name, kubeconfig=cluster.kubeconfig, server=cluster.argo_server or "")
    failed = run(failing, submitter=client, wait=True)
    assert failed.status == "Failed"
    lines = [line.text for line in client.logs(failed.id)]
    assert "no data for rank 1" in lines
    assert any("failed at" in line and "exit code 1" in line for line in lines)
