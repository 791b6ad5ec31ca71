"""A run of this machine as its page takes it: its record, its attempts, what they used, what they wrote."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from couler_py.backends.local.paths import last_attempts, shown
from couler_py.ir.codec import from_json
from couler_py.ir.diagnostics import DiagnosticError
from couler_py.ir.model import Workflow
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


def facts(connection: sqlite3.Connection, folder: Path, record: RunRecord) -> RunFacts:
    """All that is known of a run; `folder` is the run's, and `record` has its tasks."""
    tasks = last_attempts(record.tasks)
    tries = _tries(connection, folder, record)
    metrics = runs.metrics(connection, record.id)
    workflow = from_json(runs.workflow_text(connection, record.workflow))
    assert isinstance(workflow, Workflow)
    sources = {template.name: str(template.source or "") for template in workflow.templates}
    listed = tuple(
        _task(path, task, tries.get(path, ()), metrics.get(path, {}), sources.get(task.template, ""))
        for path, task in tasks.items()
        if path or task.kind not in ("graph", "loop")
    )
    ended = record.status in ("Succeeded", "Failed", "Stopped")
    entry = tasks.get("")
    return RunFacts(
        record.id,
        record.name,
        record.status,
        "local",
        record.created,
        record.finished,
        record.message or (entry.message if entry is not None else ""),
        record.parameters,
        record.outputs,
        listed,
        seen=None if ended else runs.now(),
        picture=_picture(workflow, listed),
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
        task.cached.replace(":", "/", 1),
        dict(metrics),
        task.kind,
        task.ready,
        tuple(tries),
        outputs,
        source,
    )


def _tries(connection: sqlite3.Connection, folder: Path, record: RunRecord) -> dict[str, list[AttemptFacts]]:
    looks = samples.load(connection, record.id)
    found: dict[str, list[AttemptFacts]] = {}
    known = runs.load_attempts(connection, record.id)
    texts = _logs(folder, known)
    for path, attempt in known:
        of_attempt = tuple(Look(*each) for each in looks.get(attempt.folder, ()))
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
                of_attempt,
                texts.get(attempt.folder),
            )
        )
    return found


def _logs(folder: Path, known: Sequence[tuple[str, AttemptRecord]]) -> dict[str, Log]:
    """The ends of the logs, by the folders of their attempts."""
    room = LOGS
    found: dict[str, Log] = {}
    for _, attempt in sorted(known, key=lambda each: each[1].state != "Failed"):
        if room <= 0:
            break
        log = _log(folder / attempt.folder / "log")
        if log is not None:
            room -= len(log.text)
            found[attempt.folder] = log
    return found


def _log(path: Path) -> Log | None:
    if not path.is_file():
        return None
    with path.open("rb") as file:
        size = file.seek(0, 2)
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
