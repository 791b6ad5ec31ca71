"""`couler unpause DAG`: go on with a workflow."""

from __future__ import annotations

from couler_py.cli.commands.pause import Name, client
from couler_py.cli.console import console
from couler_py.cli.options import AsJson
from couler_py.cli.reach import Reach, reaching
from couler_py.cli.running import to_json


@reaching
def command(name: Name, as_json: AsJson = False, *, reach: Reach) -> None:
    """Go on with a workflow that was paused."""
    client(name, reach).unpause(name)
    if as_json:
        print(to_json({"name": name, "paused": False}), end="")
        return
    console(stderr=True).print(f"goes on: {name}")
