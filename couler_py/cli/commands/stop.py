"""`couler stop RUN`: no further."""

from __future__ import annotations

from typing import Annotated

import typer

from couler_py.cli.console import console
from couler_py.cli.engines import client_of
from couler_py.cli.options import RunName


def command(
    run: RunName,
    now: Annotated[bool, typer.Option("--now", help="End running steps too, without exit handlers.")] = False,
    suspend: Annotated[bool, typer.Option("--suspend", help="Start no further steps until `couler resume`.")] = False,
) -> None:
    """Stop a run: running steps end, no others start, exit handlers run."""
    client = client_of(run)
    before = client.status(run).status
    if before in ("Succeeded", "Failed"):
        console(stderr=True).print(f"{run} has ended before: {before}")
        return
    if suspend:
        client.suspend(run)
    elif now:
        client.terminate(run)
    else:
        client.stop(run)
    console(stderr=True).print(f"{'suspended' if suspend else 'stopped'} {run}")
