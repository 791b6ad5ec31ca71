"""Watching a run that this command started or steers, and what Ctrl-C does meanwhile."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Callable, Iterator
from typing import Any

import typer

from couler_py.backends.base import Change, Changing, Client
from couler_py.backends.interrupts import Interrupts
from couler_py.cli import exits
from couler_py.cli.console import console
from couler_py.cli.live import follow
from couler_py.cli.progress import differences
from couler_py.cli.summary import summary
from couler_py.ir.wire import finite

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""What stops a run of this process: Ctrl-C, whoever shuts the machine or the service down, a closed terminal."""


def watch(client: Client, start: Callable[[], str], *, as_json: bool = False) -> None:
    """Start a run, show it until it ends, print its JSON if asked, and end the command with the exit code for that.

    Ctrl-C stops a run that works in this process and waits for it, a second one ends its steps at once;
    of any other run it only ends the watching.
    """
    interrupts = Interrupts(SIGNALS)
    try:
        with interrupts.caught():
            run = start()
            told = interrupts.passed_on(client.changes(run)) if isinstance(client, Changing) else None
            changes = differences(interrupts.passed_on(client.watch(run))) if told is None else told
            _follow(interrupts, changes, quiet=as_json)
    except KeyboardInterrupt:
        console(stderr=True).print(f"no longer watching; {run} goes on: `couler watch {run}`")
        raise
    status = client.status(run)
    if as_json:
        sys.stdout.write(to_json(status.as_json()))
    if interrupts.count and status.status == "Stopped":
        console(stderr=True).print(f"stopped; `couler resume {run}` goes on with it")
        raise typer.Exit(exits.INTERRUPTED)
    if status.status != "Succeeded":
        raise typer.Exit(exits.FAILED)


def has_ended(client: Client, run: str, *, as_json: bool) -> bool:
    """Whether a run has succeeded or failed, so that there is nothing to steer; says so."""
    before = client.status(run).status
    if before not in ("Succeeded", "Failed"):
        return False
    if as_json:
        print(to_json({"run": run, "asked": None, "status": before}), end="")
    console(stderr=True).print(f"{run} has ended before: {before}")
    return True


def print_logs(client: Client, start: Callable[[], str], *, as_json: bool = False) -> None:
    """Start a run elsewhere and print what its steps write until it ends, then how it ended; exits as `watch` does.

    With `as_json` the lines go to stderr: stdout has the JSON alone. Ctrl-C only ends the watching.
    """
    out = sys.stderr if as_json else sys.stdout
    run = start()
    console(stderr=True).print(run, style="dim")
    try:
        for line in client.logs(run, follow=True):
            print(f"{line.task}: {line.text}", flush=True, file=out)
        for status in client.watch(run):
            last = status
    except KeyboardInterrupt:
        console(stderr=True).print(f"no longer watching; {run} goes on: `couler watch {run}`")
        raise
    console(stderr=True).print(summary(last))
    if as_json:
        sys.stdout.write(to_json(last.as_json()))
    if last.status != "Succeeded":
        raise typer.Exit(exits.FAILED)


def _follow(interrupts: Interrupts, changes: Iterator[Change], *, quiet: bool) -> None:
    try:
        follow(
            changes,
            quiet=quiet,
            hint=lambda: "stopping; Ctrl-C again ends everything at once" if interrupts.count else "",
        )
    except OSError:
        if not interrupts.count:
            raise
        follow(changes, quiet=True)  # the terminal was closed; the run has still to be stopped


def to_json(value: Any) -> str:
    """JSON text that every reader takes: numbers that aren't finite are the strings "NaN", "Infinity", "-Infinity"."""
    return json.dumps(finite(value), indent=2, ensure_ascii=False) + "\n"
