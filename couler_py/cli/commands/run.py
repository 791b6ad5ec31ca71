"""`couler run FILE`: run a workflow on this machine and watch it."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

import typer

from couler_py.backends.base import backend
from couler_py.cli import running
from couler_py.cli.console import console
from couler_py.cli.engines import compile_for
from couler_py.cli.errors import UsageError
from couler_py.cli.findings import show
from couler_py.cli.load import Loaded, load
from couler_py.cli.options import AsJson, EngineOptions, File, Parameters, engine_options
from couler_py.cli.parameters import read


def command(
    file: File,
    parameter: Parameters = None,
    as_json: AsJson = False,
    at: Annotated[
        str | None, typer.Option("--at", metavar="TIME", help="The scheduled instant, as 2026-05-01T03:00:00Z.")
    ] = None,
    runtime: Annotated[
        Literal["process", "container"] | None,
        typer.Option("--runtime", help="How steps run. Process is no sandbox."),
    ] = None,
    option: EngineOptions = None,
) -> None:
    """Run a workflow on this machine and watch it."""
    loaded = load(file)
    values = read(loaded.workflow, parameter or (), loaded.parameters)
    options = {**loaded.options, **engine_options(option), **_options(loaded, at, runtime)}
    bundle = compile_for(loaded.workflow, "local", options.pop("compile_options", {}))
    show(bundle.diagnostics, console(stderr=True))
    client = backend("local").client()
    try:
        run = client.submit(bundle, parameters=values, **options)
    except TypeError as error:
        if "unexpected keyword argument" in str(error) and option:
            raise UsageError(f"-O: {error}") from error
        raise
    running.watch(client, run, as_json=as_json, stop_on_interrupt=True)


def _options(loaded: Loaded, at: str | None, runtime: str | None) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if at is not None:
        found["at"] = instant(at)
    if runtime is not None:
        found["runtime"] = runtime
    elif loaded.imported:
        found["runtime"] = "container"
    return found


def instant(text: str) -> datetime:
    """A time as RFC 3339 or ISO 8601; without an offset it is local time. Raises `UsageError`."""
    try:
        return datetime.fromisoformat(text).astimezone()
    except ValueError as error:
        raise UsageError(f"--at {text!r} is no time; write it as 2026-05-01T03:00:00Z") from error
