"""`couler watch RUN`: see a run to its end."""

from __future__ import annotations

from couler_py.cli import running
from couler_py.cli.engines import client_of
from couler_py.cli.options import AsJson, RunName


def command(run: RunName, as_json: AsJson = False) -> None:
    """Watch a run until it ends."""
    running.watch(client_of(run), lambda: run, as_json=as_json)
