"""Arguments and options that several commands share."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Annotated, Any

import typer

from couler_py.cli.errors import UsageError

File = Annotated[str, typer.Argument(metavar="FILE[:NAME]", help="A Python file, a module or an IR file.")]
RunName = Annotated[
    str, typer.Argument(metavar="RUN", help="A run: its ID or the beginning of it, @last, ENGINE:NAMESPACE/NAME.")
]
Parameters = Annotated[
    list[str] | None,
    typer.Option(
        "-p",
        "--parameter",
        metavar="NAME=VALUE",
        help="A parameter of the workflow. Strings as they are, other types as JSON; NAME=@FILE reads a file.",
    ),
]
EngineOptions = Annotated[
    list[str] | None,
    typer.Option("-O", "--option", metavar="NAME=VALUE", help="An option of the engine, as namespace=team-a."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON on stdout, and nothing else there.")]
Engine = Annotated[str | None, typer.Option("--engine", metavar="ENGINE", help="Only runs of this engine.")]


def engine_options(given: Iterable[str] | None) -> dict[str, Any]:
    """The options typed with -O: true, false, null and numbers as such, everything else a string."""
    found: dict[str, Any] = {}
    for text in given or ():
        name, equals, raw = text.partition("=")
        if not equals or not name.replace("-", "_").isidentifier():
            raise UsageError(f"-O {text!r} is not NAME=VALUE")
        try:
            value = json.loads(raw)
        except ValueError:
            value = raw
        found[name.replace("-", "_")] = raw if isinstance(value, dict | list) else value
    return found
