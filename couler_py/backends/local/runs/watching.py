"""Runs as they change: told by the engine where it works in this process, read from the store where it doesn't."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Generator, Iterable, Mapping
from typing import Any

from couler_py.backends.base import FINISHED, Change, RunStatus, TaskStatus
from couler_py.backends.local import api
from couler_py.backends.local.journal import Event
from couler_py.backends.local.lifecycle import InThread
from couler_py.backends.local.paths import last_attempts, maker, shown
from couler_py.backends.local.scheduling.expected import expected
from couler_py.ir.model import Source, Workflow
from couler_py.passes.split.mark import helpers_of
from couler_py.store import runs, samples
from couler_py.store.database import connect
from couler_py.store.home import Home
from couler_py.store.records import RunRecord, TaskRecord

INTERVAL = 0.1  # seconds between two looks
TICK = 0.5  # seconds after which a look is told of though nothing is new: clocks go on
STALE = 10.0  # seconds after which what a run was seen to use is no longer said
PACE = 100  # times as long as a look has taken is the pause after it, at least


class Shape:
    """A workflow's part in what is shown of its tasks."""

    def __init__(self, workflow: Workflow | None):
        templates = () if workflow is None else workflow.templates
        self.sources: dict[str, Source | None] = {each.name: each.source for each in templates}
        self.displays = {each.name: each.display for each in templates}
        self._helpers = frozenset() if workflow is None else helpers_of(workflow)

    def shows(self, path: str, task: TaskRecord) -> bool:
        """Whether a task is shown: not the entrypoint's own graph beside the run, nor what splitting added."""
        return task.template not in self._helpers and not is_run(path, task)

    def task(self, path: str, task: TaskRecord, metrics: Mapping[str, Any]) -> TaskStatus:
        """A task's record in the words that all engines share."""
        return TaskStatus(
            shown(path) or task.template,
            task.state,
            0 if task.started is None else task.attempts,
            task.seconds if task.finished is not None else None,
            task.message,
            self.displays.get(task.template, ""),
            bool(task.cached),
            task.started,
            task.finished,
            self.sources.get(task.template),
            dict(metrics),
            maker(task.cached),
            task.kind,
            task.template,
        )


def head(record: RunRecord) -> RunStatus:
    """A run without its tasks."""
    return RunStatus(
        record.id,
        record.name,
        record.status,
        "local",
        record.created,
        record.finished,
        record.message,
        (),
        record.outputs,
        record.parameters,
        record.paused(runs.now()),
    )


def is_run(path: str, task: TaskRecord) -> bool:
    """Whether a record is that of the entrypoint's own graph, which isn't shown beside the run."""
    return not path and task.kind in ("graph", "loop")


class Told:
    """A run of this process: its engine says which tasks have changed, in its own thread."""

    def __init__(self, ours: InThread, workflow: Workflow):
        self._record = ours.prepared.run
        self._context = ours.prepared.engine.context
        self._shape = Shape(workflow)
        self._changed: deque[str] = deque()
        self._metrics: dict[str, dict[str, tuple[tuple[float, float], ...]]] = {}
        self._attempts: dict[str, int] = {}
        self._expected = expected(workflow)
        self._first = True
        self._context.journal.observe(self._hear)

    def _hear(self, event: Event) -> None:
        if event.kind == "metric":
            # Whoever looks on sees the newest value; the record has them all.
            newest = (float(event.data.get("step") or 0), float(event.data["value"]))
            self._metrics.setdefault(event.path, {})[event.data["name"]] = (newest,)
        if event.kind in ("task", "metric"):
            self._changed.append(event.path)

    def take(self) -> Change:
        """What has changed since the last time; the first time, all there is."""
        record = self._record
        paths: Iterable[str] = dict.fromkeys(self._changed.popleft() for _ in range(len(self._changed)))
        anew = self._again(paths)
        if anew or self._first:
            paths = last_attempts(dict(record.tasks))  # the engine goes on writing in its thread
        self._first = False
        found = ((path, record.tasks[path]) for path in paths if path in record.tasks)
        return Change(
            head(record),
            tuple(
                self._shape.task(path, task, self._metrics.get(path, {}))
                for path, task in found
                if self._shape.shows(path, task)
            ),
            anew,
            self._context.used,
            self._context.machine.total.cpu,
            self._expected,
        )

    def close(self) -> None:
        """Nothing is held."""

    def _again(self, paths: Iterable[str]) -> bool:
        """Whether a graph has begun anew: what was inside it before is shown no more."""
        found = False
        for path in paths:
            task = self._record.tasks.get(path)
            if task is not None and task.kind in ("graph", "loop") and task.attempts > self._attempts.get(path, 1):
                self._attempts[path] = task.attempts
                found = True
        return found


class Read:
    """A run of another process: its record is read whenever the store has changed."""

    def __init__(self, home: Home, run: str, workflow: Workflow):
        self._home = home
        self._run = run
        self._connection = connect(home)
        self._version: object = None
        self._shape = Shape(workflow)
        self._seen: dict[str, TaskStatus] = {}
        self._expected = expected(workflow)

    def take(self) -> Change:
        """What has changed since the last time."""
        record = api.load(self._run, home=self._home.path, tasks=False)
        version = self._connection.execute("PRAGMA data_version").fetchone()
        if version == self._version and record.status not in FINISHED:
            return self._change(record)
        self._version = version
        record = api.load(self._run, home=self._home.path)
        metrics = runs.metrics(self._connection, record.id)
        found = {
            path: self._shape.task(path, task, metrics.get(path, {}))
            for path, task in last_attempts(record.tasks).items()
            if self._shape.shows(path, task)
        }
        anew = bool(self._seen.keys() - found.keys())
        tasks = tuple(task for path, task in found.items() if anew or self._seen.get(path) != task)
        self._seen = found
        return self._change(record, tasks, anew)

    def _change(self, record: RunRecord, tasks: tuple[TaskStatus, ...] = (), anew: bool = False) -> Change:
        found = samples.load_in_use(self._connection, record.id) if record.status not in FINISHED else None
        if found is None:
            return Change(head(record), tasks, anew, expected=self._expected)
        used = (found.processors, found.memory) if time.time() - found.time < STALE else None
        return Change(head(record), tasks, anew, used, found.total, self._expected)

    def close(self) -> None:
        """Let the store go."""
        self._connection.close()


def changes(home: Home, run: str, workflow: Workflow, ours: InThread | None) -> Generator[Change, None, None]:
    """What is new in a run, until it has ended; `ours` is the one of this process. Ctrl-C ends that."""
    source: Told | Read = Told(ours, workflow) if ours is not None else Read(home, run, workflow)
    told = 0.0
    try:
        while True:
            try:
                spent, now = time.thread_time(), time.monotonic()
                over = ours.look(0.0) if ours is not None else False
                change = source.take()
                ended = over or (ours is None and change.run.status in FINISHED)
                if ended or change.tasks or change.anew or now - told >= TICK:
                    told = now
                    yield change
                if ended:
                    return
                wait(ours, pause(time.thread_time() - spent))
            except KeyboardInterrupt:
                if ours is None:
                    raise
                ours.prepared.engine.interrupt()
                told = 0.0  # whoever looks on says so at once
    finally:
        source.close()


def pause(spent: float) -> float:
    """The seconds until the next look, after one that took so many of a processor."""
    return max(INTERVAL, PACE * spent)


def wait(ours: InThread | None, seconds: float) -> None:
    """Let some seconds pass, or less where a run of this process ends before."""
    if ours is not None:
        ours.look(seconds)
    else:
        time.sleep(seconds)
