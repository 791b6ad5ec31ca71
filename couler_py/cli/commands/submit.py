"""`couler submit FILE --to ENGINE`: start a workflow on an engine."""

from __future__ import annotations

from typing import Annotated

import typer

from couler_py import api
from couler_py.backends.base import backend, parse_target
from couler_py.cli import running
from couler_py.cli.commands.compile import given
from couler_py.cli.console import console
from couler_py.cli.findings import show
from couler_py.cli.load import load
from couler_py.cli.options import AsJson, EngineOptions, File, Parameters, engine_options
from couler_py.cli.parameters import read
from couler_py.ir.diagnostics import DiagnosticError


def command(
    file: File,
    to: Annotated[str, typer.Option("--to", metavar="ENGINE[@VERSION]", help="The engine.")],
    parameter: Parameters = None,
    watch: Annotated[bool, typer.Option("--watch", help="Watch the run until it ends.")] = False,
    as_json: AsJson = False,
    crds: Annotated[str | None, typer.Option("--crds", help="Argo: full or minimal, as is installed.")] = None,
    on_unsupported: Annotated[
        str | None, typer.Option("--on-unsupported", help="What the engine can't do: error, warn or emulate.")
    ] = None,
    option: EngineOptions = None,
) -> None:
    """Compile a workflow and start it on an engine."""
    loaded = load(file)
    values = read(loaded.workflow, parameter or (), loaded.parameters)
    options = engine_options(option) | given(crds=crds, on_unsupported=on_unsupported)
    bundle = api.compile(loaded.workflow, to=to, **options)
    if any(finding.severity == "error" for finding in bundle.diagnostics):
        raise DiagnosticError(bundle.diagnostics)
    show(bundle.diagnostics, console(stderr=True))
    client = backend(parse_target(to)[0]).client()
    api.hand_over_secrets(loaded.workflow, client, str(options.get("namespace", "")))

    def start() -> str:
        return client.submit(bundle, parameters=values)

    if watch:
        running.watch(client, start, as_json=as_json)
    elif as_json:
        print(running.to_json({"run": start()}), end="")
    else:
        print(start())
