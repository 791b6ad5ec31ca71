"""Cases on the local engine with a store of artifacts: those about files in a folder, and on a real server by S3.

What has to do with files goes to the server every day, all cases when there is time.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conformance.case import Case
from tests.conformance.cases import artifacts, maps, retries, runs, values
from tests.conformance.harness import check, check_refused, run_local
from tests.conformance.suite import ALL

EVERYDAY = {case.name for case in artifacts.CASES} | {
    case.name for room in (maps, retries, runs, values) for case in room.CASES[:1]
}
"""All about files, and the first of some other subjects."""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COULER_HOME", str(tmp_path / "home"))


@pytest.mark.parametrize("case", artifacts.CASES, ids=str)
def test_case_with_a_folder(case: Case, tmp_path: Path) -> None:
    if not check_refused(case, "local"):
        check(case, run_local(case, artifacts=str(tmp_path / "store")))


@pytest.mark.cluster
@pytest.mark.parametrize(
    "case",
    [pytest.param(case, marks=[] if case.name in EVERYDAY else [pytest.mark.soak]) for case in ALL],
    ids=str,
)
def test_case_by_s3(case: Case, swift_url: str) -> None:
    if not check_refused(case, "local"):
        check(case, run_local(case, artifacts=swift_url))
