"""Every case on the local engine through Argo's YAML: what is emitted means here what Argo makes of it."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

import couler_py as couler
from couler_py.backends.argo import load
from couler_py.backends.argo.emit.document import OUTPUTS, PARAMETERS
from couler_py.backends.base import RunStatus
from couler_py.ir import Workflow, wire
from couler_py.ir.graph import templates_by_name
from tests.conformance.case import Case
from tests.conformance.harness import check_refused, comparable, content
from tests.conformance.suite import ALL

PLAIN = {"type": "scalar", "name": "str"}
EXCEPTIONS: dict[str, str] = {}
"""Cases that can't pass this way, by name, and why."""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COULER_HOME", str(tmp_path / "home"))


@pytest.mark.parametrize("case", [case for case in ALL if case.name not in EXCEPTIONS], ids=str)
def test_case(case: Case) -> None:
    if check_refused(case, "argo"):
        return
    workflow = case.build()
    bundle = couler.compile(workflow, to="argo")
    document = load(bundle.text)
    added = document.workflow.engines.get("argo", {}).get("workflowMetadata", {})
    annotations = dict(document.workflow.annotations) | added.get("annotations", {})
    types = msgspec.json.decode(annotations.get(PARAMETERS, "{}"))
    given = {name: wire.encode(types.get(name, PLAIN), value) for name, value in case.parameters.items()}
    status = couler.run(document, parameters=given, runtime="process").refresh()
    assert status.status == case.status, status.message
    own = {task.name: task.status for task in status.tasks}
    named = {name: state for name, state in case.tasks.items() if not set("/[#") & set(name) and name in own}
    assert {name: own[name] for name in named} == named
    if case.status == "Succeeded":
        assert comparable(decoded(status, workflow, msgspec.json.decode(annotations.get(OUTPUTS, "{}")))) == comparable(
            case.outputs
        )


def decoded(status: RunStatus, workflow: Workflow, types: dict[str, object]) -> dict[str, object]:
    """The outputs of a run as the values that the program means."""
    files = {artifact.name for artifact in templates_by_name(workflow)[workflow.entrypoint].outputs.artifacts}
    return {
        name: content(Path(value)) if name in files else wire.decode(types.get(name, PLAIN), value)
        for name, value in status.outputs.items()
    }
