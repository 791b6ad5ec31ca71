"""`couler delete RUN`: forget runs."""

from __future__ import annotations

from typing import Annotated

import typer

from couler_py.cli import planned
from couler_py.cli.console import console
from couler_py.cli.reach import DryRun, Reach, reaching


@reaching
def command(
    runs: Annotated[list[str], typer.Argument(metavar="RUN...", help="Runs: ID, or ENGINE:NAMESPACE/NAME.")],
    dry_run: DryRun = False,
    *,
    reach: Reach,
) -> None:
    """Forget runs and what they left."""
    for run in runs:
        client, run = reach.run_of(run, dry_run=dry_run)
        client.delete(run)
        if dry_run:
            planned.show(client)
        else:
            console(stderr=True).print(f"deleted {run}")
