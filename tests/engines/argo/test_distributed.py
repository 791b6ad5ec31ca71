"""Jobs of several nodes on the real controller: two nodes meet, one is killed and comes back, a failure is told."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from couler_py.api import Run, run
from couler_py.backends.argo.client import ArgoClient
from tests.cluster import controllers
from tests.cluster.argo import Namespace
from tests.cluster.fixtures import Cluster, ObjectStore
from tests.cluster.jobs import KINDS, await_deletion, broken, name_of, objects, phases, recovering

pytestmark = pytest.mark.cluster


@dataclass(frozen=True)
class Runs:
    """The ended runs of a launcher: one whose job has recovered, and one whose job has failed."""

    launcher: str
    client: ArgoClient
    recovered: Run
    failed: Run


@pytest.fixture(scope="module", params=KINDS)
def runs(request: pytest.FixtureRequest, cluster: Cluster, namespace: Namespace, s3: ObjectStore) -> Runs:
    """Both workflows of a launcher, run side by side: a pod costs seconds, and most of them are waiting."""
    launcher = request.param
    if launcher == "jobset":
        controllers.add(cluster, launcher)
    client = ArgoClient(namespace=namespace.name, kubeconfig=cluster.kubeconfig, server=cluster.argo_server or "")
    begun = [run(each(launcher), submitter=client) for each in (recovering, broken)]
    return Runs(launcher, client, *(each.wait() for each in begun))


def test_a_killed_rank_comes_back_and_nothing_is_left_of_a_deleted_run(runs: Runs, namespace: Namespace) -> None:
    name = name_of(namespace, f"adds-{runs.launcher}")
    assert runs.recovered.outputs == {"result": 135}
    assert phases(namespace, name) == {"Succeeded": 2, "Failed": 1}
    assert {kind for kind, _ in objects(namespace, runs.launcher, name)} == KINDS[runs.launcher].keys()
    runs.client.delete(runs.recovered.id)
    await_deletion(namespace, runs.launcher, name)


def test_the_last_lines_of_the_rank_that_failed_reach_who_looks(runs: Runs, namespace: Namespace) -> None:
    assert runs.failed.status == "Failed"
    lines = [line.text for line in runs.client.logs(runs.failed.id)]
    assert "no data for rank 1" in lines
    assert any("failed at" in line and "exit code 1" in line for line in lines)
    name = name_of(namespace, f"fails-{runs.launcher}")
    runs.client.delete(runs.failed.id)
    await_deletion(namespace, runs.launcher, name)
