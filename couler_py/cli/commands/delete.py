"""`couler delete RUN`: forget runs."""

from __future__ import annotations

from typing import Annotated

import typer

from couler_py.cli import planned, running
from couler_py.cli.console import console
from couler_py.cli.options import AsJson
from couler_py.cli.reach import DryRun, Reach, reaching


@reaching
def command(
    runs: Annotated[list[str], typer.Argument(metavar="RUN...", help="Runs, each as everywhere: ID, @last, …")],
    as_json: AsJson = False,
    dry_run: DryRun = False,
    *,
    reach: Reach,
) -> None:
    """Forget runs and what they left."""
    # All are looked up before the first is gone: `@2` is then another.
    found = dict.fromkeys(reach.run_of(typed, dry_run=dry_run)[1] for typed in runs)
    for run in found:
        client = reach.client_of(run, dry_run=dry_run)
        client.delete(run)
        if dry_run:
            planned.show(client, as_json=as_json)
        elif not as_json:
            console(stderr=True).print(f"deleted {run}")
    if as_json and not dry_run:
        print(running.to_json({"deleted": list(found)}), end="")
