"""How runs and workflows look where Python is at work: on stderr, in a REPL, in a notebook."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from couler_py.backends.base import LogLine, RunStatus, TaskStatus
from couler_py.ir.model import Workflow
from couler_py.passes.retry.recognise import explained

MOST_FAILED = 5
"""Failed tasks that are named on stderr."""

MOST_ROWS = 100
"""Tasks in the table of a notebook."""

MOST_BOXES = 200
"""Boxes in a notebook's picture; above, alike tasks share one."""


class Logs:
    """What the steps of a run wrote: iterate over its `LogLine`s, or show it, as it is its text.

    Each iteration reads anew. Of several tasks each line of the text says whose it is.
    """

    def __init__(self, read: Callable[[], Iterator[LogLine]], *, of_one: bool):
        self._read = read
        self._of_one = of_one

    def __iter__(self) -> Iterator[LogLine]:
        return self._read()

    def __repr__(self) -> str:
        return "\n".join(line.text if self._of_one else f"{line.task}: {line.text}" for line in self)


def failure(status: RunStatus) -> str:
    """Why a run failed, in a few lines: the tasks that did, and where to read more."""
    failed = _failed(status.tasks)
    lines = []
    for task in failed[:MOST_FAILED]:
        lines.append(f"  {_one_line(task.name)}: {_last_line(task.message) or 'failed'}")
        if kind := explained(task.message):
            lines.append(f"    {kind}")
    if len(failed) > MOST_FAILED:
        lines.append(f"  … and {len(failed) - MOST_FAILED:,} more")
    reason = _last_line(status.message)
    # What the engine says of the run mostly repeats the task that failed.
    known = any(task.message and _last_line(task.message) in reason for task in failed[:MOST_FAILED])
    head = f"{status.run} failed" + (f": {reason}" if reason and not known else "")
    onwards = [
        f"`couler logs {status.run}` shows what its steps wrote",
        f"`couler retry {status.run}` runs what failed again",
    ]
    return "\n".join([head, *lines, *onwards])


def line(run: str, status: RunStatus | None) -> str:
    """A run in one line: how it stands, and why it failed."""
    if status is None:
        return f"<Run {run} started>"
    reason = _one_line(status.message) if status.status == "Failed" else ""
    return f"<Run {run} {status.status}{': ' if reason else ''}{reason}>"


def html(status: RunStatus) -> str:
    """A run as a notebook shows it: how it stands, why it failed, its outputs and its tasks."""
    from couler_py.report.page import value_text
    from couler_py.report.text import xml

    counts = ", ".join(f"{count:,} {state.lower()}" for state, count in Counter(t.status for t in status.tasks).items())
    head = f"<b>{xml(status.workflow)}</b> <code>{xml(status.run)}</code> {xml(status.status)}"
    parts = [f"<p>{head}{': ' if counts else ''}{counts}</p>"]
    if status.status == "Failed":
        parts.append(f"<pre>{xml(failure(status))}</pre>")
    parts.append(_table(("output", "value"), _texts(status.outputs, value_text), xml))
    rows = [(task.name, _state(task), _seconds(task), _last_line(task.message)) for task in _first(status.tasks)]
    parts.append(_table(("task", "state", "time", "message"), rows, xml))
    if len(status.tasks) > MOST_ROWS:
        parts.append(f"<p>{len(status.tasks) - MOST_ROWS:,} more tasks are not listed.</p>")
    return f"<div>{''.join(parts)}</div>"


def picture(workflow: Workflow) -> str:
    """The SVG of a workflow's graph as a notebook shows it."""
    from couler_py.report import graph

    scene = graph.scene(workflow, limit=MOST_BOXES)
    return graph.svg(scene, title=workflow.display or workflow.name, graphviz=False)


def _failed(tasks: Sequence[TaskStatus]) -> list[TaskStatus]:
    """The tasks that failed, without the graphs, fan-outs and loops that failed by them."""
    from couler_py.report.paths import innermost

    failed = {task.name: task for task in tasks if task.status == "Failed"}
    return [failed[name] for name in innermost(failed)]


def _first(tasks: Sequence[TaskStatus]) -> list[TaskStatus]:
    """The tasks that a table has room for: those that failed, and then the others, in their order."""
    if len(tasks) <= MOST_ROWS:
        return list(tasks)
    ranked = sorted(range(len(tasks)), key=lambda place: (tasks[place].status != "Failed", place))
    return [tasks[place] for place in sorted(ranked[:MOST_ROWS])]


def _state(task: TaskStatus) -> str:
    if task.cached:
        return f"{task.status}, cached"
    return f"{task.status}, attempt {task.attempts}" if task.attempts > 1 else task.status


def _last_line(message: str) -> str:
    lines = message.strip().splitlines()
    return _one_line(lines[-1]) if lines else ""


def _one_line(text: str) -> str:
    """A text without line breaks and what else could move a terminal's cursor."""
    return "".join(char if char.isprintable() else "\ufffd" for char in " ".join(text.split()))


def _seconds(task: TaskStatus) -> str:
    return "" if task.seconds is None else f"{task.seconds:.3g} s"


def _texts(values: Mapping[str, Any], text: Callable[[Any], str]) -> list[tuple[str, str]]:
    return [(name, text(value)) for name, value in values.items()]


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]], xml: Callable[[str], str]) -> str:
    if not rows:
        return ""
    lines = [f"<tr>{''.join(f'<th>{head}</th>' for head in heads)}</tr>"]
    lines += [f"<tr>{''.join(f'<td>{xml(cell)}</td>' for cell in row)}</tr>" for row in rows]
    return f"<table>{''.join(lines)}</table>"
