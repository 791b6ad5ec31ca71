"""`couler import FILE.yaml`: Argo's documents as a Python program to keep."""

from __future__ import annotations

from typing import Annotated

import typer

from couler_py.cli.commands.print import write
from couler_py.cli.programs import only_yaml, portable_program, program


def command(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A YAML file of Argo's documents, or - for stdin.")],
    output: Annotated[str, typer.Option("-o", "--output", metavar="PATH", help="A file, or - for stdout.")] = "-",
    portable: Annotated[
        bool, typer.Option("--portable", help="In the words that every engine shares, instead of Argo's own.")
    ] = False,
) -> None:
    """Write Argo's YAML as a Python program that builds equal documents."""
    only_yaml(file)
    write(portable_program(file) if portable else program(file), output)
