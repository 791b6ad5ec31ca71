"""`couler terminate RUN`: an end, now."""

from __future__ import annotations

from couler_py.cli import planned, running
from couler_py.cli.console import console
from couler_py.cli.options import AsJson, RunName
from couler_py.cli.reach import DryRun, Reach, reaching


@reaching
def command(run: RunName, as_json: AsJson = False, dry_run: DryRun = False, *, reach: Reach) -> None:
    """End a run and its steps now, without exit handlers."""
    client, run = reach.run_of(run, dry_run=dry_run)
    if running.has_ended(client, run, as_json=as_json):
        return
    client.terminate(run)
    if dry_run:
        planned.show(client, as_json=as_json)
    elif as_json:
        print(running.to_json({"run": run, "asked": "terminate"}), end="")
    else:
        console(stderr=True).print(f"terminated {run}")
