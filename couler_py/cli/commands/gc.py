"""`couler gc`: free what nothing needs any more."""

from __future__ import annotations

from typing import Annotated

import msgspec
import typer

from couler_py.backends.local.runs import garbage
from couler_py.cli.amounts import bytes_of, seconds_of
from couler_py.cli.console import columns, console, size
from couler_py.cli.options import AsJson
from couler_py.cli.running import to_json
from couler_py.settings import load


def command(
    older_than: Annotated[
        str | None, typer.Option("--older-than", metavar="TIME", help="Runs that ended longer ago, as 30d.")
    ] = None,
    keep: Annotated[
        int | None,
        typer.Option("--keep", metavar="N", min=0, help="Runs beyond the N newest (with --older-than: both)"),
    ] = None,
    unused: Annotated[
        str, typer.Option("--unused", metavar="TIME", help="Environments and programs that nobody used for so long.")
    ] = "30d",
    stores: Annotated[
        bool, typer.Option("--stores", help="Also what this home has put into stores of artifacts and needs no more.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would go.")] = False,
    as_json: AsJson = False,
) -> None:
    """Free what nothing needs any more.

    Files, environments, cached outputs over budget; old runs if asked.
    """
    settings = load().cache
    found = garbage.sweep(
        older_than=None if older_than is None else seconds_of("--older-than", older_than),
        keep=keep,
        budget=bytes_of("cache.budget", settings.budget) if settings.budget else None,
        policy=settings.policy,
        unused=seconds_of("--unused", unused),
        stores=stores,
        dry_run=dry_run,
    )
    if as_json:
        print(to_json(msgspec.to_builtins(found) | {"size": found.size}), end="")
        return
    out = console()
    rows = [[kind, f"{freed.count:,}", size(freed.size)] for kind, freed in found.freed.items() if freed.count]
    if rows:
        for line in columns(rows, header=("WHAT", "COUNT", "SIZE")):
            out.print(line)
    for run, why in found.kept.items():
        console(stderr=True).print(f"kept {run}: it {why}")
    out.print(f"{'would free' if dry_run else 'freed'} {size(found.size)}")
