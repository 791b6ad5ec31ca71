"""`couler status RUN`: how a run stands now."""

from __future__ import annotations

from couler_py.cli import live
from couler_py.cli.console import console
from couler_py.cli.options import AsJson, RunName
from couler_py.cli.reach import Reach, reaching
from couler_py.cli.running import to_json
from couler_py.cli.summary import summary


@reaching
def command(run: RunName, as_json: AsJson = False, *, reach: Reach) -> None:
    """Show how a run stands now."""
    client, run = reach.run_of(run)
    found = client.status(run)
    if as_json:
        print(to_json(found.as_json()), end="")
        return
    out = console()
    out.print(live.tree(found, height=None))
    out.print(summary(found))
