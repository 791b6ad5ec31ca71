"""`couler terminate RUN`: an end, now."""

from __future__ import annotations

from couler_py.cli import planned
from couler_py.cli.console import console
from couler_py.cli.options import RunName
from couler_py.cli.reach import DryRun, Reach, reaching


@reaching
def command(run: RunName, dry_run: DryRun = False, *, reach: Reach) -> None:
    """End a run and its steps now, without exit handlers."""
    client, run = reach.run_of(run, dry_run=dry_run)
    client.terminate(run)
    if dry_run:
        planned.show(client)
    else:
        console(stderr=True).print(f"terminated {run}")
