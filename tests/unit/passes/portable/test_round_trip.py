"""Generated workflows of ours, and the same through Argo's YAML: one result."""

from __future__ import annotations

import json
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings

from couler_py.backends.argo import dump, load
from couler_py.backends.argo.emit.document import OUTPUTS
from couler_py.backends.imported import for_engine
from couler_py.backends.local.api import execute
from couler_py.ir import Workflow, wire
from couler_py.ir.diagnostics import DiagnosticError
from couler_py.ir.graph import templates_by_name
from couler_py.ir.model import Suspend, Template
from couler_py.ir.pod import Container
from couler_py.store.records import RunRecord
from tests.strategies import podless_workflows, random_ir

FACTS: dict[str, Any] = {"name": "run-1", "scheduled_time": 1_700_000_000.0}
"""What steps may give out of the run itself: the same in both."""

REFUSED = re.compile(r"the input '.*': .* is not ")
"""What a run says whose input was given a value of another type."""

PLAIN = {"type": "scalar", "name": "str"}


def states(record: RunRecord) -> dict[str, str]:
    """The states of the tasks of the entrypoint."""
    return {path: task.state for path, task in record.tasks.items() if path and not set("/[#!~") & set(path)}


@given(podless_workflows())
@settings(max_examples=20, deadline=None)
def test_a_workflow_means_the_same_through_argos_yaml(workflow: Workflow) -> None:
    with TemporaryDirectory() as folder:
        ours = execute(workflow, home=Path(folder))
        document = load(dump(workflow))
        theirs = execute(for_engine(document, "local")[0], home=Path(folder))
    assert theirs.status == ours.status
    known = states(theirs)
    assert {path: known.get(path) for path in states(ours)} == states(ours)
    types = json.loads(dict(document.workflow.annotations).get(OUTPUTS, "{}"))
    outputs = {name: wire.decode(types.get(name, PLAIN), text) for name, text in theirs.outputs.items()}
    assert outputs == (ours.outputs if ours.status == "Succeeded" else {})


def endless(template: Template) -> bool:
    """Whether it waits for a person or a while, or runs the command `yes`, which writes until the disk is full."""
    body = template.body
    if isinstance(body, Suspend):
        return body.duration != 0
    return isinstance(body, Container) and body.command == ("sh", "-c") and body.args[:1] == ("yes",)


def same(workflow: Workflow) -> None:
    """Whether a workflow comes to the same through Argo's YAML, as far as both engines take it and nobody is asked.

    A condition that has no value fails the task that asks here, and the step that computes it on Argo: so the states of
    tasks are compared where the run succeeded. What `any` holds is looked at by every template's input here, on Argo
    by Python steps alone: where such an input fails the run, it may go on there.
    """
    if any(map(endless, workflow.templates)):
        return
    with TemporaryDirectory() as folder:
        try:
            text = dump(workflow)
            ours = execute(workflow, home=Path(folder) / "ours", **FACTS)
            document = load(text)
            theirs = execute(for_engine(document, "local")[0], home=Path(folder) / "theirs", **FACTS)
        except (DiagnosticError, ValueError):  # a parameter without a value, a ConfigMap or secret that isn't here
            return
    if REFUSED.search(ours.message):
        return
    assert theirs.status == ours.status, theirs.message
    if ours.status == "Succeeded":
        known = states(theirs)
        assert {path: known[path] for path, state in states(ours).items() if path in known} == {
            path: state for path, state in states(ours).items() if path in known
        }
        types = json.loads(dict(document.workflow.annotations).get(OUTPUTS, "{}"))
        files = {artifact.name for artifact in entry(workflow).outputs.artifacts}
        values = {name: text for name, text in theirs.outputs.items() if name not in files}
        assert {name: wire.decode(types.get(name, PLAIN), text) for name, text in values.items()} == {
            name: value for name, value in ours.outputs.items() if name not in files
        }


def entry(workflow: Workflow) -> Template:
    return templates_by_name(workflow)[workflow.entrypoint]


@pytest.mark.parametrize("seed", range(6))
def test_any_workflow_comes_to_the_same(seed: int) -> None:
    same(msgspec.structs.replace(random_ir(seed), schedule=None))


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(100, 500))
def test_any_workflow_comes_to_the_same_by_the_hundred(seed: int) -> None:
    same(msgspec.structs.replace(random_ir(seed), schedule=None))
