"""`couler events RUN`: what was told of a run, and what still waits to be."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from couler_py.backends.local.api import load
from couler_py.backends.local.runs import naming
from couler_py.backends.local.telling import places, say, settings_for
from couler_py.cli import exits
from couler_py.cli.console import columns, console
from couler_py.cli.options import AsJson, RunName
from couler_py.cli.running import to_json
from couler_py.events.outbox import Outbox
from couler_py.events.places import UnreachableError
from couler_py.events.teller import deliver, left
from couler_py.store import runs
from couler_py.store.database import connect
from couler_py.store.home import open_home


def command(
    run: RunName,
    send: Annotated[bool, typer.Option("--send", help="Deliver what waits.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show what was told of a run to others, and deliver what waits."""
    home = open_home()
    run = naming.find(home, run)
    record = load(run, tasks=False)
    outbox = Outbox(home.run(run) / "events")
    if as_json:
        print(to_json([event.as_json() for event in outbox.events]), end="")
    else:
        rows = [
            (time.strftime("%H:%M:%S", time.localtime(event.time)), event.kind, event.task or "the run", event.message)
            for event in outbox.events
        ]
        for line in columns(rows, header=("TIME", "WHAT", "OF", "MESSAGE")) if rows else ():
            console().print(line)
    connection = connect(home)
    try:
        workflow = runs.workflow(connection, record.workflow)
    finally:
        connection.close()
    found, reasons = places(workflow, home, settings_for(workflow)), dict[str, str]()
    for place in found if send and outbox.events else ():
        try:
            deliver(outbox, place, outbox.delivered(place.name), reasons)
        except UnreachableError as problem:
            reasons[place.name] = str(problem)
    undone = left(outbox, found, reasons)
    for each in undone:
        say(run, each)
    if send and any(each.waiting for each in undone):
        raise typer.Exit(exits.UNREACHABLE)
