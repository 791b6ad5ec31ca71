"""`couler resubmit RUN`: a new run like an old one."""

from __future__ import annotations

from typing import Annotated

import typer

from couler_py.backends.base import ClusterClient, NotOffered
from couler_py.cli import planned, running
from couler_py.cli.errors import UsageError
from couler_py.cli.options import AsJson, Parameters, RunName
from couler_py.cli.parameters import texts
from couler_py.cli.reach import DryRun, Reach, reaching


@reaching
def command(
    run: RunName,
    parameter: Parameters = None,
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
    client, run = reach.run_of(run, dry_run=dry_run)
    if not isinstance(client, ClusterClient):
        raise NotOffered(f"the engine {client.engine} can't resubmit a run: start its file again")
    values = texts(parameter or ())

    def start() -> str:
        try:
            return client.resubmit(run, memoized=memoized, parameters=values)
        except ValueError as error:
            raise UsageError(str(error), "CLR705") from None

    if dry_run:
        start()
        planned.show(client, as_json=as_json)
    elif wait:
        running.watch(client, start, as_json=as_json)
    else:
        made = start()
        print(running.to_json({"run": made}) if as_json else made, end="" if as_json else "\n")
