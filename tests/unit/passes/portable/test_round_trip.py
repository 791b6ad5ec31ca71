"""Generated workflows of ours, and the same through Argo's YAML: one result."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings

from couler_py.backends.argo import dump, load
from couler_py.backends.argo.emit.document import OUTPUTS
from couler_py.backends.imported import for_engine
from couler_py.backends.local.api import execute
from couler_py.ir import Workflow, wire
from couler_py.store.records import RunRecord
from tests.strategies import podless_workflows

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
