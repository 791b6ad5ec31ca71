"""`couler stop RUN`: no further."""

from __future__ import annotations

from typing import Annotated

import typer

from couler_py.cli import planned, running
from couler_py.cli.console import console
from couler_py.cli.options import AsJson, RunName
from couler_py.cli.reach import DryRun, Reach, reaching


@reaching
def command(
    run: RunName,
    now: Annotated[bool, typer.Option("--now", help="As `couler terminate`: end running steps too.")] = False,
    suspend: Annotated[
        bool, typer.Option("--suspend", help="As `couler suspend`: only until `couler resume`.")
    ] = False,
    as_json: AsJson = False,
    dry_run: DryRun = False,
    *,
    reach: Reach,
) -> None:
    """Stop a run: running steps end, no others start, exit handlers run."""
    client, run = reach.run_of(run, dry_run=dry_run)
    if running.has_ended(client, run, as_json=as_json):
        return
    if suspend:
        client.suspend(run)
    elif now:
        client.terminate(run)
    else:
        client.stop(run)
    if dry_run:
        planned.show(client, as_json=as_json)
    elif as_json:
        asked = "suspend" if suspend else "terminate" if now else "stop"
        print(running.to_json({"run": run, "asked": asked}), end="")
    else:
        console(stderr=True).print(f"{'suspended' if suspend else 'stopped'} {run}")
