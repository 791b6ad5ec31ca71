"""What the linter says of meaning, held to the real servers, which are asked about every broken and sound document.

Where both let a document through and the linter doesn't, its kind of mistake is one of LATE, and the controller fails
on the workflow that stands for it there.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from couler_py.backends.argo.lint import Finding, lint_documents
from tests.cluster.argo import PLURALS, Namespace
from tests.cluster.fixtures import Cluster
from tests.engines.argo.late_failures import FOR_EVER, LATE
from tests.engines.argo.oracle import Oracle, Said
from tests.strategies.mutations import JSON, broken
from tests.strategies.sound_workflows import sound

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(900)]

LIBRARIES = ("WorkflowTemplate", "ClusterWorkflowTemplate")
MODULE = "github.com/argoproj/argo-workflows/v4@v4.0.7"
NEWER = ("podResources", "resourceClaims", "executorPlugins")
"""Fields of the schema that 4.0.7 doesn't have."""


@pytest.fixture(scope="module")
def examples(reference_data: Path) -> list[tuple[str, JSON]]:
    folder = reference_data / "argo" / "examples"
    return [
        (str(path.relative_to(folder)), document)
        for path in sorted(folder.rglob("*.yaml"))
        for document in documents_of(path.read_text())
    ]


@pytest.fixture(scope="module")
def libraries(examples: list[tuple[str, JSON]]) -> list[JSON]:
    """The template objects of the examples, each name once."""
    found = {(each["kind"], each["metadata"]["name"]): each for _, each in examples if each["kind"] in LIBRARIES}
    return list(found.values())


@pytest.fixture(scope="module")
def oracle(cluster: Cluster, namespace: Namespace, libraries: list[JSON]) -> Iterator[Oracle]:
    if cluster.argo_server is None:
        pytest.fail("COULER_TEST_KUBECONFIG needs COULER_TEST_ARGO_SERVER too", pytrace=False)
    asked = Oracle(cluster.argo_server, namespace)
    made = asked.know(libraries)
    yield asked
    asked.forget(made)


def documents_of(text: str) -> list[JSON]:
    """The documents of Argo's kinds in a text, as JSON; [] where it isn't YAML."""
    try:
        found = list(yaml.load_all(text, Loader=yaml.CSafeLoader))
    except yaml.YAMLError:
        return []
    ours = [each for each in found if isinstance(each, dict) and each.get("kind") in PLURALS]
    return [json.loads(json.dumps(each, default=lambda time: time.isoformat())) for each in ours]


def found_in(document: JSON, libraries: list[JSON]) -> list[Finding]:
    return [each for _, each in lint_documents([document], templates=libraries)]


def all_found(documents: list[JSON], libraries: list[JSON]) -> dict[int, list[Finding]]:
    """The findings by the number of their document; the libraries are read once for all of them."""
    found: dict[int, list[Finding]] = defaultdict(list)
    for index, finding in lint_documents(documents, templates=libraries):
        found[index].append(finding)
    return found


def errors(findings: list[Finding]) -> list[str]:
    return [f"{each.code} {each.message}" for each in findings if each.severity == "error"]


def excused(said: Said, findings: list[Finding]) -> bool:
    """Whether a refusal is about a template of another document that isn't known here, which a note says."""
    missing = "not found" in said.argo or "nil pointer" in said.argo  # Argo 4.0.7 breaks over some of them
    return missing and any(each.code == "CLR445" for each in findings)


def test_broken_documents(oracle: Oracle, examples: list[tuple[str, JSON]], libraries: list[JSON]) -> None:
    mutants = broken(examples, of_each=15)
    assert len(mutants) >= 2000
    documents = [each.document for _, each in mutants]
    findings = all_found(documents, libraries)
    let_through, strict = [], set()
    for index, ((name, mutant), said) in enumerate(zip(mutants, oracle.ask(documents), strict=True)):
        ours = errors(findings[index])
        if said.refused and not ours:
            let_through.append(f"{mutant.kind} of {name} at {mutant.path}: {said}")
        elif ours and not said.refused:
            strict.add(mutant.kind)
    assert let_through == []
    assert strict == set(LATE)


def test_sound_documents(oracle: Oracle, examples: list[tuple[str, JSON]], libraries: list[JSON]) -> None:
    documents = [*examples, *sound().items()]
    for (name, document), said in zip(documents, oracle.ask([each for _, each in documents]), strict=True):
        ours = errors(found_in(document, libraries))
        newer = any(field in said.kubernetes for field in NEWER)
        assert (bool(ours), said.refused and not newer) in ((False, False), (True, True)), f"{name}: {ours}, {said}"


def test_argos_own_fixtures(oracle: Oracle, examples: list[tuple[str, JSON]], libraries: list[JSON]) -> None:
    asked = [document for _, document in examples]
    documents = [each for each in fixtures() if each[1] not in asked]
    if not documents:
        pytest.skip(f"the source of Argo ({MODULE}) isn't in Go's module cache")
    differing = []
    for (name, document), said in zip(documents, oracle.ask([each for _, each in documents]), strict=True):
        findings = found_in(document, libraries)
        ours = errors(findings)
        if bool(ours) != said.refused and not excused(said, findings) and not is_known(name, ours, said):
            differing.append(f"{name}: {ours}, {said}")
    assert differing == []


def is_known(name: str, ours: list[str], said: Said) -> bool:
    """Differences that are no mistakes of the linter."""
    # A `withParam` that is no list (see LATE); pods and claims that Kubernetes refuses when their step has its turn.
    late = all(each.startswith(("CLR465", "CLR432", "CLR479", "CLR483")) for each in ours)
    namespace = all(each.startswith("CLR428") for each in ours)  # the fixture's namespace, which isn't used here
    owner = "ownerReferences" in said.kubernetes  # written by servers
    return owner if said.refused else late or namespace


@cache
def fixtures() -> list[tuple[str, JSON]]:
    """The manifests in the tests and examples of Argo's own source, where Go has it on this machine."""
    go = shutil.which("go")
    if go is None:
        return []
    cache_folder = subprocess.run([go, "env", "GOMODCACHE"], capture_output=True, text=True, check=True).stdout.strip()
    root = Path(cache_folder) / MODULE
    found: list[tuple[str, JSON]] = []
    for path in sorted((*root.glob("examples/**/*.yaml"), *root.glob("test/e2e/**/*.yaml"))):
        found += [(str(path.relative_to(root)), each) for each in documents_of(path.read_text())]
    for path in sorted(root.glob("workflow/**/*_test.go")):
        for index, text in enumerate(re.findall(r"`([^`]*apiVersion[^`]*)`", path.read_text())):
            found += [(f"{path.relative_to(root)}#{index}", each) for each in documents_of(text)]
    return found


@pytest.mark.parametrize("kind", LATE)
def test_what_fails_late_is_refused_here_and_let_through_there(kind: str, oracle: Oracle) -> None:
    (said,) = oracle.ask([LATE[kind]])
    assert not said.refused
    assert errors(found_in(LATE[kind], [])) != []


def test_what_fails_late_fails(namespace: Namespace) -> None:
    waiting = namespace.submit(*(LATE[kind] for kind in FOR_EVER))
    ending = {kind: [document] for kind, document in LATE.items() if kind not in FOR_EVER}
    ended: dict[str, Any] = namespace.run_all(ending, at_once=12, seconds=120)
    phases = {kind: each if isinstance(each, Exception) else each["status"]["phase"] for kind, each in ended.items()}
    assert {kind: phase for kind, phase in phases.items() if phase not in ("Failed", "Error")} == {}
    for name in waiting:  # they began before the others, which have all ended
        assert namespace.get("Workflow", name)["status"]["phase"] == "Running"
        namespace.custom.delete_namespaced_custom_object("argoproj.io", "v1alpha1", namespace.name, "workflows", name)
