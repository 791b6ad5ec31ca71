"""`couler lint FILE`: everything that is wrong with a workflow."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from couler_py import api
from couler_py.cli import exits
from couler_py.cli.console import console
from couler_py.cli.errors import UsageError, as_finding
from couler_py.cli.findings import as_json, show
from couler_py.cli.load import load
from couler_py.cli.options import EngineOptions, engine_options
from couler_py.ir.diagnostics import Diagnostic, DiagnosticError


def command(
    files: Annotated[list[str], typer.Argument(metavar="FILE[:NAME]...", help="Python files, modules or IR files.")],
    to: Annotated[
        str | None, typer.Option("--to", metavar="ENGINE[@VERSION]", help="Also what this engine can't do.")
    ] = None,
    form: Annotated[Literal["text", "json"], typer.Option("--format", help="json is for tools.")] = "text",
    strict: Annotated[bool, typer.Option("--strict", help="Warnings count as errors.")] = False,
    option: EngineOptions = None,
) -> None:
    """Say what is wrong with a workflow, without running it."""
    options = engine_options(option)
    findings = [finding for file in files for finding in found(file, to, options, for_tools=form == "json")]
    if form == "json":
        print(as_json(findings))
    elif findings:
        show(findings, console(stderr=True))
    else:
        console(stderr=True).print("nothing wrong")
    counted = {"error", "warning"} if strict else {"error"}
    if any(finding.severity in counted for finding in findings):
        raise typer.Exit(exits.USAGE)


def found(file: str, to: str | None, options: dict[str, object], *, for_tools: bool = False) -> tuple[Diagnostic, ...]:
    """The findings of one file. What isn't about the workflow (a file that raises) is one `for_tools`, else raised."""
    try:
        workflow = load(file).workflow
        if to is None:
            return api.check(workflow)
        return api.compile(workflow, to=to, **options).diagnostics
    except DiagnosticError as error:
        return error.diagnostics
    except UsageError as error:
        if not (error.code and for_tools):
            raise
        return (as_finding(error),)
