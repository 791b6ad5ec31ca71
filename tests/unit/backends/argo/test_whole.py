"""A document with what it refers to as a whole, whatever it leaves out."""

from __future__ import annotations

from typing import Any

import pytest

import couler_py as couler
from couler_py.backends.argo.document import read
from couler_py.backends.argo.whole import merged, whole
from couler_py.ir.diagnostics import CoulerError

JSON = dict[str, Any]
API = {"apiVersion": "argoproj.io/v1alpha1", "metadata": {"name": "w"}}


@pytest.mark.parametrize(
    "given",
    [
        {"kind": "Workflow"},
        {"kind": "Workflow", "spec": None},
        {"kind": "CronWorkflow", "spec": {"schedules": ["* * * * *"]}},
        {"kind": "CronWorkflow", "spec": {"workflowSpec": None}},
        {"kind": "CronWorkflow"},
    ],
)
def test_a_document_without_a_spec_refers_to_nothing(given: JSON) -> None:
    document = read(API | given)
    assert whole(document) == document


def test_a_template_to_run_that_says_nothing_adds_nothing() -> None:
    document = read(API | {"kind": "Workflow", "spec": {"workflowTemplateRef": {"name": "w"}, "priority": 1}})
    found = whole(document, [read(API | {"kind": "WorkflowTemplate"})])
    assert found == read(API | {"kind": "Workflow", "spec": {"priority": 1}})


def test_defaults_of_no_templates() -> None:
    spec = {"templateDefaults": {"parallelism": 1}, "templates": None}
    assert whole(read(API | {"kind": "Workflow", "spec": spec})).workflow.templates == ()


def test_entries_without_a_name_are_like_no_other() -> None:
    given, over = {"env": [{"value": "1"}, None, {"name": "A"}]}, {"env": [{"value": "2"}, None, {"name": "B"}]}
    assert merged(given, over)["env"] == [*over["env"], *given["env"]]


def test_what_is_written_wrongly_is_a_finding_for_other_engines() -> None:
    task = {"name": "a", "template": "t", "hooks": {"exit": {"templateRef": {}}}}
    spec = {
        "entrypoint": "main",
        "templates": [
            {"name": "main", "dag": {"tasks": [task]}},
            {"name": "t", "suspend": {}, "retryStrategy": {"backoff": {"duration": 1.5}}},
        ],
    }
    with pytest.raises(CoulerError):
        couler.compile(read(API | {"kind": "Workflow", "spec": spec}), to="local")
