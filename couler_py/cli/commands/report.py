"""`couler report RUN`: a run as one page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from couler_py.backends.base import Client, RunStatus
from couler_py.cli.console import console, size
from couler_py.cli.options import RunName
from couler_py.cli.reach import Reach, reaching
from couler_py.report.cards import image_type
from couler_py.report.runs import Attachment, RunFacts, TaskFacts, run_page

LARGEST = 8 * 1024 * 1024
"""The most bytes of an artifact that is shown in the page."""


@reaching
def command(
    run: RunName,
    output: Annotated[str, typer.Option("-o", "--output", metavar="PATH", help="The HTML file.")] = "report.html",
    *,
    reach: Reach,
) -> None:
    """Write a run as one HTML page."""
    client = reach.client_of(run)
    html = run_page(facts(client.status(run)), attachments(client, run))
    path = Path(output)
    path.write_text(html, encoding="utf-8")
    console(stderr=True).print(f"wrote {path} ({size(path.stat().st_size)})")


def facts(status: RunStatus) -> RunFacts:
    """A run's status as the page takes it."""
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
                cached=task.cached,
                metrics=task.metrics,
            )
            for task in status.tasks
        ),
    )


def attachments(client: Client, run: str) -> list[Attachment]:
    """The artifacts on this machine that are pictures or HTML pages, and the places of all others."""
    found = []
    for name, place in client.artifacts(run).items():
        path = Path(place)
        if "://" in place or not path.is_file() or path.stat().st_size > LARGEST:
            found.append(Attachment(name, place))
            continue
        content = path.read_bytes()
        media_type = image_type(content)
        if media_type is None and content[:512].lstrip().lower().startswith((b"<!doctype html", b"<html")):
            media_type = "text/html"
        found.append(Attachment(name, place, media_type, content if media_type else b""))
    return found
