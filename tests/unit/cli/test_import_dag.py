"""`couler import DAG.py --from airflow`, as far as it goes without Airflow: `tests/airflow` goes on from there."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from couler_py.backends.airflow.importing.reading import read
from couler_py.ir.diagnostics import DiagnosticError
from tests.unit.cli.conftest import Couler

DAG = "open('ran', 'w').write('it ran')\n"


@pytest.fixture
def dag(here: Path) -> Path:
    path = here / "dag.py"
    path.write_text(DAG)
    return path


def test_a_file_isnt_run_before_somebody_says_that_it_may(couler: Couler, here: Path, dag: Path) -> None:
    shown = couler("import", "dag.py", "--from", "airflow")
    assert shown.code == 2
    assert "CLR532" in shown.err
    assert "--trust" in shown.err
    assert not (here / "ran").exists()


def test_an_environment_without_airflow_is_named(couler: Couler, here: Path, dag: Path) -> None:
    empty = here / "python"
    empty.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S "$@"\n')  # -S: no installed packages
    empty.chmod(0o755)
    shown = couler("import", "dag.py", "--from", "airflow", "--trust", "--python", str(empty))
    assert shown.code == 2
    assert "CLR530" in shown.err
    assert "--python PATH" in shown.err


def test_a_python_that_isnt_there_is_named(dag: Path) -> None:
    with pytest.raises(DiagnosticError, match="/no/such/python can't be started"):
        read(str(dag), "/no/such/python")


def test_there_are_two_engines_to_import_from(couler: Couler, dag: Path) -> None:
    shown = couler("import", "dag.py", "--from", "prefect")
    assert (shown.code, "there is argo and airflow" in shown.err) == (2, True)


def test_the_size_of_a_pool_is_a_number(couler: Couler, dag: Path) -> None:
    shown = couler("import", "dag.py", "--from", "airflow", "--trust", "--pool", "db=many")
    assert (shown.code, "NAME=SLOTS" in shown.err) == (2, True)
