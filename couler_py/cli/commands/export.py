"""`couler export RUN`: a run as a folder or archive to mail."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec
import typer

from couler_py import api
from couler_py.backends.local.client import LocalClient
from couler_py.backends.local.runs.exporting import Files
from couler_py.cli.console import clean, console
from couler_py.cli.errors import UsageError
from couler_py.cli.options import AsJson, RunName
from couler_py.cli.reach import Reach, reaching
from couler_py.cli.running import to_json


@reaching
def command(
    run: RunName,
    output: Annotated[
        str | None,
        typer.Option("-o", "--output", metavar="PATH", help="A folder or FILE.tar.gz (default: RUN.tar.gz)"),
    ] = None,
    files: Annotated[
        str, typer.Option("--files", metavar="all|small|none", help="Which artifacts go along; small: up to 8 MiB.")
    ] = "small",
    as_json: AsJson = False,
    *,
    reach: Reach,
) -> None:
    """Write a run as a folder or archive to mail.

    Record, workflow, logs, files and page, with secrets hidden.
    """
    client, run = reach.run_of(run)
    if not isinstance(client, LocalClient):
        raise UsageError(f"{run} is not in the store of this machine")
    if files not in ("all", "small", "none"):
        raise UsageError(f"--files {files!r}: all, small or none")
    wanted: Files = files  # type: ignore[assignment]  # checked above
    target = Path(output or f"{run}.tar.gz")
    written = api.export(client, run, target, files=wanted)
    if as_json:
        print(to_json(msgspec.to_builtins(written)), end="")
        return
    out = console(stderr=True)
    out.print(f"wrote {target}: {written.logs} logs, {written.files} files")
    for name, why in written.left_out.items():
        out.print(f"  without {clean(name)}: {clean(why)}", style="dim")
    if written.left_out and files == "small":
        out.print("  --files all takes them along", style="dim")
