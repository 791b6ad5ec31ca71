"""Whatever has the structure of a document of Argo's goes in and out unchanged; whatever hasn't is refused in words."""

from __future__ import annotations

import copy
import random
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from couler_py import ir
from couler_py.backends import yaml
from couler_py.backends.argo.document import dump, load, read, set_aside, write
from couler_py.backends.argo.document.natives import same
from couler_py.backends.argo.schema import schema
from couler_py.ir.diagnostics import DiagnosticError
from tests.strategies import podless_workflows, random_ir, workflows
from tests.strategies.dice import Seeded
from tests.strategies.manifests import broken, documents, random_document

JSON = dict[str, Any]
SLOW = settings(max_examples=60, suppress_health_check=list(HealthCheck))


def holds(data: JSON) -> None:
    """A document is written as it was read, as text too, and read again as the same IR."""
    before = copy.deepcopy(data)
    document = read(data)
    assert same(data, before)
    assert same(write(document), before)
    text = dump(document)
    assert same(yaml.load(text), before)
    assert load(text) == document


def read_or_codes(data: Any) -> ir.Document | set[str]:
    """The document of the data, or the codes by which it is refused."""
    try:
        return read(data)
    except DiagnosticError as error:
        return {each.code for each in error.diagnostics}


@given(documents())
@SLOW
def test_a_document_is_written_as_it_was_read(data: JSON) -> None:
    holds(data)


@pytest.mark.parametrize("start", range(0, 400, 100))
def test_hundreds_more_by_seed(start: int) -> None:
    for seed in range(start, start + 100):
        holds(random_document(seed))


def test_the_generated_documents_reach_every_field_of_the_schema_that_templates_have() -> None:
    node = schema("Workflow")["properties"]["spec"]["properties"]["templates"]["items"]
    met = {
        key
        for seed in range(400)
        for spec in [random_document(seed)["spec"]]
        for template in spec.get("workflowSpec", spec).get("templates", [])
        for key in template
    }
    assert node["properties"].keys() - met == set()


def test_most_generated_documents_have_the_structure_of_the_schema() -> None:
    validators = {kind: jsonschema_rs.validator_for(schema(kind)) for kind in ("Workflow", "CronWorkflow")}
    drawn = [random_document(seed) for seed in range(200)]
    kinds = {
        error.kind.name
        for data in drawn
        if data["kind"] in validators
        for error in validators[data["kind"]].iter_errors(data)
    }
    assert "type" not in kinds
    assert "additionalProperties" not in kinds


@given(st.integers(0, 2**32))
@SLOW
def test_a_document_with_a_value_of_another_type_is_written_as_it_was_or_refused_in_words(seed: int) -> None:
    data = broken(Seeded(random.Random(seed)), random_document(seed))
    found = read_or_codes(copy.deepcopy(data))
    if isinstance(found, set):
        assert found <= {"CLR490", "CLR491"}
    else:
        assert same(write(found), set_aside(data)[0])
        assert read(write(found)) == found


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner)))
@SLOW
def test_any_other_data_is_refused_in_words(data: Any) -> None:
    for given_data in (data, {"kind": data}, {"kind": "Workflow", "spec": data, "apiVersion": "v1"}):
        with pytest.raises(DiagnosticError) as caught:
            read(given_data)
        assert [each.code for each in caught.value.diagnostics] == ["CLR490"]


@given(st.text(max_size=60))
@SLOW
def test_any_text_is_read_or_refused_with_its_place(text: str) -> None:
    with pytest.raises((DiagnosticError, yaml.YamlError)) as caught:
        load(text)
    if isinstance(caught.value, DiagnosticError):
        assert all(each.source is not None for each in caught.value.diagnostics)


# ---- what we compile ourselves


def comes_back(workflow: ir.Workflow) -> bool:
    """Whether a workflow compiles; its documents then come in, and go out as the same text."""
    try:
        text = dump(workflow)
    except DiagnosticError:
        return False
    assert dump(load(text)) == text
    return True


@given(workflows())
@settings(max_examples=30, suppress_health_check=list(HealthCheck))
def test_the_documents_of_any_workflow_come_back_as_the_same_text(workflow: ir.Workflow) -> None:
    comes_back(workflow)


@given(podless_workflows())
@settings(max_examples=20, suppress_health_check=list(HealthCheck))
def test_the_documents_of_graphs_come_back_as_the_same_text(workflow: ir.Workflow) -> None:
    assert comes_back(workflow)


def test_most_of_the_generated_workflows_compile() -> None:
    assert sum(comes_back(random_ir(seed)) for seed in range(20)) > 10
