"""Templates that stand inline in tasks: the CRDs leave them open, and Argo's own lint looks into them."""

from __future__ import annotations

from typing import Any

import pytest

from couler_py.backends.argo.lint import lint_documents

JSON = dict[str, Any]
POD: JSON = {"image": "busybox", "command": ["true"]}


def errors(inline: JSON, **spec: Any) -> list[tuple[str, str, str]]:
    document = {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Workflow",
        "metadata": {"generateName": "inline-"},
        "spec": {
            "entrypoint": "main",
            "templates": [{"name": "main", "steps": [[{"name": "a", "inline": inline}]]}],
            **spec,
        },
    }
    found = [finding for _, finding in lint_documents([document])]
    return [(each.code, ".".join(map(str, each.path[7:])), each.message) for each in found if each.severity == "error"]


REFUSED: dict[str, tuple[JSON, tuple[str, str, str]]] = {
    "two kinds": (
        {"container": POD, "script": {**POD, "source": "x"}},
        ("CLR427", "script", "template must have at most one template type"),
    ),
    "a timeout of steps": (
        {"timeout": "3s", "steps": [[{"name": "b", "inline": {"suspend": {}}}]]},
        ("CLR427", "timeout", "timeout cannot be applied to steps or dag templates"),
    ),
    "two ways to wait": (
        {
            "dag": {
                "tasks": [
                    {"name": "b", "inline": {"suspend": {}}},
                    {"name": "c", "inline": {"suspend": {}}, "depends": "b", "dependencies": ["b"]},
                ]
            }
        },
        ("CLR427", "dag.tasks.1.dependencies", "cannot use both 'depends' and 'dependencies'"),
    ),
}


@pytest.mark.parametrize(("inline", "finding"), REFUSED.values(), ids=REFUSED.keys())
def test_the_rules_of_templates_hold_inline(inline: JSON, finding: tuple[str, str, str]) -> None:
    assert errors(inline) == [finding]


def test_two_mounts_at_one_place_are_refused() -> None:
    mounts = [{"name": "v", "mountPath": "/v"}, {"name": "v", "mountPath": "/v"}]
    found = errors({"container": {**POD, "volumeMounts": mounts}}, volumes=[{"name": "v", "emptyDir": {}}])
    assert [(code, path) for code, path, _ in found] == [("CLR431", "container.volumeMounts.1.mountPath")]


def test_the_first_of_two_places_of_an_artifact_is_taken() -> None:
    artifact = {"name": "q", "path": "/q", "raw": {"data": "x"}, "s3": {"key": "x"}}
    assert errors({"container": POD, "inputs": {"artifacts": [artifact]}}) == []


def test_a_variable_may_be_there_twice() -> None:
    twice = [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]
    assert errors({"container": {**POD, "env": twice}}) == []
