"""What steps import on the cluster besides the standard library: the user's own modules, and packages."""

from __future__ import annotations

import base64
import io
import random
import zipfile
from pathlib import Path

import pytest

import couler_py as couler
from couler_py.api import run
from couler_py.backends.argo.client import ArgoClient
from couler_py.cli.load import load
from tests.cluster.argo import Namespace
from tests.cluster.fixtures import Cluster, ObjectStore

pytestmark = pytest.mark.cluster

FLOW = """
import couler_py as couler

@couler.step(include=["shop"])
def price(amount: int) -> str:
    from shop.prices import total

    return total(amount) + " " + couler.included("shop/note.txt").read_text()[:5]

@couler.workflow
def buying():
    return price(3)
"""


@pytest.fixture(scope="module")
def client(cluster: Cluster, namespace: Namespace) -> ArgoClient:
    return ArgoClient(namespace=namespace.name, kubeconfig=cluster.kubeconfig)


def shop(folder: Path, note: bytes) -> Path:
    (folder / "shop").mkdir()
    (folder / "shop" / "__init__.py").write_text("")
    (folder / "shop" / "prices.py").write_text("def total(amount):\n    return f'{amount * 7} euros'\n")
    (folder / "shop" / "note.txt").write_bytes(note)
    (folder / "flow.py").write_text(FLOW)
    return folder / "flow.py"


def test_modules_travel_in_a_config_map(client: ArgoClient, namespace: Namespace, tmp_path: Path) -> None:
    made = load(str(shop(tmp_path, b"hello"))).workflow
    assert [each["kind"] for each in couler.compile(made).documents] == ["ConfigMap", "Workflow"]
    ended = run(made, submitter=client, wait=True)
    assert ended.outputs == {"result": "21 euros hello"}
    # Submitted again, the ConfigMap is the one that is there.
    assert run(made, submitter=client).id != ended.id


def test_modules_too_large_for_a_config_map_travel_through_the_repository(
    client: ArgoClient, s3: ObjectStore, tmp_path: Path
) -> None:
    noise = b"large" + bytes(33 + value % 90 for value in random.Random(1).randbytes(1_200_000))
    made = load(str(shop(tmp_path, noise))).workflow
    assert [each["kind"] for each in couler.compile(made).documents] == ["Workflow"]
    assert run(made, submitter=client, wait=True).outputs == {"result": "21 euros large"}
    kept = s3.client().list_objects_v2(Bucket=s3.bucket, Prefix="couler/include/")["Contents"]
    assert [each["Size"] > 700_000 for each in kept] == [True]


def wheel() -> bytes:
    """A package without anything but a version."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr("tiny_of_tests.py", "VERSION = '1.2'\n")
        archive.writestr(
            "tiny_of_tests-1.2.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny-of-tests\nVersion: 1.2\n"
        )
        archive.writestr(
            "tiny_of_tests-1.2.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr("tiny_of_tests-1.2.dist-info/RECORD", "")
    return held.getvalue()


# The test image has pip only as the wheel that Debian makes environments with, and no network.
PIP = {
    "PYTHONPATH": "/usr/share/python-wheels/pip-23.0.1-py3-none-any.whl",
    "PIP_NO_INDEX": "1",
    "PIP_FIND_LINKS": "/wheels",
}
WHEELS = {"/wheels": couler.config_map_volume("wheels", "wheels")}


@couler.step(packages=["tiny-of-tests==1.2"], env=PIP, volumes=WHEELS)
def version() -> str:
    from tiny_of_tests import VERSION

    return VERSION


@couler.step(packages=["tiny-of-tests==9"], env=PIP, volumes=WHEELS)
def too_new() -> str:
    return "never"


@couler.workflow
def installing():
    return version()


@couler.workflow
def not_to_be_found():
    return too_new()


def test_packages_are_installed_before_the_step_runs(client: ArgoClient, namespace: Namespace) -> None:
    data = {"tiny_of_tests-1.2-py3-none-any.whl": base64.b64encode(wheel()).decode()}
    namespace.submit({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "wheels"}, "binaryData": data})
    good = run(installing, submitter=client)
    bad = run(not_to_be_found, submitter=client)
    assert good.wait().outputs == {"result": "1.2"}
    assert bad.wait().status == "Failed"
    text = "\n".join(line.text for line in bad.logs())
    assert "the packages tiny-of-tests==9 could not be installed" in text
