"""Every case on a real Argo controller, through emitted YAML text, all side by side."""

from __future__ import annotations

import os
from collections.abc import Mapping

import pytest

from tests.cluster.argo import Namespace
from tests.cluster.fixtures import ObjectStore
from tests.conformance.case import Case
from tests.conformance.harness import Result, check, check_refused, run_argo
from tests.conformance.suite import PODLESS, WRITTEN

AT_ONCE = 4 * (os.cpu_count() or 1)
"""A case runs one or two pods at a time."""

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def ended(namespace: Namespace, s3: ObjectStore) -> Mapping[str, Result]:
    def possible(cases: list[Case]) -> list[Case]:
        return [case for case in cases if "argo" not in case.refused]

    found = run_argo(possible(PODLESS), namespace, s3, at_once=50, seconds=120)
    return found | run_argo(possible(WRITTEN), namespace, s3, at_once=AT_ONCE, seconds=500)


@pytest.mark.parametrize("case", [*PODLESS, *WRITTEN], ids=str)
def test_case(case: Case, request: pytest.FixtureRequest) -> None:
    if not check_refused(case, "argo"):
        check(case, request.getfixturevalue("ended")[case.name], "argo")
