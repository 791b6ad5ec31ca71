"""`couler delete RUN`: forget runs."""

from __future__ import annotations

from typing import Annotated

import typer

from couler_py.cli.console import console
from couler_py.cli.engines import client_of


def command(
    runs: Annotated[list[str], typer.Argument(metavar="RUN...", help="Runs: ID, or ENGINE:NAMESPACE/NAME.")],
) -> None:
    """Forget runs and what they left."""
    for run in runs:
        client_of(run).delete(run)
        console(stderr=True).print(f"deleted {run}")
