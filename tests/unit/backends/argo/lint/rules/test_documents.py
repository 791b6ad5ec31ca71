"""Documents beside each other, sound documents, and broken ones by the thousand."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
import yaml

from couler_py.backends.argo.lint import lint, lint_documents
from couler_py.backends.argo.schema import PLURALS
from tests.strategies.mutations import JSON, Mutant, broken, kinds
from tests.strategies.sound_workflows import sound

LIBRARIES = ("WorkflowTemplate", "ClusterWorkflowTemplate")
LIBRARY = yaml.safe_load("""
apiVersion: argoproj.io/v1alpha1
kind: WorkflowTemplate
metadata: {name: lib}
spec:
  arguments: {parameters: [{name: p, value: q}]}
  templates:
  - name: t
    inputs: {parameters: [{name: x}]}
    container: {image: busybox, args: ["{{inputs.parameters.x}}"]}
    outputs: {parameters: [{name: o, valueFrom: {path: /o}}]}
""")


def examples(reference_data: Path) -> list[tuple[str, JSON]]:
    """Argo's own examples, each with the name of its file."""
    folder = reference_data / "argo" / "examples"
    return [
        (str(path.relative_to(folder)), document)
        for path in sorted(folder.rglob("*.yaml"))
        for document in yaml.load_all(path.read_text(), Loader=yaml.CSafeLoader)
        if document and document["kind"] in PLURALS
    ]


def calling(step: JSON, **spec: Any) -> list[str]:
    """What the linter says of a workflow with this step, beside LIBRARY."""
    steps = [[{"name": "a", **step}], [{"name": "b", "template": "e", "arguments": read("o")}]]
    echo = {"name": "e", "inputs": {"parameters": [{"name": "x"}]}, "container": {"image": "busybox"}}
    document = {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Workflow",
        "metadata": {"name": "it"},
        "spec": {"entrypoint": "main", "templates": [{"name": "main", "steps": steps}, echo], **spec},
    }
    return [f"{each.code} {each.message}" for _, each in lint_documents([document], templates=[LIBRARY])]


def read(name: str) -> JSON:
    return {"parameters": [{"name": "x", "value": "{{steps.a.outputs.parameters." + name + "}}"}]}


def given(name: str) -> JSON:
    return {"parameters": [{"name": name, "value": "1"}]}


def test_a_template_of_another_document_is_known_by_its_inputs_and_outputs() -> None:
    reference = {"name": "lib", "template": "t"}
    assert calling({"templateRef": reference, "arguments": given("x")}) == []
    assert calling({"templateRef": reference}) == [
        "CLR453 the step 'a' doesn't supply the input 'x' of the template 't'"
    ]
    assert calling({"templateRef": {"name": "lib", "template": "u"}, "arguments": given("x")}) == [
        "CLR445 the WorkflowTemplate 'lib' has no template 'u', to which the step 'a' refers"
    ]


def test_of_a_template_that_is_not_known_nothing_is_said_but_that() -> None:
    assert calling({"templateRef": {"name": "other", "template": "t"}}) == [
        "CLR445 the WorkflowTemplate 'other' that the step 'a' refers to isn't among the documents"
    ]


def test_a_workflow_by_reference_takes_entrypoint_and_arguments_from_the_other() -> None:
    document = {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Workflow",
        "metadata": {"name": "it"},
        "spec": {"workflowTemplateRef": {"name": "lib"}, "entrypoint": "u"},
    }
    said = [each.message for _, each in lint_documents([document], templates=[LIBRARY])]
    assert said == ["the entrypoint 'u' is none of the templates"]
    document["spec"] = {"workflowTemplateRef": {"name": "lib"}}
    said = [each.message for _, each in lint_documents([document], templates=[LIBRARY])]
    assert said == ["the workflow has no entrypoint"]


def test_a_template_that_nothing_calls() -> None:
    document = sound()["an-enum"]
    (finding, *_) = [each for _, each in lint_documents([document]) if each.code == "CLR448"]
    assert (finding.severity, finding.message) == ("warning", "nothing calls the template 'echo'")


@pytest.mark.parametrize("name", sound())
def test_sound_documents_have_no_errors(name: str) -> None:
    found = [each for _, each in lint_documents([sound()[name]]) if each.severity == "error"]
    assert found == []


def test_argos_own_examples_have_no_errors(reference_data: Path) -> None:
    documents = examples(reference_data)
    libraries = [document for _, document in documents if document["kind"] in LIBRARIES]
    found = {
        (name, each.code, each.message)
        for name, document in documents
        for _, each in lint_documents([document], templates=libraries)
        if each.severity == "error" and 440 <= int(each.code[3:]) < 490
    }
    assert found == set()


@pytest.mark.parametrize(
    ("of_each", "count"), [(4, 500), pytest.param(15, 2000, marks=pytest.mark.soak)], ids=["few", "many"]
)
def test_every_broken_document_has_an_error_on_the_right_line(reference_data: Path, of_each: int, count: int) -> None:
    documents = examples(reference_data)
    libraries = [document for _, document in documents if document["kind"] in LIBRARIES]
    mutants = broken(documents, of_each)
    assert len(mutants) >= count
    assert len({mutant.kind for _, mutant in mutants}) == len(kinds()) >= 140
    missed: dict[str, list[str]] = defaultdict(list)
    for name, mutant in mutants:
        text = yaml.dump(mutant.document, sort_keys=False, Dumper=yaml.CSafeDumper)
        found = [each for each in lint(text, templates=libraries) if each.severity == "error"]
        if not any(each.source and each.source.line in lines(text, mutant) for each in found):
            missed[mutant.kind].append(f"{name} {mutant.path}: {[str(each.source) for each in found]}")
    assert missed == {}


def lines(text: str, mutant: Mutant) -> set[int]:
    """The lines of the key and of the value that the mutant's path leads to, or of what is around a missing one."""
    node = yaml.compose(text, Loader=yaml.CSafeLoader)
    found = {1}
    for step in mutant.path:
        key = None
        if isinstance(node, yaml.MappingNode):
            pair = next((each for each in node.value if each[0].value == str(step)), None)
            if pair is None:
                break
            key, node = pair
        else:
            node = node.value[step]
        end = node.end_mark.line if isinstance(node, yaml.ScalarNode) else node.start_mark.line
        found = {*range(node.start_mark.line + 1, end + 2), *([key.start_mark.line + 1] if key else [])}
    return found
