"""What holds of `check` for any workflow."""

from __future__ import annotations

import msgspec
from hypothesis import given

from couler_py.ir import Workflow, from_json, to_json
from couler_py.ir.codes import explanations
from couler_py.passes.check import check
from tests.strategies import podless_workflows, random_ir, workflows


@given(workflows())
def test_generated_workflows_are_valid(workflow: Workflow) -> None:
    assert [one.render() for one in check(workflow) if one.severity == "error"] == []


@given(podless_workflows())
def test_generated_podless_workflows_are_valid(workflow: Workflow) -> None:
    assert [one.render() for one in check(workflow) if one.severity == "error"] == []


def test_workflows_by_seed_are_valid_and_the_same_each_time() -> None:
    for seed in range(200):
        workflow = random_ir(seed)
        assert workflow == random_ir(seed)
        assert [one.render() for one in check(workflow) if one.severity == "error"] == []


@given(workflows())
def test_a_workflow_read_from_json_gets_the_same_findings(workflow: Workflow) -> None:
    assert check(from_json(to_json(workflow))) == check(workflow)


@given(workflows())
def test_a_mutilated_workflow_is_reported_never_a_crash(workflow: Workflow) -> None:
    """Without its first template, or with another's name on it, a workflow is wrong, and `check` says so."""
    first, *rest = workflow.templates
    for templates in (tuple(rest), (msgspec.structs.replace(first, name="another"), *rest), (first, first, *rest)):
        broken = msgspec.structs.replace(workflow, templates=templates)
        findings = check(broken)
        assert any(one.severity == "error" for one in findings)
        assert {one.code for one in findings} <= explanations().keys()
