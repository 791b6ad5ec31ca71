"""Every case on the local engine."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conformance.case import Case
from tests.conformance.harness import check, check_refused, run_local
from tests.conformance.suite import ALL


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COULER_HOME", str(tmp_path / "home"))


@pytest.mark.parametrize("case", ALL, ids=str)
def test_case(case: Case) -> None:
    if not check_refused(case, "local"):
        check(case, run_local(case))
