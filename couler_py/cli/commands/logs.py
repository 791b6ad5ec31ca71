"""`couler logs RUN [TASK]`: what steps wrote."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Annotated, Any

import typer

from couler_py.backends.base import Detailed, LogLine
from couler_py.cli.errors import UsageError
from couler_py.cli.options import RunName
from couler_py.cli.reach import Reach, reaching


@reaching
def command(
    run: RunName,
    task: Annotated[str | None, typer.Argument(help="Only this task, as `couler watch` names it.")] = None,
    of: Annotated[str | None, typer.Option("--task", metavar="TASK", help="The same, as an option.")] = None,
    follow: Annotated[bool, typer.Option("-f", "--follow", help="Go on until the run has ended.")] = False,
    container: Annotated[
        str | None, typer.Option("-c", "--container", help="Another one of the pod: init, wait, a sidecar's name.")
    ] = None,
    since: Annotated[
        str | None, typer.Option("--since", metavar="TIME", help="Only what is younger, as 45s, 10m, 1h30m.")
    ] = None,
    tail: Annotated[int | None, typer.Option("--tail", min=0, help="Only the last lines of each pod.")] = None,
    *,
    reach: Reach,
) -> None:
    """Print what the steps of a run wrote."""
    if task is not None and of not in (None, task):
        raise UsageError(f"one task at a time: {task} or {of}")
    task = task or of
    client, run = reach.run_of(run)
    options: dict[str, Any] = {}
    if container is not None:
        options["container"] = container
    if since is not None:
        options["since"] = duration(since)
    if tail is not None and not isinstance(client, Detailed):
        options["tail"] = tail
    if options and isinstance(client, Detailed):
        raise UsageError(f"--{next(iter(options))} is for pods; of a run on this machine there is one log for a step")
    lines = client.logs(run, task, follow=follow, **options)
    if tail is not None and isinstance(client, Detailed):
        if follow:
            raise UsageError("--tail waits for the end of a log, and --follow goes on from it: say one of them")
        lines = last_of_each(lines, tail)
    for line in lines:
        # Of one task only its lines; of several each line says whose it is.
        print(line.text if task is not None else f"{line.task}: {line.text}", flush=follow)


def last_of_each(lines: Iterable[LogLine], count: int) -> Iterator[LogLine]:
    """The last lines of each attempt, in the order of the attempts."""
    kept: dict[tuple[str, int], deque[LogLine]] = {}
    for line in lines:
        kept.setdefault((line.task, line.attempt), deque(maxlen=count)).append(line)
    for attempt in kept.values():
        yield from attempt


def duration(text: str) -> int:
    """Seconds from what is typed: `45s`, `10m`, `1h30m`, or a number of seconds. Raises `UsageError`."""
    found = re.fullmatch(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s?)?", text)
    if not text or found is None:
        raise UsageError(f"--since {text!r} is no time; write it as 45s, 10m or 1h30m")
    hours, minutes, seconds = (int(each or 0) for each in found.groups())
    return hours * 3600 + minutes * 60 + seconds
