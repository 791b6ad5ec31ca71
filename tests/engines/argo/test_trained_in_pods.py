"""Two nodes train the built-in model with torch in pods: a rank is killed, and what comes out is what would have.

The image is that of `images/train-cpu`, brought to the cluster of this machine. Files that the nodes share lie in a
folder of it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from couler_py.api import run
from couler_py.backends.argo.client import ArgoClient
from tests.cluster import controllers
from tests.cluster.argo import Namespace
from tests.cluster.containers import Podman, train_image
from tests.cluster.fixtures import Cluster, ObjectStore, script
from tests.cluster.training import LOST, TOKENS, How, training

pytestmark = [pytest.mark.cluster, pytest.mark.soak, pytest.mark.timeout(3600)]

LAUNCHERS = {"indexed-job": (), "jobset": ("jobset",), "pytorchjob": ("training-operator",)}
"""What a launcher needs on the cluster."""


@pytest.fixture(scope="module")
def image(cluster: Cluster, podman_of_the_machine: Podman, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The image, on the cluster: gigabytes, which go there by a file. Skips where the cluster is another machine's."""
    if cluster.machine is None:
        pytest.skip("images and folders of this machine are on a cluster of this machine alone")
    found = train_image(podman_of_the_machine)
    archive = tmp_path_factory.mktemp("image") / "train.tar"
    podman_of_the_machine("save", "--output", str(archive), found)
    loaded = script("load", str(archive))
    archive.unlink()
    assert loaded.returncode == 0, loaded.stderr
    return found


@pytest.fixture(scope="module")
def client(cluster: Cluster, namespace: Namespace, s3: ObjectStore) -> ArgoClient:
    return ArgoClient(namespace=namespace.name, kubeconfig=cluster.kubeconfig, server=cluster.argo_server or "")


@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_a_training_of_which_a_rank_is_killed_ends_as_the_undisturbed_one(
    launcher: str, image: str, cluster: Cluster, client: ArgoClient, tmp_path: Path
) -> None:
    if LAUNCHERS[launcher]:
        controllers.add(cluster, *LAUNCHERS[launcher])
    ways: tuple[How, How] = ("undisturbed", "killed")
    begun = [run(training(launcher, image, tmp_path / how, how), submitter=client) for how in ways]
    undisturbed, killed = (each.wait() for each in begun)
    assert (undisturbed.status, killed.status) == ("Succeeded", "Succeeded")
    assert [(tmp_path / how / LOST).exists() for how in ways] == [False, True]
    assert (undisturbed.outputs["tokens"], killed.outputs["tokens"]) == (TOKENS, TOKENS)
    assert killed.outputs["loss"] == pytest.approx(undisturbed.outputs["loss"], abs=1e-3)


def test_nodes_of_a_trainjob_train_without_sharing_a_folder(
    image: str, cluster: Cluster, client: ArgoClient, tmp_path: Path
) -> None:
    controllers.add(cluster, "jobset", "trainer")
    ended = run(training("trainjob", image, tmp_path / "apart", "apart"), submitter=client).wait()
    assert (ended.status, ended.outputs["tokens"]) == ("Succeeded", TOKENS)
