"""Small documents in Argo's words on a real controller: what the local engine makes of them is what Argo does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.cluster.argo import Namespace
from tests.conformance.imported import Imported
from tests.conformance.imported.cases import CASES
from tests.engines.argo.imported import made, says, states

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(200)]


@pytest.fixture(scope="module")
def ended(namespace: Namespace) -> Mapping[str, Any]:
    return namespace.run_all({case.name: [case.document] for case in CASES}, at_once=50, seconds=120)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_case(case: Imported, ended: Mapping[str, Any]) -> None:
    workflow = ended[case.name]
    if isinstance(workflow, Exception):
        raise workflow
    found = states(workflow)
    assert {path: found.get(path, "Blocked") for path in case.tasks} == case.tasks
    assert {path: says(workflow)[path].get("o") for path in case.says} == case.says
    assert ("Failed" if workflow["status"]["phase"] == "Error" else workflow["status"]["phase"]) == case.status
    assert made(workflow) == case.outputs
