"""Every case on a real Argo controller, through emitted YAML text, all side by side."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.cluster.argo import Namespace
from tests.cluster.fixtures import ObjectStore
from tests.conformance.case import Case
from tests.conformance.harness import Result, check, check_refused, run_argo
from tests.conformance.suite import ALL

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def ended(namespace: Namespace, s3: ObjectStore) -> Mapping[str, Result]:
    return run_argo([case for case in ALL if "argo" not in case.refused], namespace, s3)


@pytest.mark.parametrize("case", ALL, ids=str)
def test_case(case: Case, request: pytest.FixtureRequest) -> None:
    if not check_refused(case, "argo"):
        check(case, request.getfixturevalue("ended")[case.name])
