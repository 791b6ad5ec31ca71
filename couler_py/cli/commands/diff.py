"""`couler diff RUN RUN`: two runs beside each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Any

import msgspec
import typer
from msgspec import UNSET

from couler_py.backends.base import Detailed, NotOffered
from couler_py.backends.local.runs.comparing import Difference, RunDifference, TaskDifference, compare
from couler_py.cli.console import clean, columns, console, one_line, phase_text, seconds
from couler_py.cli.options import AsJson
from couler_py.cli.reach import Reach, reaching
from couler_py.cli.running import to_json
from couler_py.report.page import value_text

Run = Annotated[str, typer.Argument(metavar="RUN", help="A run of this machine, or the folder of an exported one.")]

LONGEST = 60  # characters of a value
MOST_TASKS = 200
SLOWER, LEAST = 1.1, 0.1  # a task counts as slower or faster from this factor on, and from so many seconds


@reaching
def command(before: Run, after: Run, as_json: AsJson = False, *, reach: Reach) -> None:
    """Show two runs beside each other.

    Parameters, steps, how tasks ended, outputs, times.
    """
    found = compare(*_runs(before, after, reach))
    if as_json:
        print(to_json(msgspec.to_builtins(found)), end="")
        return
    out = console()
    for line in _lines(found):
        out.print(line)


def _runs(before: str, after: str, reach: Reach) -> tuple[Any, Any, Any, Any]:
    records, workflows = [], []
    for typed in (before, after):
        client, run = reach.run_of(typed)
        if not isinstance(client, Detailed):
            raise NotOffered(f"runs of the engine {client.engine} can't be compared: their tasks' values are not here")
        records.append(client.record(run))
        workflows.append(client.workflow(run))
    return records[0], records[1], workflows[0], workflows[1]


def _lines(found: RunDifference) -> Iterator[Any]:
    head = [["status", phase_text(found.status_before), phase_text(found.status_after)]]
    head.append(["took", seconds(found.seconds_before), seconds(found.seconds_after)])
    if any(found.paused):
        head.append(["paused", *(seconds(each) if each else "–" for each in found.paused)])
    if found.workflows[0] != found.workflows[1]:
        head.insert(0, ["workflow", *found.workflows])
    yield from columns(head, header=("", found.before, found.after))
    yield from _values("PARAMETERS", found.parameters)
    if found.steps:
        yield from ("", "STEPS")
        for step in found.steps:
            yield f"  {clean(step.step)}  {step.kind}"
            yield from (f"    {clean(line)}" for line in step.diff)
    rows = [task for task in found.tasks if not task.alike or _other_time(task)]
    if rows:
        yield ""
        table = [_row(task) for task in rows[:MOST_TASKS]]
        yield from columns(table, header=("TASK", "BEFORE", "", "AFTER", "", ""))
        if len(rows) > MOST_TASKS:
            yield f"… and {len(rows) - MOST_TASKS:,} more; --json has them all"
    yield from _values("OUTPUTS", found.outputs)
    same = len(found.tasks) - len(rows)
    yield ""
    yield f"{same:,} of {len(found.tasks):,} tasks ended alike, in about the same time"


def _values(title: str, found: Sequence[Difference]) -> Iterator[Any]:
    if found:
        yield ""
        yield from columns(
            [[each.name, _text(each.before), _text(each.after)] for each in found], header=(title, "BEFORE", "AFTER")
        )


def _text(value: Any) -> str:
    if value is UNSET:
        return "–"
    text = one_line(value_text(value))
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _row(task: TaskDifference) -> list[Any]:
    differing = ", ".join(f"{each.name}: {_text(each.before)} → {_text(each.after)}" for each in task.outputs)
    return [
        task.task,
        phase_text(task.before or "–"),
        seconds(task.seconds_before),
        phase_text(task.after or "–"),
        seconds(task.seconds_after),
        differing,
    ]


def _other_time(task: TaskDifference) -> bool:
    before, after = task.seconds_before, task.seconds_after
    if before is None or after is None:
        return before is not after
    low, high = sorted((before, after))
    return high - low >= LEAST and high >= SLOWER * low
