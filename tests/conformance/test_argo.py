"""Every case on a real Argo controller, through emitted YAML text, all side by side."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.cluster.argo import Namespace
from tests.cluster.fixtures import Cluster, ObjectStore
from tests.conformance.case import Case, Never, NotYet
from tests.conformance.harness import Result, check, check_refused, run_argo
from tests.conformance.suite import PODLESS, WRITTEN

AT_ONCE = 4 * (os.cpu_count() or 1)
"""A case runs one or two pods at a time."""

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(1200)]


@pytest.fixture(scope="module")
def ended(
    cluster: Cluster, namespace: Namespace, s3: ObjectStore, request: pytest.FixtureRequest
) -> Mapping[str, Result | Exception]:
    """How the selected cases ended: those without pods first, then, in the order of the suite, the others."""
    chosen = [item.callspec.params["case"] for item in request.session.items if item.path == Path(__file__)]
    possible = [case for case in chosen if not isinstance(case.refused.get("argo"), NotYet | Never)]
    podless = [case for case in possible if case in PODLESS]
    written = [case for case in possible if case not in PODLESS]
    return run_argo(podless, namespace, s3, cluster, at_once=50, seconds=240) | run_argo(
        written, namespace, s3, cluster, at_once=AT_ONCE, seconds=900
    )


@pytest.mark.parametrize("case", [*PODLESS, *WRITTEN], ids=str)
def test_case(case: Case, request: pytest.FixtureRequest) -> None:
    if check_refused(case, "argo"):
        return
    found = request.getfixturevalue("ended")[case.name]
    if isinstance(found, Exception):
        raise found
    check(case, found)
