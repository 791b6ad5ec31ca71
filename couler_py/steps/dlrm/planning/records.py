"""Trainings of recommenders that ran here before, read from the run store: DLRover's Config DB, without a service."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from couler_py.ir.expr import Expr, Literal, TaskOutput
from couler_py.ir.graph import templates_by_name
from couler_py.ir.model import Function, Graph, Task, Template
from couler_py.ir.quantity import quantity
from couler_py.steps.dlrm.planning.allocation import Allocation, Load
from couler_py.steps.dlrm.planning.instability import OUT_OF_MEMORY
from couler_py.steps.dlrm.planning.similar import Features, Profile
from couler_py.steps.dlrm.task import Task as Training
from couler_py.store import runs
from couler_py.store.database import connect
from couler_py.store.history import RUNS, observed
from couler_py.store.home import Home, home_path
from couler_py.store.records import RunRecord, TaskRecord

FILE, FUNCTION = "couler_py/steps/dlrm/step.py", "on_one_machine"
"""Where the function of the step that trains is written, and its name."""
KILLED = 137
"""The exit code of a process that was killed, as for want of memory."""


def recorded(home: str | None = None) -> tuple[Profile, ...]:
    """The trainings of the newest runs of a home, the newest first; none where there is no home, and none is made.

    Raises `StoreError` for a store that can't be read.
    """
    folder = Home(home_path(home))
    if not folder.database.exists():
        return ()
    connection = connect(folder)
    try:
        return tuple(profile for record in runs.list_runs(connection)[:RUNS] for profile in _of_run(connection, record))
    finally:
        connection.close()


def _of_run(connection: sqlite3.Connection, record: RunRecord) -> Iterator[Profile]:
    templates = templates_by_name(runs.workflow(connection, record.workflow))
    calls = {
        (each.name, task.name): task
        for each in templates.values()
        if isinstance(each.body, Graph)
        for task in each.body.tasks
        if isinstance(task.call, str) and _trains(templates.get(task.call))
    }
    if not calls:
        return
    held = {
        each.template: max((attempt.memory or 0 for attempt in each.attempts), default=0)
        for each in observed(connection, [record])
    }
    tasks = {task.path: task for task in runs.load_tasks(connection, record.id)}
    for path, task in tasks.items():
        if not _trains(templates.get(task.template)) or task.cached or task.finished is None:
            continue
        name = path.rsplit("/", 1)[-1]
        call = next((each for (_, called), each in calls.items() if called == name), None)
        if call is not None and (profile := _profile(task, call, templates[task.template], tasks, held)) is not None:
            yield profile


def _trains(template: Template | None) -> bool:
    body = template.body if template is not None else None
    return isinstance(body, Function) and body.name == FUNCTION and any(piece.file == FILE for piece in body.pieces)


def _profile(
    task: TaskRecord, call: Task, template: Template, tasks: Mapping[str, TaskRecord], held: Mapping[str, int]
) -> Profile | None:
    around = task.path.rpartition("/")[0]
    given = {each.name: _value(each.value, around, tasks) for each in call.arguments}
    if not isinstance(given.get("task"), str) or not isinstance(given.get("processes"), int):
        return None
    try:
        training = msgspec.json.decode(given["task"], type=Training)
    except msgspec.DecodeError:  # of another version, with settings that this one doesn't know
        return None
    result = task.result.parameters if task.result is not None else {}
    seconds, rows, data = (result.get(name) for name in ("step_seconds", "rows", "data"))
    assert isinstance(template.body, Function)
    cores = quantity(template.body.resources.cpu)
    processes = given["processes"]
    killed = task.result is not None and (task.result.exit_code == KILLED or OUT_OF_MEMORY in task.result.message)
    return Profile(
        call.name,
        features_of(
            training,
            rows=float(rows) / training.epochs if isinstance(rows, int) else 0.0,
            data=data if isinstance(data, str) else "",
        ),
        load_of(training),
        Allocation(processes, worker_cores=max(1, int(cores or processes) // processes)),
        task.finished or 0.0,
        "Succeeded" if task.state == "Succeeded" else "OutOfMemory" if killed else "Failed",
        seconds if isinstance(seconds, float) and seconds > 0 else None,
        float(held[task.template]) if held.get(task.template) else None,
    )


def _value(value: Expr, around: str, tasks: Mapping[str, TaskRecord]) -> Any:
    """What an argument was: written down, or the output of a task beside it."""
    match value:
        case Literal(value=found):
            return found
        case TaskOutput(task=name, name=output):
            other = tasks.get(f"{around}/{name}" if around else name)
            return other.result.parameters.get(output) if other is not None and other.result is not None else None
    return None


def features_of(training: Training, *, rows: float, data: str = "", tables: int = 26, device: str = "cpu") -> Features:
    """What a training is compared by; `data` is the identity of its shards, where they are known."""
    return Features(
        training.shape.kind, data, rows, tables, training.shape.width, training.batch, training.row_optimizer, device
    )


def load_of(training: Training, tables: int = 26) -> Load:
    """What a step of a training works on; the time of an all-reduce is its own unit, for jobs of one shape alone."""
    return Load("ranks", training.batch, float(tables * training.shape.table_width), 1.0)
