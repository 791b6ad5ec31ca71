"""`couler lake`: steps and workflows that were written before, for `couler ask` to find again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from couler_py.cli.app import COMMANDS
from couler_py.cli.console import columns, console, one_line
from couler_py.cli.errors import UsageError
from couler_py.cli.options import AsJson
from couler_py.cli.running import to_json
from couler_py.nl import lake
from couler_py.nl.lake import Found

app = typer.Typer(help=COMMANDS["lake"][1], add_completion=False, rich_markup_mode=None, no_args_is_help=True)

Lake = Annotated[
    Path | None,
    typer.Option("--lake", metavar="DIR", help="The folder of the lake, instead of .couler/lake and $COULER_LAKE."),
]
Shipped = Annotated[bool, typer.Option("--all", help="With the steps that come with couler.")]


@app.command("add")
def add(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Python files, or folders of them.")],
    folder: Lake = None,
    share_source: Annotated[
        bool, typer.Option("--share-source", help="Keep the source of steps too, so that drafts can hold it.")
    ] = False,
) -> None:
    """Add the steps and workflows of Python files, which are read and not run."""
    found = [entry for file in files for entry in lake.read(file, source=share_source)]
    written = lake.keep(found, folder)
    out = console(stderr=True)
    for entry in found:
        out.print(f"{entry.key}  {one_line(entry.line())}")
    out.print(f"{len(found)} in {written}", style="dim")
    bare = [entry.name for entry in found if share_source and entry.kind == "step" and not entry.pieces]
    if bare:
        out.print(f"without source, for they need more than their own file: {', '.join(bare)}", style="yellow")


@app.command("list")
def list_all(folder: Lake = None, shipped: Shipped = False, as_json: AsJson = False) -> None:
    """List what the lake has."""
    _show([each for each in _entries(folder) if each.own or shipped], as_json)


@app.command("search")
def search(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="Some words of what it should do.")],
    folder: Lake = None,
    limit: Annotated[int, typer.Option("-n", min=1, metavar="N", help="How many, the best first.")] = 10,
    as_json: AsJson = False,
) -> None:
    """Find what fits some words, the best first."""
    if not text.strip():
        raise UsageError("search for which words?")
    _show(lake.search(text, _entries(folder), limit), as_json)


def _entries(folder: Path | None) -> tuple[Found, ...]:
    return lake.all_entries(None if folder is None else [folder])


def _show(found: list[Found], as_json: bool) -> None:
    if as_json:
        print(to_json([_plain(each) for each in found]), end="")
        return
    if not found:
        console(stderr=True).print("nothing is there; `couler lake add FILE` adds the steps of a file")
        return
    rows = [
        [each.entry.key, each.entry.kind, "yes" if each.entry.pieces else "no", one_line(each.entry.line())]
        for each in found
    ]
    for line in columns(rows, header=("NAME", "KIND", "SOURCE", "WHAT")):
        console().print(line)


def _plain(found: Found) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.to_builtins(found.entry)
    return {**plain, "key": found.entry.key, "lake": found.lake}
