"""`couler lint FILE`: everything that is wrong with a workflow."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import typer

from couler_py import api
from couler_py.cli import exits, linting
from couler_py.cli.console import console
from couler_py.cli.errors import UsageError, as_finding
from couler_py.cli.findings import Lines, as_json, show
from couler_py.cli.load import load
from couler_py.cli.options import EngineOptions, engine_options
from couler_py.ir.diagnostics import Diagnostic, DiagnosticError


def command(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...", help="Python files, modules, IR files; Argo YAML: files, folders, - for stdin."
        ),
    ],
    to: Annotated[
        str | None, typer.Option("--to", metavar="ENGINE[@VERSION]", help="Also what this engine can't do.")
    ] = None,
    engine: Annotated[
        str, typer.Option("--engine", metavar="argo@VERSION", help="What reads the YAML: argo@4 or argo@3.5.")
    ] = "argo@4",
    templates: Annotated[
        list[str] | None,
        typer.Option(
            "--cluster-templates", metavar="FILE", help="YAML of templates in the cluster that others refer to."
        ),
    ] = None,
    fix: Annotated[bool, typer.Option("--fix", help="Rewrite in the YAML what has one right answer.")] = False,
    diff: Annotated[bool, typer.Option("--diff", help="Show what --fix would change, and write nothing.")] = False,
    form: Annotated[Literal["text", "json"], typer.Option("--format", help="json is for tools.")] = "text",
    strict: Annotated[bool, typer.Option("--strict", help="Warnings count as errors.")] = False,
    option: EngineOptions = None,
) -> None:
    """Say what is wrong with a workflow, without running it."""
    options = engine_options(option)
    if to is not None and to.partition("@")[0] == "argo":
        engine = to
    programs = [file for file in files if not linting.is_yaml(file)]
    texts = linting.read_all([file for file in files if linting.is_yaml(file)])
    if (fix or diff) and programs:
        raise UsageError(f"--fix rewrites YAML, and {programs[0]} is none")
    if form == "json" and (diff or (fix and "-" in files)):
        raise UsageError("--format json and the mended text would both go to stdout; ask for one of them")
    if fix or diff:
        texts = linting.fixed(texts, write=not diff)
    findings = [finding for file in programs for finding in found(file, to, options, for_tools=form == "json")]
    if to is not None and engine is not to:
        for file in texts:
            findings += found(file, to, options, for_tools=form == "json")
    in_yaml = linting.linted(texts, engine, templates or []) if texts else linting.Linted([], Lines(), ())
    findings += in_yaml.findings
    for file in in_yaml.empty:
        console(stderr=True).print(f"there is no document in {file}")
    if form == "json":
        print(as_json(findings, in_yaml.lines))
    elif findings:
        show(findings, console(stderr=True), in_yaml.lines)
    elif programs or len(in_yaml.empty) < len(texts):
        console(stderr=True).print("nothing wrong")
    counted = {"error", "warning"} if strict else {"error"}
    if any(finding.severity in counted for finding in findings):
        raise typer.Exit(exits.USAGE)


def found(file: str, to: str | None, options: dict[str, Any], *, for_tools: bool = False) -> tuple[Diagnostic, ...]:
    """The findings of one file. What isn't about the workflow (a file that raises) is one `for_tools`, else raised."""
    try:
        loaded = load(file)
        if loaded.written is not None and (to or "argo").startswith("argo"):
            return (*loaded.written.lint(), *api.check(loaded.model))
        if to is None:
            return api.check(loaded.model)
        return api.compile(loaded.model, to=to, **options).diagnostics
    except DiagnosticError as error:
        return error.diagnostics
    except UsageError as error:
        if not (error.code and for_tools):
            raise
        return (as_finding(error),)
