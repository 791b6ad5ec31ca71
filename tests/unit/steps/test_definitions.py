"""The manifests of launchers and of the steps of operators, held against the operators' own definitions.

What is kept of those in tests/data/crds knows no other fields than our manifests may have, so none is unknown.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

import couler_py as couler
from couler_py.backends.airflow.resources import requirements
from couler_py.kubernetes.jobs import LAUNCHERS
from couler_py.steps import katib, spark
from tests.unit.steps.test_jobs import AIM, TRIAL, made
from tests.unit.steps.test_launchers import manifest

DEFINITIONS = {path.stem: path for path in sorted((Path(__file__).parents[2] / "data" / "crds").glob("*.json"))}
JOBS: tuple[dict[str, Any], ...] = (
    {"max_restarts": 2, "cpu": 2, "memory": "1Gi"},
    {"gpu": 1, "timeout": 60, "node_selector": {"pool": "a"}, "queue": "team-a", "service_account": "trainer"},
)
ROLES: dict[str, dict[str, Any]] = {
    "tfjob": {
        "chief": {"cpu": 1, "restart": "ExitCode"},
        "worker": {"nodes": 2},
        "ps": {"nodes": 2, "image": "ps:1"},
        "evaluator": {"command": ["judge"]},
    },
    "pytorchjob": {"master": {"memory": "4Gi"}, "worker": {"nodes": 2, "image": "w:1", "restart": "Always"}},
    "mpijob": {"worker": {"nodes": 3}, "launcher": {"image": "l:1", "cpu": 1, "restart": "OnFailure"}},
}


def definition(name: str, object_: dict[str, Any]) -> Any:
    """The schema of an object, of which group, version and kind are as the definition has them."""
    found = json.loads(DEFINITIONS[name].read_text(encoding="utf-8"))
    group, version = object_["apiVersion"].split("/")
    assert (found["group"], found["kind"]) == (group, object_["kind"])
    return found["versions"][version]


def wrong(name: str, object_: dict[str, Any]) -> list[str]:
    return [error.message for error in jsonschema_rs.validator_for(definition(name, object_)).iter_errors(object_)]


def has(schema: Any, path: list[str]) -> bool:
    """Whether a definition knows the field that a condition names."""
    for step in path:
        inner = schema.get("items") if step.isdigit() else schema.get("properties", {}).get(step)
        schema = inner if inner is not None else schema.get("additionalProperties")
        if not isinstance(schema, dict):
            return False
    return True


@pytest.mark.parametrize("name", [name for name in DEFINITIONS if name in LAUNCHERS])
def test_an_operator_knows_every_field_of_the_object_and_of_its_conditions(name: str) -> None:
    launcher = LAUNCHERS[name]
    more: list[dict[str, Any]] = [{"elastic": (1, 4)}] if launcher.elastic else []
    if launcher.apart:
        more.append({"roles": ROLES[name], "clean_pods": "All", "nodes": 1})
    processes = 1 if "tensorflow" in launcher.frameworks else 2
    for given in (*JOBS, *more):
        job = {"nodes": 3, "processes": processes, **given}
        object_ = manifest(launcher=name, framework=launcher.frameworks[0], **job)
        assert wrong(name, object_) == []
        for condition in (launcher.succeeds, launcher.fails):
            assert all(has(definition(name, object_), path) for path, _, _ in requirements(condition))


def test_katib_knows_every_field_of_a_search() -> None:
    settings: Any = [{"name": "lr", "range": [0.01, 0.05], "log": True}]
    body = made(lambda: katib.run(TRIAL, settings, {**AIM, "goal": 0.9}))
    assert wrong("experiment", body.manifest.value) == []
    schema = definition("experiment", body.manifest.value)
    for condition in (body.success_condition, body.failure_condition):
        assert all(has(schema, path) for path, _, _ in requirements(condition))


def test_spark_knows_every_field_of_an_application() -> None:
    body = made(
        lambda: spark.submit(
            "s:1",
            "local:///a.py",
            ["--n", 3],
            conf={"spark.ui.enabled": "no"},
            env={"TOKEN": couler.secret("s", "TOKEN"), "N": 1},
            claims={"/data": "pvc"},
            node_selector={"pool": "a"},
            labels={"team": "a"},
            service_account="spark",
        )
    )
    assert wrong("sparkapplication", body.manifest.value) == []


def test_a_field_that_no_operator_has_is_found() -> None:
    object_ = manifest(launcher="tfjob", framework="tensorflow")
    object_["spec"]["cleanPodPolicy"] = "All"  # where it was before v1
    assert wrong("tfjob", object_) != []
