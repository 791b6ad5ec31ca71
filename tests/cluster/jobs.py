"""Jobs of two nodes that every engine runs on the cluster, and what a cluster has of a job."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from kubernetes.dynamic import DynamicClient

import couler_py as couler
from tests.cluster.argo import Namespace

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
# Ends when there is a service of the name that it is given.
HOLDS = """
import socket, sys, time
while True:
    try:
        socket.getaddrinfo(sys.argv[1], 80)
        break
    except OSError:
        time.sleep(0.2)
"""

COMMON = {"Service": "v1", "Job": "batch/v1", "Pod": "v1"}
KINDS = {"indexed-job": COMMON, "jobset": {**COMMON, "JobSet": "jobset.x-k8s.io/v1alpha2"}}
"""The kinds, with API versions, of what a launcher makes of a job; the names of all of it begin with the job's."""


def job(launcher: str, *words: Any, **given: Any) -> Any:
    """A step of two nodes that run a Python program, and which no registry is asked for."""
    return couler.distributed_job(
        "python:3.11",
        ["python3", "-c", *words],
        framework="generic",
        nodes=2,
        launcher=launcher,
        image_pull_policy="Never",
        **given,
    )


def recovering(launcher: str) -> Any:
    """A workflow of a job whose rank 1 is killed once, and whose result is 45 times its parameter."""
    add = job(
        launcher,
        ADDS,
        couler.argument("times"),
        name=f"adds-{launcher}",
        max_restarts=2,
        inputs={"times": int},
        outputs={"total": int},
    )

    @couler.workflow
    def adding(times: int = 3):
        return add(times)

    return adding


def broken(launcher: str) -> Any:
    """A workflow of a job whose rank 1 fails for good, while the other would go on for long."""
    fail = job(launcher, FAILS, name=f"fails-{launcher}")

    @couler.workflow
    def failing():
        fail()

    return failing


def name_of(namespace: Namespace, step: str) -> str:
    """The name that the cluster made for the one job of a step."""
    [service] = namespace.core.list_namespaced_service(namespace.name, label_selector=f"couler-py/job={step}").items
    return str(service.metadata.name)


def phases(namespace: Namespace, name: str) -> dict[str, int]:
    """How many pods of a job are in each phase."""
    pods = namespace.core.list_namespaced_pod(namespace.name, label_selector=f"couler-py/job={name}").items
    return dict(Counter(pod.status.phase for pod in pods))


def objects(namespace: Namespace, launcher: str, name: str) -> list[tuple[str, str]]:
    """The kinds and names of all that the cluster has of a job."""
    return [
        (kind, each)
        for kind, api in _apis(namespace, launcher)
        for each in _of(name, api.get(namespace=namespace.name))
    ]


def await_deletion(namespace: Namespace, launcher: str, name: str, seconds: int = 60) -> None:
    """Return when nothing is left of a job. Raises `TimeoutError`, which names what is."""
    for _, api in _apis(namespace, launcher):
        listed = api.get(namespace=namespace.name)
        left, since = _of(name, listed), listed.metadata.resourceVersion
        events = api.watch(namespace=namespace.name, resource_version=since, timeout=seconds) if left else ()
        for event in events:
            if event["type"] == "DELETED":
                left.discard(event["object"].metadata.name)
            if not left:
                break
    if there := objects(namespace, launcher, name):
        raise TimeoutError(f"still there: {there}")


def _apis(namespace: Namespace, launcher: str) -> Iterator[tuple[str, Any]]:
    found = DynamicClient(namespace.api).resources
    for kind, version in KINDS[launcher].items():
        yield kind, found.get(api_version=version, kind=kind)


def _of(name: str, listed: Any) -> set[str]:
    return {each.metadata.name for each in listed.items if each.metadata.name.startswith(name)}
