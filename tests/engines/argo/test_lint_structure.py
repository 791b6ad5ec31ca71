"""What the linter says of structure, held against the real API server: each mutant is sent to it as it stands."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client

from couler_py.backends.argo.lint import lint
from couler_py.backends.argo.lint.kinds import is_ours
from couler_py.backends.yaml_reader import load_all
from tests.cluster.argo import GROUP, PLURALS, VERSION, Namespace
from tests.unit.backends.argo.lint.mutants import CRON, GRAPH, MUTANTS, WORKFLOW, Mutant
from tests.unit.backends.argo.lint.test_structure import REFUSED

pytestmark = pytest.mark.cluster

Ask = Callable[[str, str], str]


@pytest.fixture
def ask(namespace: Namespace) -> Ask:
    """From a text and a kind to the server's reason to refuse it, empty where it takes it; nothing is created."""
    api = namespace.api
    headers = {"Content-Type": "application/yaml", "Accept": "application/json"}
    headers |= {each["key"]: each["value"] for each in api.configuration.auth_settings().values()}

    def asked(text: str, kind: str) -> str:
        scope = "" if kind == "ClusterWorkflowTemplate" else f"/namespaces/{namespace.name}"
        url = (
            f"{api.configuration.host}/apis/{GROUP}/{VERSION}{scope}/{PLURALS[kind]}?dryRun=All&fieldValidation=Strict"
        )
        answer = api.rest_client.pool_manager.request("POST", url, body=text.encode(), headers=headers)
        body: dict[str, Any] = json.loads(answer.data)
        if answer.status in (401, 403):
            raise client.ApiException(answer.status, body["message"])
        # What is wrong is said before that there is one of this name.
        return "" if answer.status < 300 or body["reason"] == "AlreadyExists" else str(body["message"])

    return asked


def kind_of(text: str) -> str:
    """The kind that the text means, which says where it is sent; the mutants of Workflows have it wrong at times."""
    return next((kind for kind in ("CronWorkflow", "WorkflowTemplate") if f"kind: {kind}" in text), "Workflow")


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_the_server_refuses_what_the_linter_does(mutant: Mutant, ask: Ask) -> None:
    refusal = ask(mutant.text, kind_of(mutant.text))
    assert bool(refusal) == mutant.server, refusal or f"the server takes it: {mutant.why}"


@pytest.mark.parametrize("text", [WORKFLOW, CRON, GRAPH])
def test_the_server_takes_what_the_mutants_were_made_of(text: str, ask: Ask) -> None:
    assert ask(text, kind_of(text)) == ""


NEWER = {
    "pod-resources-template-override.yaml": "podResources",
    "resource-claims-template-override.yaml": "resourceClaims",
    "workflow-level-executor-plugin.yaml": "executorPlugins",
}
"""Examples with fields of Argo 4.1, which the linter knows and the cluster's 4.0 refuses, with one of the fields."""


def test_the_linter_refuses_of_argos_examples_what_the_server_does(reference_data: Path, ask: Ask) -> None:
    refused = {}
    for path in sorted((reference_data / "argo" / "examples").rglob("*.yaml")):
        for document in load_all(path.read_text()):
            if not is_ours(document):
                continue
            elsewhere: Any = document
            elsewhere["metadata"].pop("namespace", None)  # it goes to that of the tests
            if reason := ask(json.dumps(elsewhere, ensure_ascii=False), elsewhere["kind"]):
                refused[path.name] = reason
    assert sorted(refused) == sorted([*REFUSED, *NEWER])
    assert [name for name, field in NEWER.items() if f'unknown field "spec.{field}"' not in refused[name]] == []


def test_names_are_taken_as_the_server_takes_them(ask: Ask) -> None:
    prefixes = ("a-", "a--", "a.-", "a.", "-", "a.b-", "A-", "a_", "a" * 80 + "-", "1", "a b")
    for prefix in prefixes:
        text = WORKFLOW.replace("hello-", json.dumps(prefix))
        found = [each for each in lint(text) if each.code == "CLR428"]
        assert bool(found) == bool(ask(text, "Workflow")), prefix


def test_null_is_taken_as_the_server_takes_it(ask: Ask) -> None:
    places = (
        ("  entrypoint", "  parallelism:\n  entrypoint"),
        ("  entrypoint", "  nodeSelector: {a: null}\n  entrypoint"),
        ("[echo]", "[echo, null]"),
        ("name: city", "name:"),
        ("metadata:", "metadata:\n  labels: {a: null}"),
        ("metadata:", "metadata:\n  labels:"),
        ("    container", "    suspend:\n    container"),
        ("  - name: main", "  -\n  - name: main"),
    )
    for old, new in places:
        text = WORKFLOW.replace(old, new)
        found = [each for each in lint(text) if each.code in ("CLR423", "CLR424", "CLR427")]
        assert bool(found) == bool(ask(text, "Workflow")), new
