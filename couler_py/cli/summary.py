"""How a run ended, in a few lines: what failed, its last words, how to go on, and the outputs."""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Iterable, Iterator

from couler_py.backends.base import FINISHED, RunStatus, TaskStatus
from couler_py.cli.console import PHASE_STYLE, Styled, clean, encodable, one_line, seconds
from couler_py.cli.progress import URGENT
from couler_py.passes.retry.recognise import explained
from couler_py.report.paths import innermost
from couler_py.report.text import gist as whole_gist

FAILURES = 5
"""So many failed tasks are named below a run that has ended; a fan-out may have thousands."""

LAST_LINES = 6
"""So many of the last lines of what a failed task wrote are shown there."""


def gist(message: str) -> str:
    """A message of several lines in one that can't steer a terminal: how it begins, and its last line."""
    return one_line(whole_gist(message))


def _failures(status: RunStatus) -> Iterator[tuple[str, str]]:
    """Which tasks failed, their last lines, where to read all, and how to go on: lines and their styles."""
    failed = _where_it_failed(status.tasks)
    for task in failed[:FAILURES]:
        said = gist(task.message)
        if status.message != f"{task.name} failed: {said}":
            yield f"{clean(task.name)}: {said}", "red"
        lines = [clean(line.rstrip()) for line in task.message.split("\n")[1:] if line.strip()]
        for line in lines[-LAST_LINES:]:
            yield encodable(f"│ {line}"), "dim"
        if kind := explained(task.message):
            yield kind, "yellow"
        yield f"`couler logs {status.run} {clean(task.name)}` shows all that it wrote", "dim"
    if len(failed) > FAILURES:
        yield encodable(f"… and {len(failed) - FAILURES:,} more; `couler report {status.run}` shows them all"), "dim"
    if status.status == "Failed" and status.engine != "exported":
        yield f"`couler retry {status.run}` runs what failed again{_with_its_code(status, failed)}", "dim"


def _with_its_code(status: RunStatus, failed: list[TaskStatus]) -> str:
    source = next((task.source for task in failed if task.source is not None), None)
    if status.engine != "local" or source is None or not source.file.endswith(".py"):
        return ""
    path = os.path.relpath(source.file)
    return f"; with the code as it is now: `couler retry {status.run} --with {shlex.quote(clean(path))}`"


def run_seconds(status: RunStatus) -> float | None:
    """How long a run has taken so far, without the time in which it was stopped."""
    return status.seconds(time.time())


def summary(status: RunStatus) -> Styled:
    """How a run stands, in one line, and its outputs."""
    return Styled(_summary(status))


def _summary(status: RunStatus) -> Iterator[tuple[str, str]]:
    yield status.status, PHASE_STYLE.get(status.status, "")
    yield f"  {status.run}", ""
    paused = f"paused {seconds(status.paused)}" if status.paused else ""
    for fact in (seconds(run_seconds(status)), paused, _count_text(status.tasks)):
        if fact:
            yield f"  {fact}", "dim"
    if status.message:
        yield f"\n  {clean(status.message)}", PHASE_STYLE.get(status.status, "")
    for words, style in _failures(status):
        yield f"\n  {words}", style
    if status.status in FINISHED:
        from couler_py.report.page import value_text

        for name, value in status.outputs.items():
            shown = one_line(value_text(value))
            yield f"\n  {clean(name)} = ", "bold"
            yield shown if len(shown) <= 200 else f"{shown[:199]}…", ""


def _count_text(tasks: Iterable[TaskStatus]) -> str:
    counts: dict[str, int] = {}
    for task in tasks:
        counts[task.status] = counts.get(task.status, 0) + 1
    parts = [f"{counts[phase]:,} {phase.lower()}" for phase in URGENT if counts.get(phase)]
    cached = sum(task.cached for task in tasks)
    return ", ".join([*parts, *([f"{cached:,} cached"] if cached else [])])


def _where_it_failed(tasks: Iterable[TaskStatus]) -> list[TaskStatus]:
    """The failed tasks that have a message, without those that failed because one inside of them did."""
    failed = {task.name: task for task in tasks if task.status == "Failed" and task.message}
    return [failed[name] for name in innermost(failed)]
