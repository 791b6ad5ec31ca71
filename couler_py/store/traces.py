"""What the runs of a home made and asked for, as a trace for the policies of the cache."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from couler_py.ir.graph import shape, templates_by_name
from couler_py.ir.model import Graph, Template
from couler_py.passes.cache.trace import Artifact, Trace
from couler_py.store import runs
from couler_py.store.records import Result, RunRecord, TaskRecord

TASKS = 20_000
"""With so many tasks read, no older run is looked at."""

_INDEX = re.compile(r"\[\d+\]$")
_AGAIN = re.compile(r"~\d+$")


class Traced(msgspec.Struct, frozen=True):
    """Artifacts by key, and what each run asked for, oldest first, with the name of its workflow."""

    artifacts: dict[str, Artifact] = {}
    runs: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def trace(self, name: str) -> Trace:
        """All runs as one trace. Nobody knows what comes next: it is expected from what was before."""
        return Trace(name, tuple(self.artifacts.values()), tuple(asked for _, asked in self.runs), foreseen=False)


def traced(connection: sqlite3.Connection, records: Iterable[RunRecord]) -> Traced:
    """Read some runs, newest first, as far as their steps have a cache."""
    found: dict[str, Artifact] = {}
    rounds: list[tuple[str, tuple[str, ...]]] = []
    templates: dict[str, dict[str, Template]] = {}
    room = TASKS
    for record in records:
        if room <= 0:
            break
        keys = dict(connection.execute("SELECT path, key FROM lookups WHERE run=?", (record.id,)).fetchall())
        if not keys:
            continue
        if record.workflow not in templates:
            templates[record.workflow] = templates_by_name(runs.workflow(connection, record.workflow))
        tasks = {task.path: task for task in runs.load_tasks(connection, record.id)}
        room -= len(tasks)
        reading = _Reading(templates[record.workflow], tasks, keys)
        asked = []
        for path, task in tasks.items():
            if path not in keys:
                continue
            asked.append(keys[path])
            if keys[path] not in found or not task.cached:
                found[keys[path]] = _artifact(record, task, keys[path], reading, found.get(keys[path]))
        rounds.append((record.name, tuple(dict.fromkeys(asked))))
    for key, artifact in list(found.items()):  # what was made by runs that are gone is known by its readers alone
        for each in artifact.inputs:
            found.setdefault(each, Artifact(each, 0, 0.0))
        found[key] = artifact
    return Traced(found, tuple(reversed(rounds)))


def _artifact(record: RunRecord, task: TaskRecord, key: str, reading: _Reading, known: Artifact | None) -> Artifact:
    # Who took it from the cache doesn't know how long it takes: who made it does.
    seconds = task.seconds if not task.cached else known.seconds if known is not None else 0.0
    step = f"{record.name}/{_INDEX.sub('', task.path)}"
    return Artifact(key, size_of(task.result), seconds, tuple(sorted(reading.inputs(task.path) - {key})), step)


def size_of(result: Result | None) -> int:
    """The bytes of what a task left: its files, and its values as text."""
    if result is None:
        return 0
    return sum(ref.size for ref in result.artifacts.values()) + len(runs.dumps(msgspec.to_builtins(result)))


class _Reading:
    """From which keys the tasks of a run were made."""

    def __init__(self, templates: Mapping[str, Template], tasks: Mapping[str, TaskRecord], keys: Mapping[str, str]):
        self._templates, self._tasks, self._keys = templates, tasks, keys
        self._items: dict[str, list[str]] = {}
        for path in tasks:
            self._items.setdefault(_INDEX.sub("", path), []).append(path)
        self._producers: dict[str, Mapping[str, tuple[str, ...]]] = {}
        self._known: dict[str, frozenset[str]] = {}

    def inputs(self, path: str) -> frozenset[str]:
        """The keys before a task: of what it waits for; where that has none, of what is before it, and around it."""
        if path in self._known:
            return self._known[path]
        self._known[path] = frozenset()  # a loop's rounds read each other
        parent, _, name = _INDEX.sub("", path).rpartition("/")
        found: set[str] = set()
        for producer in self._of_graph(parent).get(name, ()):
            before = f"{parent}/{producer}" if parent else producer
            for each in self._items.get(before, ()):
                found |= {self._keys[each]} if each in self._keys else self.inputs(each)
        if name:
            found |= self.inputs(parent)
        self._known[path] = frozenset(found)
        return self._known[path]

    def _of_graph(self, path: str) -> Mapping[str, tuple[str, ...]]:
        own = _AGAIN.sub("", path)
        if own not in self._producers:
            task = self._tasks.get(own)
            template = self._templates.get(task.template) if task is not None else None
            graph = template.body if template is not None else None
            self._producers[own] = shape(graph).producers if isinstance(graph, Graph) else {}
        return self._producers[own]


def recent(connection: sqlite3.Connection, most: int) -> Iterator[RunRecord]:
    """The newest runs, the newest first."""
    yield from runs.list_runs(connection)[:most]
