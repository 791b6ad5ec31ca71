"""Kubernetes objects as steps, without a cluster: what is written, and what conditions mean."""

from __future__ import annotations

import ast
import json
from typing import Any

import pytest

import couler_py as couler
from couler_py.backends.airflow import helpers
from couler_py.backends.airflow.resources import NotASelectorError, requirements
from couler_py.ir import DiagnosticError

JOB = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"generateName": "pi-"}, "spec": {"parallelism": 2}}
OBJECT = {"status": {"succeeded": 3, "phase": "Ready", "done": True, "conditions": [{"type": "Complete"}]}}


def holds(text: str) -> bool:
    """Whether all requirements of a condition hold, by the definitions that DAG files get."""
    found: dict[str, Any] = {"json": json}
    for each in helpers.wanted("local", ["holds"]).helpers:
        exec(each.text, found)
    return all(found["holds"](OBJECT, *each) for each in requirements(text))


@pytest.mark.parametrize(
    "text",
    [
        "status.succeeded > 2",
        "status.succeeded < 4, status.phase == Ready",
        "status.phase = Ready",
        "status.phase in (Ready, Done)",
        "status.phase notin (Failed)",
        "status.phase != Failed",
        "status.missing != Failed",
        "status.done == true",
        "status.conditions.0.type == Complete",
        "status.phase",
        "!status.missing",
    ],
)
def test_a_condition_that_holds(text: str) -> None:
    assert holds(text)


@pytest.mark.parametrize(
    "text",
    [
        "status.succeeded > 3",
        "status.phase > 1",
        "status.missing == Ready",
        "status.missing",
        "!status.phase",
        "status.phase notin (Ready)",
        "status.succeeded > 2, status.phase == Failed",
    ],
)
def test_a_condition_that_does_not_hold(text: str) -> None:
    assert not holds(text)


def test_what_is_no_condition() -> None:
    with pytest.raises(NotASelectorError, match="no requirement of a label selector"):
        requirements("status.phase =~ 'R.*'")


def compiled(**options: Any) -> str:
    workflow = couler.Workflow("flow")
    with workflow:
        couler.resource(JOB, **options).named("job")()
    text = couler.compile(workflow, to="airflow").text
    ast.parse(text)
    return text


def test_an_object_is_a_step_with_its_conditions() -> None:
    found = compiled(
        success_condition="status.succeeded > 0",
        failure_condition="status.failed > 0",
        outputs={"n": ("{.status.succeeded}", int)},
    )
    assert 'job = resource("job", RESOURCE)' in found
    for each in (
        '"action": "create",',
        '"succeeds": [(["status", "succeeded"], ">", ["0"])],',
        '"fails": [(["status", "failed"], ">", ["0"])],',
        '"fields": {"n": ["status", "succeeded"]},',
        '"outputs": {"n": int},',
    ):
        assert each in found


def test_what_the_operator_does_not_do_is_said() -> None:
    with pytest.raises(DiagnosticError) as refused:
        compiled(flags=["--force"], outputs={"x": "{.items[*].name}"}, success_condition="a =~ b")
    assert [each.code for each in refused.value.diagnostics] == ["CLR515"] * 3
