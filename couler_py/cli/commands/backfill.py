"""`couler backfill FILE --from A --to B`: the past instants of a schedule."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from typing import Annotated, Any
from zoneinfo import ZoneInfo

import typer

from couler_py import api
from couler_py.backends.base import Backfilling, Instant, NotOffered, parse_target
from couler_py.backends.interrupts import Interrupts
from couler_py.backends.local.client import LocalClient
from couler_py.cli import exits, linting
from couler_py.cli.commands.run import runtime_of
from couler_py.cli.commands.submit import about_another_version
from couler_py.cli.console import console, phase_text
from couler_py.cli.errors import UsageError
from couler_py.cli.findings import show
from couler_py.cli.load import Loaded, load
from couler_py.cli.options import AsJson, EngineOptions, File, Parameters, engine_options
from couler_py.cli.parameters import read
from couler_py.cli.reach import Reach, reaching
from couler_py.cli.running import SIGNALS, to_json
from couler_py.settings import load as load_settings

DAY = re.compile(r"\d{4}-\d\d-\d\d")


@reaching
def command(
    file: File,
    begin: Annotated[
        str, typer.Option("--from", metavar="TIME", help="The first instant, as 2026-01-01 or 2026-01-01T03:00+01:00.")
    ],
    end: Annotated[str, typer.Option("--to", metavar="TIME", help="The last one; a day alone is all of that day.")],
    engine: Annotated[
        str | None,
        typer.Option("--engine", metavar="ENGINE", help="local or airflow (default: the settings', else local)."),
    ] = None,
    parallel: Annotated[int, typer.Option("--parallel", min=1, metavar="COUNT", help="So many runs at once.")] = 1,
    again: Annotated[bool, typer.Option("--failed", help="Also those whose runs failed.")] = False,
    parameter: Parameters = None,
    as_json: AsJson = False,
    option: EngineOptions = None,
    *,
    reach: Reach,
) -> None:
    """Run the past instants of a workflow's schedule, each once."""
    settings = load_settings(Path(file).parent if Path(file).is_file() else None)
    target = engine or settings.engine or "local"
    loaded = load(file)
    schedule = loaded.workflow.schedule
    if schedule is None:
        raise UsageError(f"{file} has no schedule: @couler.workflow(schedule=…, timezone=…) gives it one")
    zone = ZoneInfo(schedule.timezone or "UTC")
    span = (instant("--from", begin, zone), instant("--to", end, zone, last=True))
    if span[0] > span[1]:
        raise UsageError(f"--from {begin} comes after --to {end}")
    client, bundle, options = _prepared(file, loaded, target, parameter, engine_options(option), reach)
    interrupts = Interrupts(SIGNALS)
    with interrupts.caught():
        told = client.backfill(bundle, *span, parallel=parallel, again=again, **options)
        try:
            found = _follow(interrupts.passed_on(iter(told)), zone, quiet=as_json)
        except ValueError as error:
            raise UsageError(str(error)) from error
    counted = Counter(each.status for each in found)
    if as_json:
        print(to_json([{"at": _shown(each, UTC), "run": each.run, "status": each.status} for each in found]), end="")
    else:
        summary = ", ".join(f"{count} {status}" for status, count in counted.items())
        console(stderr=True).print(summary or f"the schedule has no instants from {begin} to {end}")
    if interrupts.count:
        console(stderr=True).print("stopped; the same command goes on with what is left")
        raise typer.Exit(exits.INTERRUPTED)
    if set(counted) - {"Succeeded"}:
        raise typer.Exit(exits.FAILED)


def instant(option: str, text: str, zone: ZoneInfo, *, last: bool = False) -> float:
    """Seconds since the epoch of a time that is typed; without an offset it is one of the schedule's time zone.

    With `last`, a day alone is its last moment. Raises `UsageError`.
    """
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(f"{option} {text!r} is no time; write it as 2026-01-01 or 2026-01-01T03:00:00+01:00") from None
    if last and DAY.fullmatch(text):
        found = datetime.combine(found.date() + timedelta(days=1), time()) - timedelta(seconds=1)
    return (found if found.tzinfo else found.replace(tzinfo=zone)).timestamp()


def _prepared(
    file: str, loaded: Loaded, target: str, parameter: list[str] | None, options: dict[str, Any], reach: Reach
) -> tuple[Backfilling, Any, dict[str, Any]]:
    """The client, what it gets, and its options."""
    engine = parse_target(target)[0]
    if engine == "local":
        bundle = api.compile(loaded.model, to="local")
        show(bundle.diagnostics, console(stderr=True))
        linting.refuse(loaded)
        here = LocalClient()
        options["runtime"] = runtime_of(here, loaded, options.get("runtime"))
        if chosen := api.settings_of(loaded.workflow).artifacts:
            options.setdefault("artifacts", chosen)
        api.hand_over_secrets(loaded.workflow, here)
        return here, bundle, options | {"parameters": read(loaded.workflow, parameter or (), loaded.parameters)}
    client = reach.client(engine)
    if not isinstance(client, Backfilling):
        raise NotOffered(f"the engine {engine} runs no past instants: `couler backfill` does on local and airflow")
    if parameter:
        raise NotOffered(f"runs of a schedule on {engine} have the parameters that the workflow has by default")
    bundle = api.compile(loaded.model, to=target, **options)
    show(bundle.diagnostics, console(stderr=True))
    about_another_version(client, bundle, file)
    return client, bundle, {}


def _follow(told: Iterator[Sequence[Instant]], zone: ZoneInfo, *, quiet: bool) -> Sequence[Instant]:
    """Say what has changed, a line for each change; gives the instants as they are at the end."""
    found: Sequence[Instant] = ()
    out = console(stderr=True)
    for now in told:
        before = {each.at: each for each in found}
        for each in now:
            if not quiet and each != before.get(each.at) and each.status != "Pending":
                ran = "" if found or each.status in ("Pending", "Running") else "  (before)"
                out.print(f"{_shown(each, zone)}  ", phase_text(each.status), f"  {each.run}{ran}", sep="")
        found = now
    return found


def _shown(each: Instant, zone: Any) -> str:
    return datetime.fromtimestamp(each.at, zone).isoformat()
