"""Every case on a real Airflow, through the text of its DAG file, the steps as local processes."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

import couler_py as couler
from couler_py.ir import DiagnosticError
from tests.airflow import harness
from tests.conformance.case import Case, Never, NotYet
from tests.conformance.cases import PACKED
from tests.conformance.harness import check, check_refused
from tests.conformance.suite import WRITTEN

if TYPE_CHECKING:
    from airflow.sdk import DAG


@pytest.fixture(scope="module")
def dags(
    airflow_home: Path, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Mapping[str, DAG | DiagnosticError]:
    """The DAGs of the selected cases; of one that was refused, the error."""
    chosen = [item.callspec.params["case"] for item in request.session.items if item.path == Path(__file__)]
    store = str(tmp_path_factory.mktemp("store"))
    texts: dict[str, str] = {}
    refused: dict[str, DiagnosticError] = {}
    for case in chosen:
        if isinstance(case.refused.get("airflow"), NotYet | Never):
            continue
        workflow = msgspec.structs.replace(case.build(), name=case.name)
        try:
            texts[case.name] = couler.compile(workflow, to="airflow", operators="local", artifacts=store).text
        except DiagnosticError as error:
            refused[case.name] = error
    return harness.load(texts, airflow_home) | refused


@pytest.fixture(autouse=True)
def no_naps(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Airflow's loop for one DAG sleeps a second whenever only states have to be passed on."""
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    return


@pytest.mark.parametrize("case", [*PACKED, *WRITTEN], ids=str)
def test_case(case: Case, request: pytest.FixtureRequest) -> None:
    if check_refused(case, "airflow"):
        return
    found = request.getfixturevalue("dags")[case.name]
    if isinstance(found, Exception):
        raise found
    check(case, harness.run(found, case.build(), case.parameters))
