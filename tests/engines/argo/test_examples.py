"""Argo's own examples: on a real controller, and here, with the same states and outputs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from couler_py.backends.argo import load
from couler_py.backends.imported import for_engine
from couler_py.backends.local.api import execute
from couler_py.store.records import RunRecord, TaskRecord
from tests.cluster.argo import Namespace
from tests.cluster.fixtures import ObjectStore
from tests.engines.argo.example_documents import RARELY, RUN, prepared
from tests.engines.argo.imported import made, states, tasks

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(900)]

DATA = Path(os.environ.get("COULER_REFERENCE_DATA", Path(__file__).resolve().parents[4] / "shared" / "data"))
EXAMPLES = DATA / "argo" / "examples"
CONFIG = """
[local.config_maps.simple-parameters]
msg = "hello world"
"""
CONFIG_MAP = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "simple-parameters", "labels": {"workflows.argoproj.io/configmap-type": "Parameter"}},
    "data": {"msg": "hello world"},
}
AT_ONCE = 4 * (os.cpu_count() or 1)
"""An example runs one to three pods at a time, and more than the machine can start only wait for each other."""
CHOSEN = [pytest.param(name, marks=[pytest.mark.soak] if name in RARELY else []) for name in RUN]

if not EXAMPLES.is_dir():
    pytest.skip(f"the reference data is not in {DATA}", allow_module_level=True)


@pytest.fixture(scope="module")
def ended(namespace: Namespace, s3: ObjectStore, request: pytest.FixtureRequest) -> Mapping[str, Any]:
    """How the selected examples ended on the cluster."""
    chosen = [item.callspec.params["name"] for item in request.session.items if item.path == Path(__file__)]
    namespace.submit(CONFIG_MAP)
    return namespace.run_all({name: [prepared(EXAMPLES, name)] for name in chosen}, at_once=AT_ONCE, seconds=840)


@pytest.mark.parametrize("name", CHOSEN)
def test_example(name: str, ended: Mapping[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there = ended[name]
    if isinstance(there, Exception):
        raise there
    here = run_here(prepared(EXAMPLES, name), tmp_path, monkeypatch)
    assert here.status == {"Error": "Failed"}.get(there["status"]["phase"], there["status"]["phase"])
    found, own = states(there), of_tasks(here)
    assert {path: task.state for path, task in own.items()} == {path: found.get(path, "Blocked") for path in own}
    assert found.keys() <= own.keys()
    assert values(own) == values_there(there, own)
    assert {key: value for key, value in here.outputs.items() if key in made(there)} == made(there)


def run_here(document: dict[str, Any], folder: Path, monkeypatch: pytest.MonkeyPatch) -> RunRecord:
    home = folder / "home"
    home.mkdir()
    (home / "config.toml").write_text(CONFIG)
    monkeypatch.setenv("COULER_HOME", str(home))
    return execute(for_engine(load(yaml.safe_dump(document)), "local")[0])


def of_tasks(record: RunRecord) -> dict[str, TaskRecord]:
    """The tasks of a run without its own entrypoint, hooks, handlers and earlier attempts of graphs."""
    return {path: task for path, task in record.tasks.items() if path and not set("!~") & set(path)}


def values(own: Mapping[str, TaskRecord]) -> dict[str, dict[str, str]]:
    """The parameters that tasks left, without those of whole fan-outs, which Argo keeps nowhere."""
    return {
        path: dict(task.result.parameters)
        for path, task in own.items()
        if task.kind != "map" and task.result is not None and task.state != "Skipped" and task.result.parameters
    }


def values_there(workflow: dict[str, Any], own: Mapping[str, TaskRecord]) -> dict[str, dict[str, str]]:
    found = {}
    for path, node in tasks(workflow).items():
        given = node.get("outputs", {})
        said = {each["name"]: each["value"] for each in given.get("parameters", []) if "value" in each}
        if "result" in given:
            said["result"] = given["result"]
        if said and path in own:
            found[path] = said
    return found
