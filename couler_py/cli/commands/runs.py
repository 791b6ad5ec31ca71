"""`couler runs`: what ran and what runs."""

from __future__ import annotations

import itertools
import time
from fnmatch import fnmatchcase
from typing import Annotated, Any, get_args

import typer

from couler_py.backends.base import ClusterClient, RunPhase, RunStatus
from couler_py.cli.amounts import seconds_of
from couler_py.cli.console import columns, console, phase_text, seconds
from couler_py.cli.errors import UsageError
from couler_py.cli.options import AsJson, Engine
from couler_py.cli.reach import Reach, reaching
from couler_py.cli.running import to_json


def count(text: str) -> int:
    """A number of runs as it is typed. Raises `UsageError`: `-n` is the namespace of other commands."""
    if text.isdecimal() and int(text) > 0:
        return int(text)
    raise UsageError(f"-n {text}: how many runs are listed, as -n 20; a namespace is --namespace NAME")


@reaching
def command(
    engine: Engine = None,
    as_json: AsJson = False,
    most: Annotated[str, typer.Option("-n", "--most", "--limit", metavar="COUNT", help="At most so many.")] = "50",
    status: Annotated[
        list[str] | None, typer.Option("--status", metavar="STATUS", help="Only these: Running, Failed, …")
    ] = None,
    name: Annotated[
        str | None, typer.Option("--name", metavar="PATTERN", help="Only of workflows or runs so named, as 'train*'.")
    ] = None,
    since: Annotated[
        str | None, typer.Option("--since", metavar="TIME", help="Only what began no longer ago, as 2h or 7d.")
    ] = None,
    label: Annotated[
        str | None, typer.Option("-l", "--label", metavar="SELECTOR", help="Only runs with these labels, as team=a.")
    ] = None,
    namespace: Annotated[str | None, typer.Option("--namespace", metavar="NAME", help="Of another namespace.")] = None,
    *,
    reach: Reach,
) -> None:
    """List runs, newest first."""
    limit = count(most)
    wanted = {phase(each) for each in status or ()}
    elsewhere = bool(reach.typed or label or namespace)
    client: Any = reach.client(engine or ("argo" if elsewhere else "local"), namespace=namespace)
    if label and not isinstance(client, ClusterClient):
        raise UsageError(f"-l {label}: runs of the engine {client.engine} have no labels")
    listed = client.list(labels=label) if label else client.list()
    after = None if since is None else time.time() - seconds_of("--since", since)
    chosen = (run for run in listed if _is_meant(run, wanted, name, after))
    found = list(itertools.islice(chosen, limit))
    if as_json:
        print(to_json([_plain(run) for run in found]), end="")
        return
    out = console()
    if not found:
        filtered = wanted or name or since or label
        console(stderr=True).print("no such runs" if filtered else "no runs yet")
        return
    rows = [[run.run, phase_text(run.status), run.workflow, _started(run), took(run)] for run in found]
    for line in columns(rows, header=("RUN", "STATUS", "WORKFLOW", "STARTED", "TOOK")):
        out.print(line)


def _is_meant(run: RunStatus, wanted: set[str], name: str | None, after: float | None) -> bool:
    if wanted and run.status not in wanted:
        return False
    if after is not None and (run.started or 0.0) < after:
        return False
    return name is None or any(fnmatchcase(each, name) for each in (run.workflow, run.run))


def phase(text: str) -> str:
    """A status as it is written, whatever its case. Raises `UsageError` for one that there isn't."""
    for each in get_args(RunPhase):
        if each.lower() == text.lower():
            return str(each)
    raise UsageError(f"--status {text!r}: there are {', '.join(get_args(RunPhase))}")


def _plain(run: RunStatus) -> dict[str, Any]:
    return {
        "run": run.run,
        "workflow": run.workflow,
        "status": run.status,
        "engine": run.engine,
        "started": run.started,
        "finished": run.finished,
        "seconds": run.seconds(time.time()),
        "message": run.message,
    }


def _started(run: RunStatus) -> str:
    if run.started is None:
        return ""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(run.started))


def took(run: RunStatus) -> str:
    """How long a run has taken, and how long it was stopped meanwhile."""
    text = seconds(run.seconds(time.time()))
    return f"{text}, paused {seconds(run.paused)}" if run.paused else text
