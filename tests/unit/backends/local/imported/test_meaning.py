"""Documents in Argo's words, run here: the states and outputs that Argo gives (tests/engines/argo/test_imported.py)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from couler_py.backends.argo import load
from couler_py.backends.imported import for_engine
from couler_py.backends.local.api import execute
from couler_py.ir.model import Document
from tests.conformance.imported import Imported
from tests.conformance.imported.cases import CASES


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COULER_HOME", str(tmp_path / "home"))


def imported(document: dict[str, Any]) -> Document:
    """A document as a file of it is read."""
    return load(yaml.safe_dump(document))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_case(case: Imported) -> None:
    workflow, findings = for_engine(imported(case.document), "local")
    record = execute(workflow)
    tasks = {path: task for path, task in record.tasks.items() if path.rpartition("/")[2] != "x" and path}
    shown = {path: task.state for path, task in tasks.items() if path in case.tasks or not set("/!") & set(path)}
    assert shown == case.tasks
    says = {path: task.result.parameters.get("o") for path, task in tasks.items() if task.result and path in case.says}
    assert says == case.says
    assert (record.status, record.outputs, findings) == (case.status, case.outputs, ())


def test_a_document_that_nobody_has_translated_is() -> None:
    document = imported(CASES[0].document)
    assert execute(document).tasks["c"].state == "Succeeded"  # by our rules it would be Blocked
    assert execute(document.workflow).tasks["c"].state == "Succeeded"
