"""`couler watch RUN`: see a run to its end."""

from __future__ import annotations

from couler_py.cli import running
from couler_py.cli.options import AsJson, RunName
from couler_py.cli.reach import Reach, reaching


@reaching
def command(run: RunName, as_json: AsJson = False, *, reach: Reach) -> None:
    """Watch a run until it ends."""
    client, run = reach.run_of(run)
    running.watch(client, lambda: run, as_json=as_json)
