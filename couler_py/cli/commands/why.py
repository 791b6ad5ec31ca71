"""`couler why RUN TASK`: why a step was computed and not taken from the cache."""

from __future__ import annotations

from typing import Annotated

import msgspec
import typer

from couler_py.backends.local.client import LocalClient
from couler_py.cli.console import clean, console
from couler_py.cli.errors import UsageError
from couler_py.cli.options import AsJson, RunName
from couler_py.cli.reach import Reach, reaching
from couler_py.cli.running import to_json


@reaching
def command(
    run: RunName,
    task: Annotated[str, typer.Argument(help="The task, as `couler watch` names it.")],
    as_json: AsJson = False,
    *,
    reach: Reach,
) -> None:
    """Say why a step was computed, and not taken from the cache.

    What differs from its nearest earlier success; of one that was taken from the cache, whose result it is.
    """
    client, run = reach.run_of(run)
    if not isinstance(client, LocalClient):
        raise UsageError(f"{run} is not in the store of this machine, whose cache is asked")
    found = client.why(run, task)
    if as_json:
        print(to_json(msgspec.to_builtins(found)), end="")
        return
    out = console()
    out.print(f"{clean(task)}: {clean(found.text)}")
    for change in found.changes:
        out.print(f"  {clean(change.text)}")
        for line in change.diff:
            out.print(f"    {clean(line)}", style="green" if line[:1] == "+" else "red" if line[:1] == "-" else "dim")
