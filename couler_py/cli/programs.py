"""Workflows as Python programs, in the words that fit how they were written."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from couler_py.cli.console import console
from couler_py.cli.errors import UsageError
from couler_py.cli.findings import show
from couler_py.cli.linting import STDIN
from couler_py.cli.load import YAML, argo_documents, documents_of, load
from couler_py.ir.diagnostics import Diagnostic, DiagnosticError, error
from couler_py.ir.model import Document, Source, Workflow


def program(file: str) -> str:
    """A program that builds the workflow of a file: of Argo's YAML all documents, in Argo's own words.

    Raises `DiagnosticError` for what can't be written as Python, and as `load` does.
    """
    if file == "-":
        documents, findings = documents_of(sys.stdin.read(), STDIN)
        show(findings, console(stderr=True))
        return _native(documents)
    if file.endswith(YAML) and Path(file).is_file():
        documents, findings = argo_documents(Path(file))
        show(findings, console(stderr=True))
        return _native(documents)
    loaded = load(file)
    if loaded.workflow.dialect == "argo":
        from couler_py.backends.argo.document import document_of

        return _native((loaded.document or document_of(loaded.workflow),))
    return _ours(loaded.workflow)


def portable_program(file: str) -> str:
    """A program in the words that every engine shares, of the document of a file that is run.

    What isn't portable is said: warnings on stderr. Raises `DiagnosticError` where something has no other words.
    """
    from couler_py.backends.imported import for_engine

    made, findings = for_engine(_from_stdin() if file == "-" else load(file).model, "ir")
    show(findings, console(stderr=True))
    return _ours(made)


def of_dag(
    file: str, *, trust: bool, python: str, dag: str, partial: bool, pools: Mapping[str, int]
) -> tuple[str, tuple[Diagnostic, ...]]:
    """A program that does what a DAG of Airflow does, and what there is to say of it.

    Raises `DiagnosticError` where nobody said that the file may be run, and where Airflow can't read it.
    """
    from couler_py.backends.airflow.importing import imported

    if not Path(file).is_file():
        raise UsageError(f"there is no file {file!r}", "CLR702")
    if not trust:
        help_ = "look at it, then say that it may be run: --trust"
        raise DiagnosticError([error("CLR532", "importing a DAG runs its file", source=Source(file, 1), help=help_)])
    found = imported(file, python=python, dag_id=dag, partial=partial, pools=pools)
    return _ours(found.workflow), found.diagnostics


def _from_stdin() -> Document:
    from couler_py.backends.argo.document.selection import main_of

    documents, _ = documents_of(sys.stdin.read(), STDIN, places=True)
    return main_of(documents)


def only_yaml(file: str) -> None:
    """Refuse what is neither a file of YAML nor `-`. Raises `UsageError`."""
    if file == "-":
        return
    if Path(file).is_dir():
        raise UsageError(f"{file} is a folder: one file at a time is written as a program", "CLR702")
    if not file.endswith(YAML):
        raise UsageError(
            f"{file} is no YAML: `--from airflow` reads a DAG, and `couler print` writes other workflows as Python",
            "CLR702",
        )
    if not Path(file).is_file():
        raise UsageError(f"there is no file {file!r}", "CLR702")


def _native(documents: tuple[Document, ...]) -> str:
    from couler_py.backends.argo.document import write
    from couler_py.backends.argo.native.printing import Printed, print_documents

    return print_documents([Printed(write(each), each.before, each.after) for each in documents])


def _ours(workflow: Workflow) -> str:
    from couler_py.printer import print_python

    return print_python(workflow)
