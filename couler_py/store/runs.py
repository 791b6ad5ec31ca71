"""Runs in the store: begun, brought up to date while they go, read back, listed, deleted."""

from __future__ import annotations

import json
import secrets
import sqlite3
import time
from collections.abc import Collection, Iterable, Iterator
from typing import Any

import msgspec

from couler_py.ir.codec import from_json
from couler_py.ir.diagnostics import CoulerError
from couler_py.ir.model import Workflow
from couler_py.store import content, faults
from couler_py.store.database import transaction
from couler_py.store.home import Home
from couler_py.store.records import AttemptRecord, Result, RunRecord, TaskRecord

ALPHABET = "bcdfghjklmnpqrstvwxz2456789"


class RunMissingError(CoulerError):
    """No run of that id is in the store."""


def new_id(connection: sqlite3.Connection, name: str) -> str:
    """An id that no run has: the workflow's name and five letters."""
    stem = "".join(char if char.isalnum() or char == "-" else "-" for char in name.lower())[:40].strip("-") or "run"
    while True:
        run_id = f"{stem}-{''.join(secrets.choice(ALPHABET) for _ in range(5))}"
        if not exists(connection, run_id):
            return run_id


def exists(connection: sqlite3.Connection, run_id: str) -> bool:
    """Whether a run has that id."""
    return connection.execute("SELECT 1 FROM runs WHERE id=?", (run_id,)).fetchone() is not None


def begin(connection: sqlite3.Connection, run: RunRecord, digest: str, text: str) -> None:
    """Write a new run with its workflow (its digest and its JSON text)."""
    with transaction(connection):
        connection.execute("INSERT OR IGNORE INTO workflows VALUES (?, ?)", (digest, text))
        connection.execute(
            "INSERT INTO runs (id, name, workflow, status, parameters, options, scheduled, created) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                run.id,
                run.name,
                digest,
                run.status,
                dumps(run.parameters),
                dumps(run.options),
                run.scheduled,
                run.created,
            ),
        )


UPDATE_RUN = "UPDATE runs SET status=?, message=?, finished=?, seconds=?, outputs=?, published=?, options=? WHERE id=?"
UPDATE_SECONDS = "UPDATE runs SET seconds=? WHERE id=?"
SAVE_TASK = "INSERT OR REPLACE INTO tasks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
SAVE_ATTEMPT = "INSERT OR REPLACE INTO attempts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
SAVE_EVENT = "INSERT INTO events SELECT ?, coalesce(max(number), 0) + 1, ?, ?, ?, ? FROM events WHERE run=?"


def run_row(run: RunRecord) -> tuple[Any, ...]:
    return (
        run.status,
        run.message,
        run.finished,
        run.seconds,
        dumps(run.outputs),
        dumps(run.published),
        dumps(run.options),
        run.id,
    )


def task_row(run_id: str, task: TaskRecord) -> tuple[Any, ...]:
    return (
        run_id,
        task.path,
        task.kind,
        task.template,
        task.state,
        task.message,
        task.digest,
        task.attempts,
        None if task.item is msgspec.UNSET else dumps(task.item),
        task.item_index,
        task.cached,
        task.started,
        task.finished,
        None if task.result is None else dumps(msgspec.to_builtins(task.result)),
        task.ready,
    )


def attempt_row(run_id: str, path: str, execution: int, attempt: AttemptRecord) -> tuple[Any, ...]:
    return (
        run_id,
        path,
        attempt.number,
        execution,
        attempt.state,
        attempt.message,
        attempt.exit_code,
        attempt.started,
        attempt.finished,
        attempt.folder,
        attempt.cpu,
        attempt.memory,
    )


def load(connection: sqlite3.Connection, run_id: str, *, tasks: bool = True) -> RunRecord:
    """A run with its tasks in the order in which they started. Raises `RunMissingError`."""
    row = connection.execute(
        "SELECT id, name, workflow, status, message, parameters, options, scheduled, created, finished, seconds, "
        "outputs, published FROM runs WHERE id=?",
        (run_id,),
    ).fetchone()
    if row is None:
        raise RunMissingError(f"there is no run {run_id!r} here; `couler runs` lists them")
    run = _run(row)
    if tasks:
        run.tasks = {task.path: task for task in load_tasks(connection, run_id)}
    return run


def load_tasks(connection: sqlite3.Connection, run_id: str) -> Iterator[TaskRecord]:
    """The tasks of a run, in the order in which they started."""
    for row in connection.execute(
        "SELECT path, kind, template, state, message, digest, attempts, item, item_index, cached, started, finished, "
        "result, ready FROM tasks WHERE run=? ORDER BY started IS NULL, started, path",
        (run_id,),
    ):
        (path, kind, template, state, message, digest, attempts, item, index, cached, started, finished) = row[:12]
        result, ready = row[12:]
        yield TaskRecord(
            path,
            kind,
            template,
            state,
            message,
            digest,
            attempts,
            msgspec.UNSET if item is None else json.loads(item),
            index,
            cached,
            started,
            finished,
            None if result is None else msgspec.convert(json.loads(result), Result),
            ready,
        )


def load_attempts(
    connection: sqlite3.Connection, run_id: str, path: str | None = None
) -> list[tuple[str, AttemptRecord]]:
    """The attempts of one task, or of all tasks of a run, in order: the path of the task and the attempt."""
    rows = connection.execute(
        "SELECT path, number, state, message, exit_code, started, finished, folder, cpu, memory FROM attempts "
        "WHERE run=? AND (? IS NULL OR path=?) ORDER BY started, path, number, execution",
        (run_id, path, path),
    )
    return [(row[0], AttemptRecord(*row[1:])) for row in rows]


def workflow_text(connection: sqlite3.Connection, digest: str) -> str:
    """The JSON text of a workflow that a run was started with."""
    (text,) = connection.execute("SELECT text FROM workflows WHERE digest=?", (digest,)).fetchone()
    assert isinstance(text, str)
    return text


def workflow(connection: sqlite3.Connection, digest: str) -> Workflow:
    """The workflow that a run was started with."""
    found = from_json(workflow_text(connection, digest))
    assert isinstance(found, Workflow)
    return found


def list_runs(connection: sqlite3.Connection) -> list[RunRecord]:
    """All runs, newest first, without their tasks."""
    rows = connection.execute(
        "SELECT id, name, workflow, status, message, parameters, options, scheduled, created, finished, seconds, "
        "outputs, published FROM runs ORDER BY created DESC, id"
    )
    return [_run(row) for row in rows]


def events(connection: sqlite3.Connection, run_id: str, after: int = 0) -> list[dict[str, Any]]:
    """What happened in a run, in order, after the event of a number."""
    rows = connection.execute(
        "SELECT number, time, kind, path, data FROM events WHERE run=? AND number>? ORDER BY number", (run_id, after)
    )
    return [
        {"number": number, "time": moment, "kind": kind, "task": path, **json.loads(data)}
        for number, moment, kind, path, data in rows
    ]


def metrics(connection: sqlite3.Connection, run_id: str) -> dict[str, dict[str, tuple[tuple[float, float], ...]]]:
    """What the tasks of a run logged, by path and name: (step, value) pairs in order; without a step, its place.

    Of a task with several attempts, what the last logged of those that logged anything.
    """
    attempts: dict[str, str] = {}
    found: dict[str, dict[str, list[tuple[float, float]]]] = {}
    rows = connection.execute("SELECT path, data FROM events WHERE run=? AND kind='metric' ORDER BY number", (run_id,))
    for path, data in rows:
        logged = json.loads(data)
        attempt = logged.get("attempt", "")
        if attempts.get(path) != attempt:
            attempts[path], found[path] = attempt, {}
        series = found.setdefault(path, {}).setdefault(logged["name"], [])
        step = logged.get("step")
        series.append((float(len(series) if step is None else step), float(logged["value"])))
    return {path: {name: tuple(series) for name, series in named.items()} for path, named in found.items()}


def change_workflow(connection: sqlite3.Connection, run: RunRecord, text: str) -> None:
    """Write the workflow (its JSON text) and the parameters that a run goes on with, in the place of its own."""
    with transaction(connection):
        connection.execute("INSERT OR IGNORE INTO workflows VALUES (?, ?)", (run.workflow, text))
        connection.execute(
            "UPDATE runs SET workflow=?, parameters=? WHERE id=?", (run.workflow, dumps(run.parameters), run.id)
        )
        connection.execute("DELETE FROM workflows WHERE digest NOT IN (SELECT workflow FROM runs)")


def forget_tasks(connection: sqlite3.Connection, run_id: str, paths: Iterable[str]) -> None:
    """Delete what is known of some tasks, so that a run works on them again."""
    with transaction(connection):
        connection.executemany("DELETE FROM tasks WHERE run=? AND path=?", [(run_id, path) for path in paths])


def delete(connection: sqlite3.Connection, home: Home, run_id: str) -> None:
    """Forget a run: its record, logs and attempts. Artifacts go when nothing else needs them (`collect`).

    Raises `RunMissingError`.
    """
    load(connection, run_id, tasks=False)
    with transaction(connection):
        connection.execute("DELETE FROM runs WHERE id=?", (run_id,))
        connection.execute("DELETE FROM workflows WHERE digest NOT IN (SELECT workflow FROM runs)")
    faults.reach("run.forgotten")
    content.remove(str(home.run(run_id)))


def live_digests(
    connection: sqlite3.Connection, *, without: Collection[str] = (), without_keys: Collection[str] = ()
) -> set[str]:
    """The digests of all artifacts that a run or the cache refers to, without some runs and keys of the cache."""
    found: set[str] = set()
    for run, text in connection.execute("SELECT run, result FROM tasks WHERE result IS NOT NULL"):
        if run not in without:
            found.update(_digests(text))
    for key, text in connection.execute("SELECT key, result FROM cache"):
        if key not in without_keys:
            found.update(_digests(text))
    return found


def _digests(result: str) -> Iterator[str]:
    # Most results hold none, and stores have many.
    if '"digest"' in result:
        yield from (ref["digest"] for ref in json.loads(result).get("artifacts", {}).values())


def dumps(value: Any) -> str:
    """JSON text of values; non-finite floats are written as Python's own JSON writes them."""
    return json.dumps(value, separators=(",", ":"))


def now() -> float:
    """Seconds since 1970."""
    return time.time()


def _run(row: tuple[Any, ...]) -> RunRecord:
    (
        run_id,
        name,
        digest,
        status,
        message,
        parameters,
        options,
        scheduled,
        created,
        finished,
        seconds,
        outputs,
        published,
    ) = row
    return RunRecord(
        run_id,
        name,
        status,
        json.loads(parameters),
        scheduled,
        created,
        json.loads(options),
        digest,
        message,
        finished,
        seconds,
        json.loads(outputs),
        json.loads(published),
    )
