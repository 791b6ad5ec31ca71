"""`couler print FILE`: a workflow as Python source to keep."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from couler_py.cli.console import console, size
from couler_py.cli.options import File
from couler_py.cli.programs import program


def command(
    file: File,
    output: Annotated[str, typer.Option("-o", "--output", metavar="PATH", help="A file, or - for stdout.")] = "-",
) -> None:
    """Write a workflow as Python source that builds the same workflow."""
    write(program(file), output)


def write(source: str, output: str) -> None:
    """Write a program to a file, or to stdout."""
    if output == "-":
        sys.stdout.write(source)
        return
    path = Path(output)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(source, encoding="utf-8")
    console(stderr=True).print(f"wrote {path} ({size(path.stat().st_size)})")
