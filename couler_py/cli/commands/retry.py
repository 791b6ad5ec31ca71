"""`couler retry RUN`: run what failed again."""

from __future__ import annotations

from couler_py.cli import planned, running
from couler_py.cli.console import console
from couler_py.cli.options import AsJson, RunName
from couler_py.cli.reach import DryRun, Reach, reaching


@reaching
def command(run: RunName, as_json: AsJson = False, dry_run: DryRun = False, *, reach: Reach) -> None:
    """Run the failed tasks of a run again and keep what succeeded."""
    client = reach.client_of(run, dry_run=dry_run)
    if dry_run:
        client.retry(run)
        planned.show(client, as_json=as_json)
        return
    if not as_json:
        said = "steps run as they were when the run began; a changed file needs a new run"
        console(stderr=True).print(said, style="dim")
    running.watch(client, lambda: client.retry(run), as_json=as_json)
