"""`couler convert FILE --to ENGINE`: an imported workflow for another engine, with what isn't portable."""

from __future__ import annotations

from typing import Annotated

import typer

from couler_py import api
from couler_py.cli import exits
from couler_py.cli.commands.compile import printed, write
from couler_py.cli.console import console, size
from couler_py.cli.findings import show
from couler_py.cli.load import load
from couler_py.cli.options import EngineOptions, engine_options
from couler_py.ir.diagnostics import DiagnosticError


def command(
    file: Annotated[str, typer.Argument(metavar="FILE[:NAME]", help="Argo's YAML; any other workflow, too.")],
    to: Annotated[str, typer.Option("--to", metavar="ENGINE[@VERSION]", help="local, argo, argo@3.5, ir, …")],
    output: Annotated[
        str, typer.Option("-o", "--output", metavar="PATH", help="A file, a folder (ending in /), or - for stdout.")
    ] = "-",
    option: EngineOptions = None,
) -> None:
    """Write Argo's YAML for another engine, and say what isn't portable. Takes any other workflow, too."""
    try:
        bundle = api.compile(load(file).model, to=to, **engine_options(option))
    except DiagnosticError as error:
        show(error.diagnostics, console(stderr=True))
        raise typer.Exit(exits.USAGE) from None
    show(bundle.diagnostics, console(stderr=True))
    if output == "-":
        printed(bundle)
        return
    for path in write(bundle, output):
        console(stderr=True).print(f"wrote {path} ({size(path.stat().st_size)})")
