"""`couler import FILE`: Argo's documents, or a DAG of Airflow, as a Python program to keep."""

from __future__ import annotations

from typing import Annotated

import typer

from couler_py.cli.commands.print import write
from couler_py.cli.console import console
from couler_py.cli.errors import UsageError
from couler_py.cli.exits import USAGE
from couler_py.cli.findings import show
from couler_py.cli.programs import of_dag, only_yaml, portable_program, program


def command(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="A YAML file of Argo's documents, - for stdin, or a DAG file.")
    ],
    output: Annotated[str, typer.Option("-o", "--output", metavar="PATH", help="A file, or - for stdout.")] = "-",
    portable: Annotated[
        bool, typer.Option("--portable", help="Argo: in the words that every engine shares, instead of its own.")
    ] = False,
    engine: Annotated[
        str, typer.Option("--from", metavar="ENGINE", help="What the file is for: argo, airflow.")
    ] = "argo",
    trust: Annotated[bool, typer.Option("--trust", help="Airflow: run the file, which reading a DAG needs.")] = False,
    python: Annotated[
        str, typer.Option("--python", metavar="PATH", help="Airflow: the Python of an environment that has it.")
    ] = "",
    dag: Annotated[str, typer.Option("--dag", metavar="ID", help="Airflow: which DAG of several.")] = "",
    partial: Annotated[
        bool, typer.Option("--partial", help="Airflow: leave out tasks that have no counterpart.")
    ] = False,
    pool: Annotated[
        list[str] | None, typer.Option("--pool", metavar="NAME=SLOTS", help="Airflow: the size of a pool.")
    ] = None,
) -> None:
    """Write Argo's YAML, or a DAG of Airflow, as a Python program that builds the same."""
    if engine == "airflow":
        text, findings = of_dag(file, trust=trust, python=python, dag=dag, partial=partial, pools=_pools(pool or []))
        show(findings, console(stderr=True))
        write(text, output)
        if any(each.severity == "error" for each in findings):
            raise typer.Exit(USAGE)
        return
    if engine != "argo":
        raise UsageError(f"--from {engine}: there is argo and airflow", "CLR702")
    only_yaml(file)
    write(portable_program(file) if portable else program(file), output)


def _pools(given: list[str]) -> dict[str, int]:
    found = {}
    for text in given:
        name, _, slots = text.rpartition("=")
        if not name or not slots.isdigit() or int(slots) < 1:
            raise UsageError(f"--pool {text!r} is not NAME=SLOTS")
        found[name] = int(slots)
    return found
