"""`couler retry RUN`: run what failed again."""

from __future__ import annotations

from couler_py.cli import running
from couler_py.cli.console import console
from couler_py.cli.engines import client_of
from couler_py.cli.options import AsJson, RunName


def command(run: RunName, as_json: AsJson = False) -> None:
    """Run the failed tasks of a run again and keep what succeeded."""
    client = client_of(run)
    if not as_json:
        said = "steps run as they were when the run began; a changed file needs `couler run`"
        console(stderr=True).print(said, style="dim")
    running.watch(client, lambda: client.retry(run), as_json=as_json)
