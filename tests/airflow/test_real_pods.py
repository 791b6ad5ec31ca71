"""The form for Kubernetes on a real cluster: pods of a DAG end as the same workflow ends on this machine.

The pods' files are on a volume that this process, in the place of Airflow's worker, sees too; those of some workflows
are in an S3 store instead, where the image `runner` gets them and puts them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import couler_py as couler
from couler_py.ir import Workflow
from tests.airflow import harness
from tests.airflow.real_pods import IMAGE, WORKFLOWS
from tests.cluster.containers import Podman, runner_image
from tests.cluster.fixtures import alone, run_folder, script
from tests.conformance.harness import Result, content, result_of

if TYPE_CHECKING:
    from airflow.sdk import DAG

    from tests.cluster.argo import Namespace
    from tests.cluster.fixtures import Cluster, ObjectStore

pytestmark = pytest.mark.cluster

PASSWORD = "open-sesame"
CASES = {workflow.build().name: (workflow, parameters) for workflow, parameters in WORKFLOWS}
FILES = {"artifacts": 2, "much_and_many": 3}
"""Workflows whose files go through S3, and how many objects are there then."""


@dataclass(frozen=True)
class Volume:
    """A claim, and the folder that its volume is."""

    claim: str
    folder: Path


@pytest.fixture(scope="module")
def store(namespace: Namespace, cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Volume]:
    """A folder of the cluster's one node, which is this machine, as the volume of a claim."""
    if cluster.machine is None:
        pytest.fail("these tests share a folder with the pods: they need the cluster of tests/cluster", pytrace=False)
    folder = tmp_path_factory.mktemp("store")
    for above in (folder, *folder.parents[:2]):
        above.chmod(0o777)
    api = namespace.core
    size = {"storage": "1Gi"}
    name = f"{namespace.name}-{os.getpid()}"  # processes of one run have a folder each, as they have an Airflow each
    api.create_persistent_volume(
        {
            "metadata": {"name": name},
            "spec": {
                "capacity": size,
                "accessModes": ["ReadWriteMany"],
                "storageClassName": "",
                "hostPath": {"path": str(folder)},
                "claimRef": {"namespace": namespace.name, "name": name},
            },
        }
    )
    asked = {"accessModes": ["ReadWriteMany"], "storageClassName": "", "resources": {"requests": size}}
    claim = {"metadata": {"name": name}, "spec": asked | {"volumeName": name}}
    api.create_namespaced_persistent_volume_claim(namespace.name, claim)
    with alone(run_folder()):
        if all(each.metadata.name != "db" for each in api.list_namespaced_secret(namespace.name).items):
            secret = {"metadata": {"name": "db"}, "stringData": {"password": PASSWORD}}
            api.create_namespaced_secret(namespace.name, secret)
    yield Volume(name, folder)
    api.delete_persistent_volume(name)


@pytest.fixture(scope="module")
def s3_options(
    s3: ObjectStore, namespace: Namespace, podman_of_the_machine: Podman, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, str]]:
    """What is said of an S3 store when compiling: where it is, the pods' secret for it, the image that moves files.

    This process has the same in its environment, as Airflow's worker.
    """
    import fsspec

    keys = {
        "AWS_ACCESS_KEY_ID": s3.access_key,
        "AWS_SECRET_ACCESS_KEY": s3.secret_key,
        "AWS_DEFAULT_REGION": "us-east-1",
        "FSSPEC_S3_ENDPOINT_URL": f"http://{s3.endpoint}",
    }
    with alone(run_folder()):
        image = runner_image(podman_of_the_machine)
        archive = tmp_path_factory.mktemp("image") / "runner.tar"
        podman_of_the_machine("save", "--output", str(archive), image)
        script("load", str(archive)).check_returncode()
        archive.unlink()
        if all(each.metadata.name != "store" for each in namespace.core.list_namespaced_secret(namespace.name).items):
            namespace.core.create_namespaced_secret(namespace.name, {"metadata": {"name": "store"}, "stringData": keys})
    with pytest.MonkeyPatch.context() as patch:
        for name, value in keys.items():
            patch.setenv(name, value)
        # fsspec reads its variables when it is imported.
        patch.setitem(fsspec.config.conf, "s3", {"endpoint_url": keys["FSSPEC_S3_ENDPOINT_URL"]})
        yield {"artifacts": f"s3://{s3.bucket}/{namespace.name}", "store_secret": "store", "runner": image}


@pytest.fixture(scope="module")
def dags(
    airflow_home: Path, namespace: Namespace, store: Volume, request: pytest.FixtureRequest
) -> Mapping[str, DAG | Exception]:
    """The DAGs of the selected workflows, those with files in S3 by names that say so."""
    chosen = [item for item in request.session.items if item.path == Path(__file__)]
    on_volume = {"claim": store.claim, "artifacts": str(store.folder)}
    texts = {}
    for item in chosen:
        name, in_s3 = item.callspec.params["name"], "s3_options" in item.fixturenames
        options = request.getfixturevalue("s3_options") if in_s3 else on_volume
        key = f"{name}-in-s3" if in_s3 else name
        texts[key] = couler.compile(CASES[name][0], to="airflow", namespace=namespace.name, dag_id=key, **options).text
    return harness.load(texts, airflow_home)


@pytest.fixture(autouse=True)
def connected(cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Airflow's connection to the cluster, with an image that is there for the container that hands on results."""
    monkeypatch.setenv("COULER_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COULER_SECRET_DB_PASSWORD", PASSWORD)
    monkeypatch.setenv("KUBECONFIG", str(cluster.kubeconfig))
    extra = {"kube_config_path": str(cluster.kubeconfig), "xcom_sidecar_container_image": IMAGE}
    monkeypatch.setenv("AIRFLOW_CONN_KUBERNETES_DEFAULT", json.dumps({"conn_type": "kubernetes", "extra": extra}))


@pytest.mark.parametrize("name", CASES)
def test_pods_end_as_the_workflow_ends_here(name: str, dags: Mapping[str, DAG | Exception], podman: Podman) -> None:
    compare(name, dags[name])


@pytest.mark.parametrize("name", FILES)
def test_files_go_from_pod_to_pod_through_s3(
    name: str, dags: Mapping[str, DAG | Exception], podman: Podman, s3: ObjectStore, s3_options: dict[str, str]
) -> None:
    compare(name, dags[f"{name}-in-s3"])
    prefix = f"{s3_options['artifacts'].removeprefix(f's3://{s3.bucket}/')}/{name}-in-s3/"
    kept = s3.client().list_objects_v2(Bucket=s3.bucket, Prefix=prefix)["Contents"]
    assert len(kept) == FILES[name]


def compare(name: str, dag: DAG | Exception) -> None:
    """Run the DAG on the cluster and the workflow here, and compare how they end."""
    workflow, parameters = CASES[name]
    if isinstance(dag, Exception):
        raise dag
    harness.look_every_second(dag)
    on_cluster = harness.run(dag, workflow.build(), parameters)
    here = run_here(workflow.build(), parameters)
    assert (on_cluster.status, on_cluster.tasks) == (here.status, here.tasks), on_cluster.messages
    if here.status == "Succeeded":
        assert on_cluster.outputs == here.outputs
    attempts = {task: count for task, count in here.attempts.items() if count}  # a fan-out or graph has none itself
    assert {task: on_cluster.attempts.get(task, 1) for task in attempts} == attempts


def run_here(workflow: Workflow, parameters: Mapping[str, Any]) -> Result:
    """The workflow in containers on this machine."""
    run = couler.run(workflow, parameters=parameters, runtime="podman", network="none")
    return result_of(run.refresh(), workflow, lambda place: content(Path(place)))
