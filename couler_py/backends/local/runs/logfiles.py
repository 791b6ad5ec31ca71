"""The logs of attempts, read line by line, also while they are written."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

from couler_py.backends.base import LogLine, RunNotFoundError
from couler_py.backends.local import control
from couler_py.backends.local.paths import shown
from couler_py.backends.local.runs import logbounds
from couler_py.store import runs
from couler_py.store.database import connect
from couler_py.store.home import Home

INTERVAL = 0.1  # seconds between two looks at logs that are being written
LONGEST_LINE = 1 << 20  # bytes; what has no end of a line in so many is cut
NAMED = 20  # so many tasks are named where one is asked for that isn't there


def lines(home: Home, run_id: str, task: str | None, *, follow: bool) -> Iterator[LogLine]:
    """The lines of all attempts of a run, or of one task and the tasks inside it, in order of their start."""
    connection = connect(home)
    folder = home.run(run_id)
    read: dict[str, int] = {}
    parts: dict[str, bytes] = {}
    try:
        if task is not None and not follow:
            _check(connection, run_id, task)
        while True:
            alive = follow and control.has_engine(home, run_id)
            for path, attempt in runs.load_attempts(connection, run_id):
                name = shown(path) or _entry(connection, run_id)
                if task is None or name == task or name.startswith((f"{task}/", f"{task}[", f"{task}#")):
                    yield from _new(folder / attempt.folder / "log", name, attempt.number, read, parts, last=not alive)
            if not alive:
                return
            time.sleep(INTERVAL)
    finally:
        connection.close()


def _entry(connection: sqlite3.Connection, run_id: str) -> str:
    """The name of the only step of a run that is no graph: its template's, as where the run is shown."""
    found = connection.execute("SELECT template FROM tasks WHERE run=? AND path=''", (run_id,)).fetchone()
    return "" if found is None else str(found[0])


def _check(connection: sqlite3.Connection, run_id: str, task: str) -> None:
    names = {shown(path) for (path,) in connection.execute("SELECT path FROM tasks WHERE run=?", (run_id,))} - {""}
    if task in names or task == _entry(connection, run_id):
        return
    known = sorted(names)
    more = f" and {len(known) - NAMED:,} more" if len(known) > NAMED else ""
    it_has = f"; it has {', '.join(known[:NAMED])}{more}" if known else ""
    raise RunNotFoundError(f"{run_id} has no task {task!r}{it_has}")


def _new(
    log: Path, path: str, number: int, read: dict[str, int], parts: dict[str, bytes], *, last: bool
) -> Iterator[LogLine]:
    key = str(log)
    if not log.is_file():  # its step may have removed it, or put a pipe there
        return
    rest = parts.get(key, b"")
    if log.stat().st_size < read.get(key, 0):  # its middle was taken out: what came after is read anew
        read[key], rest = logbounds.cut(log), b""
    with log.open("rb") as file:
        file.seek(read.get(key, 0))
        while block := file.read(LONGEST_LINE):
            read[key] = read.get(key, 0) + len(block)
            *whole, rest = (rest + block).split(b"\n")
            if len(rest) >= LONGEST_LINE:
                whole, rest = [*whole, rest[:LONGEST_LINE]], rest[LONGEST_LINE:]
            for line in whole:
                for start in range(0, max(len(line), 1), LONGEST_LINE):
                    yield _line(path, line[start : start + LONGEST_LINE], number)
    if last and rest:
        yield _line(path, rest, number)
        rest = b""
    parts[key] = rest


def _line(path: str, line: bytes, number: int) -> LogLine:
    return LogLine(path, line.decode("utf-8", "replace").rstrip("\r"), number)
