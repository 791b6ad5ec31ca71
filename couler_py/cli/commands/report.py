"""`couler report RUN`: a run as one page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from couler_py.backends.base import Client, Reporting, RunStatus
from couler_py.cli.console import console, size
from couler_py.cli.options import RunName
from couler_py.cli.reach import Reach, reaching
from couler_py.report.facts import RunFacts, TaskFacts
from couler_py.report.previews import attachments
from couler_py.report.runs import run_page


@reaching
def command(
    run: RunName,
    output: Annotated[str, typer.Option("-o", "--output", metavar="PATH", help="The HTML file.")] = "report.html",
    *,
    reach: Reach,
) -> None:
    """Write a run as one HTML page."""
    client, run = reach.run_of(run)
    path = Path(output)
    path.write_text(page_of(client, run), encoding="utf-8")
    console(stderr=True).print(f"wrote {path} ({size(path.stat().st_size)})")


def page_of(client: Client, run: str) -> str:
    """The HTML of a run's page."""
    facts = client.report(run) if isinstance(client, Reporting) else facts_of(client.status(run))
    return run_page(facts, attachments(client.artifacts(run)))


def facts_of(status: RunStatus) -> RunFacts:
    """A run's status as the page takes it, where the engine says no more."""
    return RunFacts(
        run=status.run,
        workflow=status.workflow,
        status=status.status,
        engine=status.engine,
        started=status.started,
        finished=status.finished,
        message=status.message,
        parameters=status.parameters,
        outputs=status.outputs,
        tasks=tuple(
            TaskFacts(
                name=task.name,
                status=task.status,
                attempts=task.attempts,
                seconds=task.seconds,
                started=task.started,
                finished=task.finished,
                message=task.message,
                cached="an earlier run" if task.cached else "",
                metrics=task.metrics,
            )
            for task in status.tasks
        ),
    )
