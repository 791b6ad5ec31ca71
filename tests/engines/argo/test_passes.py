"""What passes say to Argo's controller means there what it means here, and what it tells of runs is read."""

from __future__ import annotations

import pytest

import couler_py as couler
from couler_py.api import run
from couler_py.backends.argo.client import ArgoClient
from couler_py.passes.resources.readers import argo
from tests.cluster.argo import Namespace
from tests.cluster.fixtures import Cluster

pytestmark = pytest.mark.cluster

AGAIN = couler.retry(2, delay="1s", platform_only=True)


@pytest.fixture(scope="module")
def client(cluster: Cluster, namespace: Namespace) -> ArgoClient:
    return ArgoClient(namespace=namespace.name, kubeconfig=cluster.kubeconfig, server=cluster.argo_server or "")


@couler.step(retries=AGAIN, cpu=0.1, memory="64Mi")
def ended_from_outside_once() -> int:
    import os

    if couler.run_info.attempt == 0:
        os._exit(143)  # as a shell says of a program that SIGTERM ended
    return couler.run_info.attempt


@couler.step(retries=AGAIN)
def wrong() -> int:
    raise ValueError("pod deleted")


@couler.step(retries=AGAIN, effects="mail")
def with_effects() -> int:
    import os

    os._exit(143)


@couler.workflow
def faults():
    ended_from_outside_once()
    wrong()
    with_effects()


@couler.step
def pair(x: int) -> dict[str, int]:
    return {"x": x, "y": 2 * x}


@couler.step
def both(given: dict[str, int], by: int) -> int:
    return (given["x"] + given["y"]) * by


@couler.step
def square(x: int) -> int:
    return x * x


@couler.step
def total(found: list[int], more: int) -> int:
    return sum(found) + more


@couler.workflow
def small(by: int = 2):
    return total(couler.map(lambda x: square(x), [1, 2, 3, 4, 5]), both(pair(7), by))


def test_joined_steps_and_batches_return_the_same_there(client: ArgoClient) -> None:
    options = {"merge_chains": "all", "batch_fanouts": 2}
    there = run(small, submitter=client, wait=True, **options)
    assert (there.status, there.outputs) == ("Succeeded", {"result": 55 + 42})
    assert {name for name, task in there.tasks.items() if task.status == "Succeeded"} >= {"both", "square", "total"}
    assert "pair" not in there.tasks


@pytest.fixture(scope="module")
def ended(client: ArgoClient) -> couler.Run:
    return run(faults, submitter=client, wait=True)


def test_only_faults_of_the_platform_are_tried_again(ended: couler.Run) -> None:
    assert {name: (task.status, task.attempts) for name, task in ended.tasks.items()} == {
        "ended_from_outside_once": ("Succeeded", 2),
        "wrong": ("Failed", 1),
        "with_effects": ("Failed", 1),
    }


def test_how_attempts_ended_is_read_from_the_run(client: ArgoClient, ended: couler.Run) -> None:
    found = argo.attempts(client.document(ended.id))
    tries = found["ended-from-outside-once"]
    assert [(each.state, each.exit_code) for each in tries] == [("Failed", 143), ("Succeeded", 0)]
