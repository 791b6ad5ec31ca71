"""`couler logs RUN [TASK]`: what steps wrote."""

from __future__ import annotations

from typing import Annotated

import typer

from couler_py.cli.engines import client_of
from couler_py.cli.options import RunName


def command(
    run: RunName,
    task: Annotated[str | None, typer.Argument(help="Only this task, as `couler watch` names it.")] = None,
    follow: Annotated[bool, typer.Option("-f", "--follow", help="Go on until the run has ended.")] = False,
) -> None:
    """Print what the steps of a run wrote."""
    for line in client_of(run).logs(run, task, follow=follow):
        # Of one task only its lines; of several each line says whose it is.
        print(line.text if task is not None else f"{line.task}: {line.text}", flush=follow)
