"""What the linter says of structure, held against the real API server: each mutant is sent to it as it stands."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client

from couler_py.backends.argo.lint import lint, lint_documents
from couler_py.backends.argo.lint.kinds import is_ours
from couler_py.backends.yaml_reader import load_all
from tests.cluster.argo import GROUP, PLURALS, VERSION, Namespace
from tests.unit.backends.argo.lint.mutants import CRON, GRAPH, MUTANTS, WORKFLOW, Mutant
from tests.unit.backends.argo.lint.test_structure import REFUSED

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(900)]

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


def test_damage_at_random_is_refused_by_both_or_by_neither(reference_data: Path, ask: Ask) -> None:
    """What the CRDs leave open and Argo reads all the same (`withItems`, templates in tasks) is the linter's alone."""
    sound = [
        document
        for path in sorted((reference_data / "argo" / "examples").rglob("*.yaml"))
        if path.name not in {*REFUSED, *NEWER}
        for document in load_all(path.read_text())
        if is_ours(document)
    ]
    chance = random.Random(4)
    wrong: list[tuple[object, ...]] = []
    for _ in range(600):
        document, path = damaged(chance.choice(sound), chance)
        refusal = ask(json.dumps(document), document["kind"])
        errors = [finding for _, finding in lint_documents([document]) if finding.severity == "error"]
        of_structure = [each.message for each in errors if each.code < "CLR440"]
        if refusal and not errors:
            wrong.append((path, refusal))
        if of_structure and not refusal and not {"inline", "withItems"}.intersection(path):
            wrong.append((path, of_structure))
    assert wrong == []


def damaged(sound: Any, chance: random.Random) -> tuple[Any, tuple[str | int, ...]]:
    """A copy with one thing in it taken away, renamed, made twice, or of another value; and where."""
    document = copy.deepcopy(sound)
    document["metadata"].pop("namespace", None)
    path = chance.choice([each for each in places(document) if len(each) > 1 and each[0] in ("metadata", "spec")])
    parent = document
    for step in path[:-1]:
        parent = parent[step]
    last: Any = path[-1]
    others = [3, -1, True, None, "x", "a b/{{c}}!", [], {}, 1.5, ["a"], {"a": 1}]
    what = chance.choice(["gone", "renamed", "twice", "other", "other"])
    if what == "gone":
        del parent[last]
    elif what == "renamed" and isinstance(parent, dict):
        parent[f"{last}x"] = parent.pop(last)
    elif what == "twice" and isinstance(parent, list):
        parent.append(copy.deepcopy(parent[last]))
    else:
        parent[last] = chance.choice(others)
    return document, path


def places(value: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, inner in items:
        yield from places(inner, (*path, step))
