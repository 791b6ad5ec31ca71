"""Watching a run that this command started or steers, and stopping it by Ctrl-C."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator
from typing import Any

import typer

from couler_py.backends.base import FINISHED, Client, RunStatus
from couler_py.cli import exits
from couler_py.cli.console import console
from couler_py.cli.engines import exit_code
from couler_py.cli.live import follow


def watch(client: Client, run: str, *, as_json: bool = False, stop_on_interrupt: bool = False) -> None:
    """Show a run until it ends, print its JSON if asked, and end the command with the exit code for how it ended.

    With `stop_on_interrupt`, Ctrl-C stops the run and waits for it; a second one ends it at once.
    """
    try:
        follow(_until_waiting(client, run), quiet=as_json)
    except KeyboardInterrupt:
        if not stop_on_interrupt:
            console(stderr=True).print(f"\nno longer watching; {run} goes on. `couler watch {run}` watches again")
            raise
        _stop(client, run, as_json)
        _print(client.status(run), as_json)
        raise typer.Exit(exits.INTERRUPTED) from None
    status = client.status(run)
    _print(status, as_json)
    if status.status == "Suspended" and not as_json:
        console(stderr=True).print(f"{run} waits: `couler resume {run}` goes on")
    code = exit_code(status)
    if code:
        raise typer.Exit(code)


def _until_waiting(client: Client, run: str) -> Iterator[RunStatus]:
    # A run that waits for a person may wait for days; the terminal is theirs again.
    for status in client.watch(run):
        yield status
        if status.status in FINISHED or status.status == "Suspended":
            return


def _stop(client: Client, run: str, quiet: bool) -> None:
    out = console(stderr=True)
    out.print("\nstopping: running steps end, no others start; Ctrl-C again ends everything now")
    try:
        if client.status(run).status not in FINISHED:
            client.stop(run)
        follow(client.watch(run), quiet=quiet)
    except KeyboardInterrupt:
        client.terminate(run)
        follow(client.watch(run), quiet=quiet)
    out.print(f"stopped {run}: `couler resume {run}` goes on, `couler retry {run}` runs what failed again")


def _print(status: RunStatus, as_json: bool) -> None:
    if as_json:
        sys.stdout.write(to_json(status.as_json()))


def to_json(value: Any) -> str:
    """JSON text that every reader takes: numbers that aren't finite are the strings "NaN", "Infinity", "-Infinity"."""
    return json.dumps(_finite(value), indent=2, ensure_ascii=False) + "\n"


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, dict):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value
