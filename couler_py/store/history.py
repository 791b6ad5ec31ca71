"""What the runs of this machine took, read for the passes: see `couler_py.passes.history`."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from itertools import pairwise

import msgspec

from couler_py.ir.graph import templates_by_name
from couler_py.passes.history import Attempt, History, Observed, asked_of, work_of
from couler_py.store import runs, samples
from couler_py.store.database import connect
from couler_py.store.home import Home, home_path
from couler_py.store.records import AttemptRecord, RunRecord, TaskRecord
from couler_py.store.samples import Sample

RUNS = 50
"""So many of the newest runs are read."""

TASKS = 50_000
"""With so many tasks read, no older run is looked at."""


class _Seen(msgspec.Struct):
    workflow: str
    template: str
    runs: set[str]
    attempts: list[Attempt]
    seconds: list[float]
    outputs: dict[str, list[int]]
    states: dict[str, int]


def history(home: str | None = None) -> History:
    """What the runs of a home took. Nothing is read before it is asked, and where there is no home, nothing is made."""

    def read() -> Iterable[Observed]:
        folder = Home(home_path(home))
        if not folder.database.exists():
            return ()
        connection = connect(folder)
        try:
            return observed(connection, runs.list_runs(connection)[:RUNS])
        finally:
            connection.close()

    return History(read)


def of_run(run: str, home: str | None = None) -> tuple[Observed, ...]:
    """What one run took. Raises `RunMissingError`."""
    connection = connect(Home(home_path(home)))
    try:
        return observed(connection, [runs.load(connection, run, tasks=False)])
    finally:
        connection.close()


def observed(connection: sqlite3.Connection, records: Iterable[RunRecord]) -> tuple[Observed, ...]:
    """What some runs (newest first) took, by what was done: of each work, under the names that it had last."""
    found: dict[str, _Seen] = {}
    works: dict[str, dict[str, str]] = {}
    asked: dict[str, dict[str, tuple[int | None, float | None]]] = {}
    room = TASKS
    for record in records:
        if room <= 0:
            break
        if record.workflow not in works:
            templates = templates_by_name(runs.workflow(connection, record.workflow))
            works[record.workflow] = {name: work_of(template) for name, template in templates.items()}
            asked[record.workflow] = {name: asked_of(template) for name, template in templates.items()}
        tasks = {task.path: task for task in runs.load_tasks(connection, record.id)}
        room -= len(tasks)
        _add(found, record, works[record.workflow], tasks.values())
        looks = samples.load(connection, record.id)
        for path, attempt in runs.load_attempts(connection, record.id):
            template = tasks[path].template if path in tasks else ""
            seen = found.get(works[record.workflow].get(template, ""))
            if seen is not None:
                wanted = asked[record.workflow][template]
                seen.attempts.extend(_attempt(attempt, looks.get(attempt.folder, []), wanted))
    return tuple(_observed(work, seen) for work, seen in found.items())


def _add(found: dict[str, _Seen], record: RunRecord, works: dict[str, str], tasks: Iterable[TaskRecord]) -> None:
    for task in tasks:
        work = works.get(task.template)
        if work is None or task.kind == "map":
            continue
        seen = found.setdefault(work, _Seen(record.name, task.template, set(), [], [], {}, {}))
        seen.runs.add(record.id)
        seen.states[task.state] = seen.states.get(task.state, 0) + 1
        if task.state != "Succeeded" or task.result is None or task.cached:
            continue
        seen.seconds.append(task.seconds)
        for name, value in task.result.parameters.items():
            seen.outputs.setdefault(name, []).append(len(runs.dumps(value).encode()))
        for name, ref in task.result.artifacts.items():
            seen.outputs.setdefault(name, []).append(ref.size)


def _attempt(attempt: AttemptRecord, looks: list[Sample], asked: tuple[int | None, float | None]) -> Iterator[Attempt]:
    """The attempt, if it has ended. Of memory and processors, what the samples and the system's count say at most."""
    if attempt.started is None or attempt.finished is None:
        return
    seconds = attempt.finished - attempt.started
    spent = max([each.cpu for each in looks] + ([attempt.cpu] if attempt.cpu is not None else []), default=None)
    held = max([each.memory for each in looks] + ([int(attempt.memory)] if attempt.memory else []), default=None)
    yield Attempt(
        attempt.state,
        attempt.started,
        seconds,
        attempt.message,
        attempt.exit_code,
        held,
        spent / seconds if spent is not None and seconds > 0 else None,
        busiest(looks),
        *asked,
    )


def busiest(looks: list[Sample]) -> float | None:
    """The most processors used between two looks; None with fewer than two.

    >>> busiest([Sample(0.0, 0.0, 1), Sample(2.0, 3.0, 1), Sample(4.0, 3.5, 1)])
    1.5
    """
    rates = [
        (late.cpu - early.cpu) / (late.time - early.time) for early, late in pairwise(looks) if late.time > early.time
    ]
    return max(rates, default=None)


def _observed(work: str, seen: _Seen) -> Observed:
    return Observed(
        seen.workflow,
        seen.template,
        work,
        len(seen.runs),
        tuple(sorted(seen.attempts, key=lambda each: each.started)),
        tuple(seen.seconds),
        {name: tuple(sizes) for name, sizes in seen.outputs.items()},
        dict(seen.states),
    )
