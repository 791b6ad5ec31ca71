"""Reads a file of DAGs by the Python of an environment with Airflow. That runs the file."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import msgspec

from couler_py.backends.airflow.importing.facts import Facts
from couler_py.ir.diagnostics import DiagnosticError, error
from couler_py.ir.model import Source

PROGRAM = Path(__file__).with_name("inspecting.py")
LONGEST = 300
"""Seconds that reading a file may take: the first import of Airflow and its providers is slow on a busy machine."""


def read(file: str, python: str = "") -> Facts:
    """What is in a file of DAGs. `python` is the interpreter of an environment with Airflow; by default this one.

    Raises `DiagnosticError` where there is no Airflow (CLR530) or it can't read the file (CLR531).
    """
    chosen = python or sys.executable
    place = Source(file, 1)
    with tempfile.TemporaryDirectory(prefix="couler-import-") as folder:
        output = Path(folder) / "facts.json"
        # As text, so that the folder of the program is no place from which modules are imported.
        command = [chosen, "-c", PROGRAM.read_text(encoding="utf-8"), file, str(output)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=LONGEST)
        except OSError as problem:
            raise _no_airflow(f"{chosen} can't be started: {problem.strerror}", place) from problem
        except subprocess.TimeoutExpired as problem:
            raise _unread(f"it took more than {LONGEST} seconds", place) from problem
        if not output.is_file():
            raise _unread(_last(done.stderr) or f"Python ended with exit code {done.returncode}", place)
        try:
            facts = msgspec.json.decode(output.read_bytes(), type=Facts)
        except msgspec.DecodeError as problem:
            raise _unread(f"what it makes is nothing that a DAG can hold: {problem}", place) from problem
    if facts.missing:
        raise _no_airflow(f"{chosen} has none: {_last(facts.missing)}", place)
    if facts.errors:
        raise _unread(_last(facts.errors[0]), place)
    if not facts.dags:
        raise _no_dag(place)
    return facts


def _last(text: str) -> str:
    lines = [line for line in text.strip().splitlines() if line.strip()]
    return lines[-1].strip() if lines else ""


def _no_airflow(why: str, place: Source) -> DiagnosticError:
    help_ = "name the Python of an environment that has it: --python PATH/bin/python"
    return DiagnosticError([error("CLR530", "reading a DAG needs Airflow", source=place, why=why, help=help_)])


def _no_dag(place: Source) -> DiagnosticError:
    help_ = "a DAG is found when the file makes it at its top level: `with DAG(…):`, or a call of what `@dag` decorates"
    return DiagnosticError([error("CLR531", "the file makes no DAG", source=place, help=help_)])


def _unread(why: str, place: Source) -> DiagnosticError:
    help_ = "make it import in Airflow first: `python FILE` in that environment shows all of the error"
    return DiagnosticError([error("CLR531", "Airflow can't read the file", source=place, why=why, help=help_)])
