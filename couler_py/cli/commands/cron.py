"""`couler cron …`: scheduled workflows on a cluster."""

from __future__ import annotations

from typing import Any

from couler_py.cli import planned, stored
from couler_py.cli.console import console
from couler_py.cli.reach import DryRun, Namespace, Reach, reaching

app = stored.app("CronWorkflow", "cron")


@app.command("suspend")
@reaching
def suspend(name: stored.Name, namespace: Namespace = None, dry_run: DryRun = False, *, reach: Reach) -> None:
    """Let it start no runs."""
    _pause(name, namespace, dry_run, reach, paused=True)


@app.command("resume")
@reaching
def resume(name: stored.Name, namespace: Namespace = None, dry_run: DryRun = False, *, reach: Reach) -> None:
    """Let it start runs again."""
    _pause(name, namespace, dry_run, reach, paused=False)


def _pause(name: str, namespace: str | None, dry_run: bool, reach: Reach, *, paused: bool) -> None:
    client: Any = reach.client("argo", namespace=namespace, dry_run=dry_run)
    there = client.stored("CronWorkflow")
    (there.suspend if paused else there.resume)(name)
    if dry_run:
        planned.show(client)
    else:
        console(stderr=True).print(f"{'suspended' if paused else 'resumed'} cron {name}")
