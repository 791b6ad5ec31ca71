"""`couler resubmit RUN`: a new run like an old one."""

from __future__ import annotations

from typing import Annotated

import typer

from couler_py.backends.base import ClusterClient, NotOffered
from couler_py.cli import planned, running
from couler_py.cli.options import AsJson, RunName
from couler_py.cli.reach import DryRun, Reach, reaching


@reaching
def command(
    run: RunName,
    memoized: Annotated[
        bool, typer.Option("--memoized", help="Keep what succeeded in it (through the Argo server).")
    ] = False,
    wait: Annotated[bool, typer.Option("--watch", "--wait", help="Watch the new run until it ends.")] = False,
    as_json: AsJson = False,
    dry_run: DryRun = False,
    *,
    reach: Reach,
) -> None:
    """Start a new run like an old one, on the cluster that has it."""
    client = reach.client_of(run, dry_run=dry_run)
    if not isinstance(client, ClusterClient):
        raise NotOffered(f"the engine {client.engine} can't resubmit a run: start its file again")
    if dry_run:
        client.resubmit(run, memoized=memoized)
        planned.show(client, as_json=as_json)
    elif wait:
        running.watch(client, lambda: client.resubmit(run, memoized=memoized), as_json=as_json)
    else:
        made = client.resubmit(run, memoized=memoized)
        print(running.to_json({"run": made}) if as_json else made, end="" if as_json else "\n")
