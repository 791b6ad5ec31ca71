"""`couler runs`: what ran and what runs."""

from __future__ import annotations

import time
from typing import Annotated, Any

import typer

from couler_py.backends.base import RunStatus, backend
from couler_py.cli.console import columns, console, phase_text, seconds
from couler_py.cli.options import AsJson, Engine
from couler_py.cli.running import to_json


def command(
    engine: Engine = None,
    as_json: AsJson = False,
    most: Annotated[int, typer.Option("-n", "--most", min=1, help="At most so many.")] = 50,
) -> None:
    """List runs, newest first."""
    found = []
    for run in backend(engine or "local").client().list():
        found.append(run)
        if len(found) == most:
            break
    if as_json:
        print(to_json([_plain(run) for run in found]), end="")
        return
    out = console()
    if not found:
        console(stderr=True).print("no runs yet")
        return
    rows = [[run.run, phase_text(run.status), run.workflow, _started(run), seconds(_took(run))] for run in found]
    for line in columns(rows, header=("RUN", "STATUS", "WORKFLOW", "STARTED", "TOOK")):
        out.print(line)


def _plain(run: RunStatus) -> dict[str, Any]:
    return {
        "run": run.run,
        "workflow": run.workflow,
        "status": run.status,
        "engine": run.engine,
        "started": run.started,
        "finished": run.finished,
        "message": run.message,
    }


def _started(run: RunStatus) -> str:
    if run.started is None:
        return ""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(run.started))


def _took(run: RunStatus) -> float | None:
    if run.started is None:
        return None
    return (run.finished or time.time()) - run.started
