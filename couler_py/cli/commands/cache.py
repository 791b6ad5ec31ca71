"""`couler cache`: results that steps with a cache have left for others."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Annotated, Any

import msgspec
import typer

from couler_py.backends.local.cache.settling import surplus
from couler_py.backends.local.paths import shown
from couler_py.backends.local.runs import garbage
from couler_py.cli import replaying
from couler_py.cli.amounts import bytes_of, seconds_of
from couler_py.cli.app import COMMANDS
from couler_py.cli.console import clean, columns, console, one_line, size
from couler_py.cli.errors import UsageError
from couler_py.cli.options import AsJson
from couler_py.cli.running import to_json
from couler_py.report.page import value_text
from couler_py.settings import load
from couler_py.store import cache
from couler_py.store.cache import Entry
from couler_py.store.database import connect
from couler_py.store.home import open_home

app = typer.Typer(help=COMMANDS["cache"][1], add_completion=False, rich_markup_mode=None, no_args_is_help=True)

Step = Annotated[str | None, typer.Option("--step", metavar="PATTERN", help="Only of steps so named, as 'train*'.")]
OlderThan = Annotated[
    str | None, typer.Option("--older-than", metavar="TIME", help="Only what was made longer ago, as 7d.")
]
Larger = Annotated[str | None, typer.Option("--larger", metavar="SIZE", help="Only what is larger, as 100MB.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only say what would go.")]

DIGITS = 12  # of a key that are shown


@app.command("list")
def list_all(step: Step = None, older_than: OlderThan = None, larger: Larger = None, as_json: AsJson = False) -> None:
    """List what is kept, newest first."""
    with _connected() as connection:
        found = [each for each in cache.entries(connection) if _is_meant(each, step, older_than, larger)]
    if as_json:
        print(to_json([_plain(each) for each in found]), end="")
        return
    if not found:
        console(stderr=True).print("nothing is kept")
        return
    rows = [
        [each.key[:DIGITS], _step(each), _moment(each.created), _moment(each.used), str(each.hits), size(each.size)]
        for each in found
    ]
    for line in columns(rows, header=("KEY", "STEP", "MADE", "USED", "HITS", "SIZE")):
        console().print(line)
    console(stderr=True).print(f"{len(found):,} results, {size(sum(each.size for each in found))}", style="dim")


@app.command("show")
def show(
    key: Annotated[str, typer.Argument(metavar="KEY", help="A key, or the beginning of it.")], as_json: AsJson = False
) -> None:
    """Show one result: who made it, what it was made from, its outputs."""
    with _connected() as connection:
        keys = cache.keys_like(connection, key)
        if len(keys) != 1:
            some = ", ".join(each[:DIGITS] for each in keys[:5])
            raise UsageError(f"{key!r} may be {some}: type more of it" if keys else f"nothing is kept under {key!r}")
        found = cache.entry(connection, keys[0])
    assert found is not None
    if as_json:
        print(to_json(_plain(found) | {"parts": msgspec.to_builtins(found.parts)}), end="")
        return
    out = console()
    facts = [("key", found.key), ("step", _step(found)), ("made by", f"{found.run}/{shown(found.path)}")]
    facts += [("made", _moment(found.created)), ("used", f"{_moment(found.used)}, {found.hits} times in all")]
    facts += [("size", size(found.size))]
    for line in columns(facts):
        out.print(line)
    for title, rows in (("MADE FROM", _parts(found)), ("OUTPUT", _outputs(found))):
        if rows:
            out.print("")
            for line in columns(rows, header=(title, "")):
                out.print(line)


@app.command("prune")
def prune(
    step: Step = None,
    older_than: OlderThan = None,
    larger: Larger = None,
    unused: Annotated[
        str | None, typer.Option("--unused", metavar="TIME", help="Only what nobody used for so long, as 30d.")
    ] = None,
    budget: Annotated[
        str | None,
        typer.Option(
            "--budget", metavar="SIZE", help="What cache.policy lets go, until the rest fits (default: cache.budget)."
        ),
    ] = None,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Forget some results, and delete the files that nothing else needs."""
    bound = budget or load().cache.budget
    if not (step or older_than or larger or unused or bound):
        raise UsageError(
            "say which: --older-than, --unused, --larger, --step or --budget; `couler cache clear` takes all"
        )
    with _connected() as connection:
        known = cache.entries(connection)
        over = set()
        if budget or not (step or older_than or larger or unused):
            over = {each.key for each in surplus(connection, bytes_of("--budget", bound), load().cache.policy)}
    chosen = known
    if step or older_than or larger or unused:
        chosen = [each for each in known if _is_meant(each, step, older_than, larger, unused)]
    if budget or not (step or older_than or larger or unused):
        chosen = [each for each in chosen if each.key in over]
    _forget(chosen, dry_run, as_json)


@app.command("clear")
def clear(step: Step = None, dry_run: DryRun = False, as_json: AsJson = False) -> None:
    """Forget all results, or all of some steps, and delete the files that nothing else needs."""
    with _connected() as connection:
        chosen = [each for each in cache.entries(connection) if _is_meant(each, step, None, None)]
    _forget(chosen, dry_run, as_json)


app.command("replay")(replaying.command)


def _forget(chosen: list[Entry], dry_run: bool, as_json: bool) -> None:
    found = garbage.forget_cached(chosen, dry_run=dry_run)
    if as_json:
        print(to_json({"keys": [each.key for each in chosen], "dry_run": dry_run, "size": found.size}), end="")
        return
    verb = "would forget" if dry_run else "forgot"
    console(stderr=True).print(f"{verb} {len(chosen):,} results; {size(found.size)} of files needed by nothing else")


@contextlib.contextmanager
def _connected() -> Iterator[Any]:
    connection = connect(open_home())
    try:
        yield connection
    finally:
        connection.close()


def _is_meant(
    entry: Entry, step: str | None, older_than: str | None, larger: str | None, unused: str | None = None
) -> bool:
    now = time.time()
    return (
        (step is None or fnmatchcase(_step(entry), step))
        and (older_than is None or entry.created < now - seconds_of("--older-than", older_than))
        and (unused is None or entry.used < now - seconds_of("--unused", unused))
        and (larger is None or entry.size > bytes_of("--larger", larger))
    )


def _step(entry: Entry) -> str:
    # What the first version of the store kept has no step, but the path of its task.
    return entry.step or shown(entry.path).rpartition("/")[2]


def _plain(entry: Entry) -> dict[str, Any]:
    return {
        "key": entry.key,
        "step": _step(entry),
        "run": entry.run,
        "task": shown(entry.path),
        "made": entry.created,
        "used": entry.used,
        "hits": entry.hits,
        "size": entry.size,
        "outputs": dict(entry.result.parameters)
        | {name: msgspec.to_builtins(ref) for name, ref in entry.result.artifacts.items()},
    }


def _parts(entry: Entry) -> list[list[str]]:
    return [[name, part.shown or part.digest] for name, part in sorted(entry.parts.items())]


def _outputs(entry: Entry) -> list[list[str]]:
    rows = [[name, one_line(value_text(value))] for name, value in entry.result.parameters.items()]
    return rows + [[name, f"{ref.kind}, {size(ref.size)}"] for name, ref in entry.result.artifacts.items()]


def _moment(moment: float) -> str:
    return clean(time.strftime("%Y-%m-%d %H:%M", time.localtime(moment)))
