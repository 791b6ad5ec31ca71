"""What attempts used while they ran, over time, one row an attempt; and what a run uses now."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from typing import Any, NamedTuple

SAVE = "INSERT OR REPLACE INTO samples VALUES (?, ?, ?)"
SAVE_IN_USE = "INSERT OR REPLACE INTO in_use VALUES (?, ?, ?, ?, ?)"


class Sample(NamedTuple):
    """One look at an attempt. `time` is in seconds since 1970, `cpu` the processor seconds that all of its processes
    have used so far, `memory` their resident bytes: the most since the sample before."""

    time: float
    cpu: float
    memory: int


class InUse(NamedTuple):
    """What all attempts of a run used together when they were last looked at: processors, and bytes of memory.

    `total` counts the processors that the run may have.
    """

    time: float
    processors: float
    memory: int
    total: float


def row(run_id: str, folder: str, found: Iterable[Sample]) -> tuple[Any, ...]:
    """The row of an attempt, by its folder inside its run's."""
    data = [[round(each.time, 2), round(each.cpu, 2), each.memory] for each in found]
    return (run_id, folder, json.dumps(data, separators=(",", ":")))


def load(connection: sqlite3.Connection, run_id: str) -> dict[str, list[Sample]]:
    """The samples of all attempts of a run, by their folders."""
    rows = connection.execute("SELECT folder, data FROM samples WHERE run=?", (run_id,))
    return {folder: _samples(data) for folder, data in rows}


def load_attempt(connection: sqlite3.Connection, run_id: str, folder: str) -> list[Sample]:
    """The samples of one attempt; none where it has none."""
    found = connection.execute("SELECT data FROM samples WHERE run=? AND folder=?", (run_id, folder)).fetchone()
    return [] if found is None else _samples(found[0])


def load_in_use(connection: sqlite3.Connection, run_id: str) -> InUse | None:
    """What a run used when it was last looked at; None where it never was."""
    found = connection.execute("SELECT time, processors, memory, total FROM in_use WHERE run=?", (run_id,)).fetchone()
    return None if found is None else InUse(*found)


def _samples(data: str) -> list[Sample]:
    return [Sample(float(time), float(cpu), int(memory)) for time, cpu, memory in json.loads(data)]
