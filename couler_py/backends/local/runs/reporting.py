"""A run of this machine as its page takes it: its record, its attempts, what they used, what they wrote."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import msgspec

from couler_py.backends.base import FINISHED
from couler_py.backends.local.paths import last_attempts, maker, shown
from couler_py.ir.diagnostics import DiagnosticError
from couler_py.ir.model import Workflow
from couler_py.passes.split.mark import helpers_of
from couler_py.report import graph
from couler_py.report.facts import AttemptFacts, Log, Look, Picture, RunFacts, TaskFacts
from couler_py.store import runs, samples
from couler_py.store.records import AttemptRecord, RunRecord, TaskRecord

LOG = 64 * 1024
"""So many bytes of the end of each log are read."""

LOGS = 16 * 1024 * 1024
"""So many bytes of logs are read in all; of tasks that failed first."""

BOXES = 500
"""So many boxes the picture has at most; alike tasks share one, but never one that failed with one that didn't."""

_GROUPS = frozenset({"graph", "loop", "map"})


class Logs(Protocol):
    """Gives the log of an attempt (of a task, by its inner path), open for reading; None where there is none."""

    def __call__(self, path: str, attempt: AttemptRecord) -> AbstractContextManager[BinaryIO] | None: ...


class Known(msgspec.Struct, frozen=True):
    """What is known of a run: its record with its tasks, its workflow, attempts, metrics, and samples by folder."""

    record: RunRecord
    workflow: Workflow
    attempts: Sequence[tuple[str, AttemptRecord]]
    metrics: Mapping[str, Mapping[str, Any]] = {}
    looks: Mapping[str, Sequence[tuple[float, float, int]]] = {}


def facts(connection: sqlite3.Connection, folder: Path, record: RunRecord) -> RunFacts:
    """All that is known of a run of this machine; `folder` is the run's."""
    known = Known(
        record,
        runs.workflow(connection, record.workflow),
        runs.load_attempts(connection, record.id),
        runs.metrics(connection, record.id),
        samples.load(connection, record.id),
    )

    def log(path: str, attempt: AttemptRecord) -> AbstractContextManager[BinaryIO] | None:
        place = folder / attempt.folder / "log"
        return place.open("rb") if place.is_file() else None

    return page_facts(known, log)


def page_facts(known: Known, log: Logs, *, engine: str = "local") -> RunFacts:
    """What is known of a run, as its page takes it."""
    record = known.record
    tasks = last_attempts(record.tasks)
    helpers = helpers_of(known.workflow)
    tries = _tries(known, log)
    sources = {template.name: str(template.source or "") for template in known.workflow.templates}
    listed = tuple(
        _task(path, task, tries.get(path, ()), known.metrics.get(path, {}), sources.get(task.template, ""))
        for path, task in tasks.items()
        if (path or task.kind not in ("graph", "loop")) and task.template not in helpers
    )
    entry = tasks.get("")
    return RunFacts(
        record.id,
        record.name,
        record.status,
        engine,
        record.created,
        record.finished,
        record.message or (entry.message if entry is not None else ""),
        record.parameters,
        record.outputs,
        listed,
        seen=None if record.status in FINISHED else runs.now(),
        picture=_picture(known.workflow, listed),
        paused=record.paused(runs.now()),
    )


def _task(
    path: str, task: TaskRecord, tries: Sequence[AttemptFacts], metrics: Mapping[str, Any], source: str
) -> TaskFacts:
    outputs: dict[str, Any] = {}
    if task.result is not None and task.kind not in _GROUPS:
        outputs = dict(task.result.parameters) | {
            name: f"{ref.kind}, sha256 {ref.digest[:12]}…" for name, ref in task.result.artifacts.items()
        }
    return TaskFacts(
        shown(path) or task.template,
        task.state,
        0 if task.started is None else task.attempts,
        task.seconds if task.started is not None and task.finished is not None else None,
        task.started,
        task.finished,
        task.message,
        maker(task.cached),
        dict(metrics),
        task.kind,
        task.ready,
        tuple(tries),
        outputs,
        source,
    )


def _tries(known: Known, log: Logs) -> dict[str, list[AttemptFacts]]:
    found: dict[str, list[AttemptFacts]] = {}
    texts = _logs(known.attempts, log)
    for path, attempt in known.attempts:
        found.setdefault(path, []).append(
            AttemptFacts(
                attempt.number,
                attempt.state,
                attempt.started,
                attempt.finished,
                attempt.message,
                attempt.exit_code,
                attempt.cpu,
                None if attempt.memory is None else int(attempt.memory),
                tuple(Look(*each) for each in known.looks.get(attempt.folder, ())),
                texts.get((path, attempt.folder)),
            )
        )
    return found


def _logs(attempts: Sequence[tuple[str, AttemptRecord]], log: Logs) -> dict[tuple[str, str], Log]:
    """The ends of the logs, by the task's path and the attempt's folder."""
    room = LOGS
    found: dict[tuple[str, str], Log] = {}
    for path, attempt in sorted(attempts, key=lambda each: each[1].state != "Failed"):
        if room <= 0:
            break
        opened = log(path, attempt)
        text = _end(opened) if opened is not None else None
        if text is not None:
            room -= len(text.text)
            found[path, attempt.folder] = text
    return found


def _end(opened: AbstractContextManager[BinaryIO]) -> Log | None:
    with opened as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - LOG))
        data = file.read(LOG)
    left_out = size - len(data)
    if left_out > 0:  # begin with a whole line
        cut = data.find(b"\n") + 1
        data, left_out = data[cut:], left_out + cut
    return Log(data.decode("utf-8", "replace"), left_out) if data else None


def _picture(workflow: Workflow, tasks: Sequence[TaskFacts]) -> Picture | None:
    states = graph.tally((task.name, task.status) for task in tasks)
    try:
        scene = graph.scene(workflow, limit=BOXES, states=states)
    except DiagnosticError:  # one that begins nowhere never ran
        return None
    # Our own layouter: what `dot` draws differs from version to version.
    return graph.picture(scene, graphviz=False)
