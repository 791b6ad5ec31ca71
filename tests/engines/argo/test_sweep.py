"""A sweep on the real controller tries what it tries here, round after round."""

from __future__ import annotations

import csv
from pathlib import Path

import optuna
import pytest
from msgspec.structs import replace

import couler_py as couler
from couler_py.api import run
from couler_py.backends.argo.client import ArgoClient
from couler_py.ir.model import Function, Template, Workflow
from couler_py.ir.pod import EnvVar, PodSettings, Volume, VolumeMount
from couler_py.ir.templated import Templated
from tests.cluster.argo import Namespace
from tests.cluster.fixtures import Cluster, ObjectStore

pytestmark = [pytest.mark.cluster, pytest.mark.soak]


@couler.step
def loss(x: float, kernel: str, gamma: float = 0.0) -> float:
    return x * x + gamma


@couler.workflow
def tuned():
    space = {
        "kernel": ["linear", "rbf"],
        "x": couler.space.real(-5, 5),
        "gamma": couler.space.real(1e-4, 10, log=True).only(kernel="rbf"),
    }
    return couler.sweep(loss, space, "loss", "minimize", trials=4, parallel=2, seed=3)


def with_packages(workflow: Workflow) -> Workflow:
    """The workflow with Optuna and what it needs from this machine's folder: pods have no network to install it."""
    volume = Volume("packages", Templated({"hostPath": {"path": str(Path(optuna.__file__).parents[1])}}))

    def changed(template: Template) -> Template:
        if not isinstance(template.body, Function) or not template.body.packages:
            return template
        mount = VolumeMount("packages", "/packages", read_only=True)
        body = replace(template.body, packages=(), env=(EnvVar("PYTHONPATH", "/packages"),), mounts=(mount,))
        return replace(template, body=body, pod=PodSettings(volumes=(volume,)))

    return replace(workflow, templates=tuple(map(changed, workflow.templates)))


def table(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.read_text().splitlines()))


def test_the_same_trials_are_made_there(
    cluster: Cluster, namespace: Namespace, s3: ObjectStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if cluster.machine is None:
        pytest.skip("needs a cluster on this machine, whose packages its pods read")
    monkeypatch.setenv("COULER_HOME", str(tmp_path / "home"))
    here = run(tuned).outputs
    client = ArgoClient(namespace=namespace.name, kubeconfig=cluster.kubeconfig, server=cluster.argo_server or "")
    there = run(with_packages(couler.build(tuned)), submitter=client, wait=True)
    assert there.status == "Succeeded"
    assert (there.outputs["best"], there.outputs["value"]) == (here["best"], here["value"])
    [[kept]] = client.download(there.id, tmp_path / "files", ["sweep-summary/table"]).values()
    assert table(kept) == table(Path(here["table"]))
