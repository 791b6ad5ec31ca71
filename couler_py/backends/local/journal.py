"""What happens in a run, written to the store in batches and told to those who watch."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

import msgspec

from couler_py.store import cache, runs, samples
from couler_py.store.database import failure, transaction
from couler_py.store.home import Home
from couler_py.store.records import AttemptRecord, RunRecord, TaskRecord
from couler_py.store.samples import InUse, Sample

BATCH = 0.02  # seconds that a change waits for others; what a crash loses of it, records of attempts hold


class Event(msgspec.Struct, frozen=True):
    """Something that happened.

    `kind` is "run" (its status changed), "task" (its state changed; `task` holds it), "attempt" (one
    began or ended), "metric" (`data`: name, value, step) or "note" (`data`: text).
    """

    kind: str
    time: float
    path: str = ""
    data: dict[str, Any] = {}
    task: TaskRecord | None = None


Observer: TypeAlias = Callable[[Event], None]


class Journal:
    """The writer of one run's record."""

    def __init__(self, connection: sqlite3.Connection, home: Home, run: RunRecord, observers: Iterable[Observer]):
        self._connection = connection
        self._home = home
        self._run = run
        self._observers = tuple(observers)
        self._tasks: dict[str, TaskRecord] = {}
        self._attempts: dict[tuple[str, int, int], AttemptRecord] = {}
        self._statements: list[tuple[str, tuple[Any, ...]]] = []
        self._timer: asyncio.TimerHandle | None = None
        self.turns: dict[str, Callable[[], None]] = {}  # by the path of a task, whom to tell that it waits no more
        self.on_error: Callable[[Exception], None] = lambda error: None

    def observe(self, observer: Observer) -> None:
        """Tell somebody else too, from now on. May be called from another thread."""
        self._observers = (*self._observers, observer)

    def task(self, task: TaskRecord) -> None:
        """The state of a task has changed."""
        self._run.tasks[task.path] = task
        self._tasks[task.path] = task
        if task.state != "Pending" and (come := self.turns.pop(task.path, None)) is not None:
            come()
        if task.state == "Suspended":
            self.flush()  # who is told may answer at once, from another process that reads what is written
        self._tell(Event("task", runs.now(), task.path, task=task))
        self._soon()

    def began(self, path: str, moment: float | None = None) -> None:
        """A task that waited for its turn has it, now or since a moment in the past."""
        task = self._run.tasks[path]
        moment = runs.now() if moment is None else moment
        task.state, task.message = "Running", ""
        task.started = moment if task.started is None else min(task.started, moment)
        self.task(task)

    def waits(self, path: str, reason: str = "") -> None:
        """A task waits for its turn, or does so again; `reason` says for what."""
        task = self._run.tasks[path]
        task.message = reason
        if task.state != "Pending":
            task.state = "Pending"
            self.task(task)
        elif reason:  # written with what else is to be written of it; nobody has to be told
            self._tasks[path] = task
            self._soon()

    def of(self, path: str) -> TaskRecord:
        """What is recorded of a task that has started."""
        return self._run.tasks[path]

    def find(self, path: str) -> TaskRecord | None:
        """What is recorded of a task; None where it has not begun."""
        return self._run.tasks.get(path)

    def all_tasks(self) -> Mapping[str, TaskRecord]:
        """What is recorded of all tasks that have begun, by path."""
        return self._run.tasks

    def attempt(self, path: str, execution: int, attempt: AttemptRecord) -> None:
        """An attempt began or ended."""
        self._attempts[path, attempt.number, execution] = attempt
        data = {"number": attempt.number, "state": attempt.state, "message": attempt.message}
        self._tell(Event("attempt", runs.now(), path, data))
        self._soon()

    @property
    def watched(self) -> bool:
        """Whether anybody is told."""
        return bool(self._observers)

    def tell(self, kind: str, path: str, data: dict[str, Any]) -> None:
        """Something to tell, and not to remember."""
        self._tell(Event(kind, runs.now(), path, data))

    def event(self, kind: str, path: str = "", *, quiet: bool = False, **data: Any) -> None:
        """Something to remember beside states: a note, a metric. `quiet` where it was told before."""
        now = runs.now()
        text = json.dumps(data, separators=(",", ":"))
        self._statements.append((runs.SAVE_EVENT, (self._run.id, now, kind, path, text, self._run.id)))
        if not quiet:
            self._tell(Event(kind, now, path, data))
        self._soon()

    def samples(self, folder: str, found: Iterable[Sample]) -> None:
        """What an attempt used so far, by its folder inside the run's."""
        self._statements.append((samples.SAVE, samples.row(self._run.id, folder, found)))
        self._soon()

    def in_use(self, found: InUse) -> None:
        """What all attempts use now, for who looks on from another process."""
        self._statements.append((samples.SAVE_IN_USE, (self._run.id, *found)))
        self._soon()

    def cached(self, entry: cache.Entry) -> None:
        """A result to reuse; written at once."""
        self._statements.append((cache.SAVE, cache.row(entry)))
        self.flush()  # the next task may look for it

    def looked_up(self, path: str, lookup: cache.Lookup) -> None:
        """A task has looked for its result among those to reuse."""
        if lookup.outcome is None:
            self._statements.append((cache.USED, (lookup.time, lookup.key)))
        self._statements.append((cache.SAVE_LOOKUP, cache.lookup_row(self._run.id, path, lookup)))
        self._soon()

    def run(self) -> None:
        """The run itself has changed; written at once."""
        self._statements.append((runs.UPDATE_RUN, runs.run_row(self._run)))
        self.flush()
        self._tell(Event("run", runs.now(), data={"status": self._run.status, "message": self._run.message}))

    def beat(self) -> None:
        """Note how long the run has taken so far, for who goes on with it should this engine be killed."""
        self._statements.append((runs.UPDATE_SECONDS, (self._run.seconds, self._run.id)))
        self._soon()

    def flush(self) -> None:
        """Write everything that has come. Raises `StoreError`; what couldn't be written is tried again next time."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if not (self._tasks or self._attempts or self._statements):
            return
        try:
            with transaction(self._connection):
                rows = [runs.task_row(self._run.id, task) for task in self._tasks.values()]
                self._connection.executemany(runs.SAVE_TASK, rows)
                rows = [
                    runs.attempt_row(self._run.id, path, execution, attempt)
                    for (path, _, execution), attempt in self._attempts.items()
                ]
                self._connection.executemany(runs.SAVE_ATTEMPT, rows)
                for statement, row in self._statements:
                    self._connection.execute(statement, row)
        except sqlite3.Error as error:
            raise failure(error, self._home) from error
        self._tasks.clear()
        self._attempts.clear()
        self._statements.clear()

    def _soon(self) -> None:
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(BATCH, self._flush)

    def _flush(self) -> None:
        self._timer = None
        try:
            self.flush()
        except Exception as error:
            self.on_error(error)

    def _tell(self, event: Event) -> None:
        for observer in self._observers:
            observer(event)
