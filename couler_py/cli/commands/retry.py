"""`couler retry RUN`: run what failed again."""

from __future__ import annotations

from couler_py.cli import running
from couler_py.cli.engines import client_of
from couler_py.cli.options import AsJson, RunName


def command(run: RunName, as_json: AsJson = False) -> None:
    """Run the failed tasks of a run again and keep what succeeded."""
    client = client_of(run)
    running.watch(client, lambda: client.retry(run), as_json=as_json)
