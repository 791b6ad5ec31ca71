"""The form for Docker without a daemon: what Airflow's operator asks for is run.

What stands in for the daemon creates, starts and removes containers as `docker.APIClient` does: they are processes,
each with a folder /tmp of its own.
"""

from __future__ import annotations

import io
import os
import re
import subprocess
import tarfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

import couler_py as couler
from tests.airflow import harness
from tests.conformance.case import Case
from tests.conformance.harness import check
from tests.conformance.suite import WRITTEN

if TYPE_CHECKING:
    from airflow.sdk import DAG

NAMES = (
    "value-plain-types",
    "text-from-literal-to-function-to-function",
    "text-from-literal-to-environment",
    "container-values-in-files",
    "container-exit-code-that-is-not-zero",
    "container-dollars-and-braces-reach-the-shell",
    "container-file-through-a-container",
    "artifact-folder-from-step-to-step",
    "map-with-members",
    "retry-while-a-condition-holds",
)
CASES = [case for case in WRITTEN if case.name in NAMES]
assert len(CASES) == len(NAMES)
TMP = re.compile(r"(?<![\w.])/tmp(?=/|\b)")


class Daemon:
    """What a Docker daemon does for the operator."""

    def __init__(self, folder: Path, store: str):
        self.folder = folder
        self.store = store
        self.containers: dict[str, dict[str, Any]] = {}

    def images(self, name: str) -> list[str]:
        return [name]

    def create_host_config(self, **settings: Any) -> dict[str, Any]:
        return {"HostConfig": settings}

    def create_container(self, **asked: Any) -> dict[str, str]:
        name = f"container-{len(list(self.folder.iterdir()))}"
        (self.folder / name / "tmp").mkdir(parents=True)
        self.containers[name] = asked
        return {"Id": name}

    def attach(self, **settings: Any) -> list[bytes]:
        return []

    def start(self, container: str) -> None:
        asked = self.containers[container]
        variables = {name: self.inside(container, value) for name, value in asked["environment"].items()}
        root = self.folder / container
        variables |= {"COULER_OUTPUTS": f"{root}/tmp/couler/outputs", "COULER_INPUTS": f"{root}/tmp/couler/inputs"}
        words = [self.inside(container, each) for each in [*asked["entrypoint"], *asked["command"]]]
        done = subprocess.run(words, env={**os.environ, **variables}, cwd=root, check=False)
        asked["code"] = done.returncode

    def inside(self, container: str, text: str) -> str:
        # The folder that is mounted is the same everywhere.
        return self.store.join(TMP.sub(f"{self.folder / container}/tmp", part) for part in text.split(self.store))

    def wait(self, container: str) -> dict[str, int]:
        return {"StatusCode": self.containers[container]["code"]}

    def inspect_container(self, container: str) -> dict[str, Any]:
        return {"State": {"ExitCode": self.containers[container]["code"]}}

    def get_archive(self, container: str, path: str) -> tuple[list[bytes], dict[str, Any]]:
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w") as archive:
            archive.add(f"{self.folder}/{container}{path}", Path(path).name)
        return [packed.getvalue()], {}

    def remove_container(self, container: str, force: bool) -> None:
        del self.containers[container]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tmp_path_factory.mktemp("store"))


@pytest.fixture(scope="module")
def dags(airflow_home: Path, store: str, request: pytest.FixtureRequest) -> Mapping[str, DAG | Exception]:
    items = [item for item in request.session.items if item.path == Path(__file__) and hasattr(item, "callspec")]
    chosen = [item.callspec.params["case"] for item in items]
    texts = {}
    for case in chosen:
        workflow = msgspec.structs.replace(case.build(), name=case.name)
        texts[case.name] = couler.compile(workflow, to="airflow", operators="docker", artifacts=store).text
    return harness.load(texts, airflow_home)


@pytest.fixture(autouse=True)
def daemon(tmp_path: Path, store: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Daemon]:
    from airflow.providers.docker.operators.docker import DockerOperator

    made = Daemon(tmp_path, store)
    monkeypatch.setattr(DockerOperator, "cli", made)
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    yield made
    assert made.containers == {}, "every container is removed"


@pytest.mark.parametrize("case", CASES, ids=str)
def test_case(case: Case, dags: Mapping[str, DAG | Exception]) -> None:
    found = dags[case.name]
    if isinstance(found, Exception):
        raise found
    check(case, harness.run(found, case.build(), case.parameters))


def test_the_worker_brings_and_keeps_files_of_named_stores(airflow_home: Path, store: str) -> None:
    """The last of the steps reads a file that is in the shared folder, and one that the first has put into a store."""

    def copy(name: str, place: couler.S3 | None) -> Any:
        made = couler.file_at("/tmp/made", storage=place)
        words = ["sh", "-c", f'cat "$0" "$1" > /tmp/made; echo {name} >> /tmp/made']
        texts = [couler.argument("a"), couler.argument("b")]
        return couler.container("alpine:3", words, texts, inputs={"a": Path, "b": Path}, outputs={"made": made})

    named = couler.Workflow("named-stores")
    with named:
        raw = couler.S3("raw")
        first = copy("first", couler.S3("put/made")).named("first")(a=raw, b=raw)
        second = copy("second", None).named("second")(a=raw, b=first)
        copy("third", couler.S3("put/last")).named("third")(a=first, b=second)
    workflow = named.build()
    (Path(store) / "raw").write_text("raw\n")
    text = couler.compile(named, to="airflow", operators="docker", artifacts=store).text
    ended = harness.run(harness.load({"named_stores": text}, airflow_home)["named_stores"], workflow, {})
    assert ended.status == "Succeeded"
    made = "raw\nraw\nfirst\n"
    assert (Path(store) / "put/made").read_text() == made
    assert (Path(store) / "put/last").read_text() == f"{made}raw\n{made}second\nthird\n"
    assert not list(Path(store).glob("couler-*")), "what was brought is gone with the container"
