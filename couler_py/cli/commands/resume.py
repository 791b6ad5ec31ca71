"""`couler resume RUN`: go on with what was stopped from outside."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from couler_py.cli import planned, running
from couler_py.cli.errors import UsageError
from couler_py.cli.options import AsJson, RunName
from couler_py.cli.reach import DryRun, Reach, reaching


@reaching
def command(
    run: RunName,
    output: Annotated[
        list[str] | None,
        typer.Option("--output", metavar="NAME=VALUE", help="An output of what waits, as an approval's answer."),
    ] = None,
    task: Annotated[str | None, typer.Option("--task", help="Only this task, where several wait.")] = None,
    as_json: AsJson = False,
    dry_run: DryRun = False,
    *,
    reach: Reach,
) -> None:
    """Go on with a run that was stopped from outside: an approval, a dead engine."""
    client, run = reach.run_of(run, dry_run=dry_run)
    given = outputs(output or [])
    if dry_run:
        client.resume(run, outputs=given, task=task)
        planned.show(client, as_json=as_json)
        return
    running.watch(client, lambda: client.resume(run, outputs=given, task=task), as_json=as_json)


def outputs(given: list[str]) -> dict[str, Any] | None:
    """The outputs that are typed: JSON where it is JSON, else a string. None where there are none."""
    found: dict[str, Any] = {}
    for text in given:
        name, equals, raw = text.partition("=")
        if not equals:
            raise UsageError(f"--output {text!r} is not NAME=VALUE")
        try:
            found[name] = json.loads(raw, parse_constant=str)
        except ValueError:
            found[name] = raw
    return found or None
