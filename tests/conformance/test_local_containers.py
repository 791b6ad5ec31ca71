"""Cases on the local engine with steps in containers: a few of each kind every day, all of them when there is time."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cluster.containers import Podman
from tests.conformance.case import Case
from tests.conformance.cases import artifacts, containers, hostile_strings, maps, retries, runs, values
from tests.conformance.harness import check, check_refused, run_local
from tests.conformance.suite import WRITTEN

pytestmark = pytest.mark.cluster

ROOMS = (retries, values, hostile_strings, containers, maps, artifacts, runs)
EVERYDAY = {case.name for room in ROOMS for case in room.CASES[:1]} | {case.name for case in containers.CASES}
"""The first of each subject, and all about containers. Cases without a step of their own say nothing here."""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COULER_HOME", str(tmp_path / "home"))


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, marks=[] if case.name in EVERYDAY else [pytest.mark.soak]) for case in WRITTEN],
    ids=str,
)
def test_case(case: Case, podman: Podman) -> None:
    if not check_refused(case, "local"):
        check(case, run_local(case, runtime="podman", network="none"))
