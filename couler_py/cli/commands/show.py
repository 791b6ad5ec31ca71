"""`couler show RUN [TASK]`: all that is known of a run, or of one of its tasks."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Annotated, Any

import msgspec
import typer

from couler_py.backends.base import Detailed, RunNotFoundError, RunStatus, TaskStatus
from couler_py.backends.local.paths import shown
from couler_py.cli.console import clean, columns, console, one_line, phase_text, seconds, size
from couler_py.cli.options import AsJson, RunName
from couler_py.cli.reach import Reach, reaching
from couler_py.cli.running import to_json
from couler_py.cli.summary import summary
from couler_py.passes.retry.recognise import explained
from couler_py.report.page import value_text
from couler_py.store.records import AttemptRecord, Result

MOST_TASKS = 500
LONGEST = 100  # characters of a value in a table


@reaching
def command(
    run: RunName,
    task: Annotated[str | None, typer.Argument(help="Only this task, as `couler watch` names it.")] = None,
    as_json: AsJson = False,
    *,
    reach: Reach,
) -> None:
    """Show all of a run, or of one of its tasks.

    Parameters, tasks, attempts, outputs, and whose results were used.
    """
    client, run = reach.run_of(run)
    found = client.status(run)
    details = _details(client, run) if isinstance(client, Detailed) else {}
    tasks = {each.name: each for each in found.tasks}
    if task is not None and task not in tasks:
        raise RunNotFoundError(f"{run} has no task {task!r}; it has {', '.join(list(tasks)[:20])}")
    if as_json:
        whole = _whole(found, details)
        print(to_json(whole if task is None else whole["tasks"][task]), end="")
        return
    out = console()
    for line in _of_run(found, details) if task is None else _of_task(run, tasks[task], details.get(task)):
        out.print(line)


class _Details(msgspec.Struct):
    """What is recorded of a task beside its status."""

    result: Result | None = None
    attempts: list[AttemptRecord] = []


def _details(client: Detailed, run: str) -> dict[str, _Details]:
    record = client.record(run)
    found = {shown(path) or each.template: _Details(each.result, []) for path, each in record.tasks.items()}
    entry = record.tasks[""].template if "" in record.tasks else ""
    for path, attempt in client.attempts(run):
        if (shown(path) or entry) in found:
            found[shown(path) or entry].attempts.append(attempt)
    return found


def _whole(run: RunStatus, details: dict[str, _Details]) -> dict[str, Any]:
    whole = run.as_json()
    whole |= {
        "workflow": run.workflow,
        "engine": run.engine,
        "started": run.started,
        "finished": run.finished,
        "message": run.message,
        "parameters": run.parameters,
    }
    for task in run.tasks:
        known = details.get(task.name, _Details())
        whole["tasks"][task.name] |= {
            "started": task.started,
            "finished": task.finished,
            "message": task.message,
            "outputs": _outputs(known.result),
            "tries": [msgspec.to_builtins(attempt) for attempt in known.attempts],
        }
    return whole


def _outputs(result: Result | None) -> dict[str, Any]:
    if result is None:
        return {}
    return dict(result.parameters) | {name: msgspec.to_builtins(ref) for name, ref in result.artifacts.items()}


def _of_run(run: RunStatus, details: dict[str, _Details]) -> Iterator[Any]:
    facts = [("workflow", run.workflow), ("engine", run.engine), ("began", _moment(run.started))]
    if run.finished is not None:
        facts.append(("ended", _moment(run.finished)))
    if run.paused:
        facts.append(("paused", seconds(run.paused)))
    yield from columns(facts)
    if run.parameters:
        yield ""
        yield from columns(
            [[name, _text(value)] for name, value in run.parameters.items()], header=("PARAMETER", "VALUE")
        )
    rows = [
        [
            task.name,
            phase_text(task.status),
            seconds(task.seconds),
            str(task.attempts or ""),
            f"cached from {task.cached_from}" if task.cached_from else "cached" if task.cached else "",
        ]
        for task in run.tasks[:MOST_TASKS]
    ]
    if rows:
        yield ""
        yield from columns(rows, header=("TASK", "STATUS", "TOOK", "ATTEMPTS", ""))
    if len(run.tasks) > MOST_TASKS:
        yield f"… and {len(run.tasks) - MOST_TASKS:,} more; --json has them all"
    yield ""
    yield summary(run)


def _of_task(run: str, task: TaskStatus, known: _Details | None) -> Iterator[Any]:
    facts: list[tuple[str, Any]] = [("status", phase_text(task.status)), ("took", seconds(task.seconds))]
    if task.source is not None:
        facts.append(("written", str(task.source)))
    if task.cached:
        facts.append(("result of", task.cached_from or "an earlier run"))
    yield from columns(facts)
    if task.message:
        yield ""
        yield clean(task.message)
        if task.status == "Failed" and (kind := explained(task.message)):
            yield ""
            yield kind
    if known is not None and known.attempts:
        yield ""
        rows = [
            [str(each.number), phase_text(each.state), _exit(each), _moment(each.started), seconds(_took(each))]
            for each in known.attempts
        ]
        yield from columns(rows, header=("ATTEMPT", "STATUS", "EXIT", "BEGAN", "TOOK"))
    if known is not None and known.result is not None:
        rows = [[name, _text(value)] for name, value in known.result.parameters.items()]
        rows += [[name, f"{ref.kind}, {size(ref.size)}"] for name, ref in known.result.artifacts.items()]
        if rows:
            yield ""
            yield from columns(rows, header=("OUTPUT", "VALUE"))
    yield ""
    yield f"`couler logs {run} {clean(task.name)}` shows what it wrote"


def _exit(attempt: AttemptRecord) -> str:
    return "" if attempt.exit_code is None else str(attempt.exit_code)


def _took(attempt: AttemptRecord) -> float | None:
    if attempt.started is None or attempt.finished is None:
        return None
    return attempt.finished - attempt.started


def _moment(moment: float | None) -> str:
    return "" if moment is None else time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(moment))


def _text(value: Any) -> str:
    text = one_line(value_text(value))
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
