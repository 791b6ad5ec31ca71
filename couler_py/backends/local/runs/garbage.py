"""What a home no longer needs: old runs, cached outputs over their budget, and all that only those needed.

Nothing goes that something may still need: a run that works, or whose steps outlived its engine; files that a record
names, also one that no engine has read yet; an environment that a run holds. What is about to be used again is marked
as new by who uses it, so only what is old is looked at.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

import msgspec

from couler_py.backends.base import RunNotFoundError
from couler_py.backends.local import api, control
from couler_py.backends.local.artifacts import remote
from couler_py.backends.local.cache.settling import surplus
from couler_py.backends.local.containers import orphans
from couler_py.backends.local.lifecycle import RunBusyError
from couler_py.backends.local.steps import attempts
from couler_py.backends.local.steps.packages import COMPLETE, lock_of
from couler_py.store import artifacts, cache, content, runs
from couler_py.store.database import connect, transaction
from couler_py.store.home import Home, open_home
from couler_py.store.locks import release, try_lock
from couler_py.store.records import RunRecord
from couler_py.store.remote.sweep import GRACE

UNUSED = 30 * 86_400.0  # seconds: environments, programs and modules that nobody used for so long go
LEFTOVER = 86_400.0  # seconds: what lies half made for so long is nobody's any more
YOUNG = 3600.0  # seconds: a file may be on its way to the record that names it
FINISHED = ("Succeeded", "Failed", "Stopped")


class Freed(msgspec.Struct):
    """How many things of a kind went, and their size in bytes."""

    count: int = 0
    size: int = 0

    def add(self, size: int, count: int = 1) -> None:
        """One more, or several."""
        self.count += count
        self.size += size


class Swept(msgspec.Struct):
    """What went, or would go. `runs` are the ids of runs, `kept` says of runs that were meant why they stay."""

    dry_run: bool = False
    runs: list[str] = []
    kept: dict[str, str] = {}
    freed: dict[str, Freed] = {}

    @property
    def size(self) -> int:
        """Bytes of all kinds."""
        return sum(each.size for each in self.freed.values())

    def of(self, kind: str) -> Freed:
        """The count of a kind."""
        return self.freed.setdefault(kind, Freed())


def sweep(
    *,
    home: str | Path | None = None,
    older_than: float | None = None,
    keep: int | None = None,
    budget: int | None = None,
    policy: str = "foresight",
    unused: float = UNUSED,
    stores: bool = False,
    dry_run: bool = False,
) -> Swept:
    """Free what a home no longer needs, and with `stores` what it has put into stores of artifacts and needs no more.

    Runs go only if asked for: those that ended more than `older_than` seconds ago, those beyond the `keep` newest; with
    both, what is both. `budget` is the size in bytes that cached outputs may have; the `policy` says which of them go.
    Raises `RemoteError` for a store that can't be reached, the rest having been freed.
    """
    place = open_home(home)
    found = Swept(dry_run, [], {}, {})
    connection = connect(place)
    try:
        now = runs.now()
        for record in _old(place, now, older_than, keep):
            _forget(connection, place, record, found)
        evicted = [] if budget is None else surplus(connection, budget, policy)
        evict(connection, evicted, found)
        known = [each for each in api.run_list(home=home) if each.id not in found.runs]
        _artifacts(connection, place, known, now, found, without_keys={entry.key for entry in evicted})
        _environments(place, known, now, unused, found)
        _programs(connection, place, now, unused, found)
        _leftovers(place, now, found)
        _strays(connection, place, now, found)
        if stores:
            _stores(connection, place, known, now, found, without_keys={entry.key for entry in evicted})
    finally:
        connection.close()
    return found


def forget_cached(entries: Collection[cache.Entry], *, home: str | Path | None = None, dry_run: bool = False) -> Swept:
    """Forget cached outputs, and delete the files that nothing else needs."""
    place = open_home(home)
    found = Swept(dry_run, [], {}, {})
    connection = connect(place)
    try:
        evict(connection, entries, found)
        without = {entry.key for entry in entries}
        _artifacts(connection, place, api.run_list(home=home), runs.now(), found, without_keys=without)
    finally:
        connection.close()
    return found


def delete(run_id: str, *, home: str | Path | None = None) -> None:
    """Forget one run with its logs, and the files that nothing else needs.

    Raises `RunNotFoundError`, and `RunBusyError` while it works.
    """
    place = open_home(home)
    record = api.load(run_id, home=home, tasks=False)
    connection = connect(place)
    found = Swept(False, [], {}, {})
    try:
        _forget(connection, place, record, found)
        if found.kept:
            raise RunBusyError(f"{run_id} {found.kept[run_id]}")
        if not found.runs:
            raise RunNotFoundError(f"somebody else has deleted {run_id} at this moment")
        _artifacts(connection, place, api.run_list(home=home), runs.now(), found)
    finally:
        connection.close()


# ---- runs


def _old(home: Home, now: float, older_than: float | None, keep: int | None) -> Iterator[RunRecord]:
    if older_than is None and keep is None:
        return
    for place, record in enumerate(api.run_list(home=home.path)):
        ended = record.finished or record.created
        if keep is not None and place < keep:
            continue
        if older_than is None or ended < now - older_than:
            yield record


def _forget(connection: sqlite3.Connection, home: Home, record: RunRecord, found: Swept) -> None:
    """Forget a run, unless somebody works on it; nobody can begin to in between."""
    folder = home.run(record.id)
    lock = control.lock_engine(home, record.id) if folder.exists() else -1
    if lock is None:
        found.kept[record.id] = "is running: couler stop " + record.id
        return
    try:
        if not runs.exists(connection, record.id):  # somebody else was faster, and the folder is that of our lock
            content.remove(str(folder))
            return
        if any(not attempts.claim(each) for of_task in attempts.folders(folder).values() for each in of_task):
            way_out = f"couler resume {record.id}, then stop it"
            found.kept[record.id] = f"has steps that still run without an engine: {way_out}"
            return
        found.runs.append(record.id)
        found.of("runs").add(size_of(folder))
        if not found.dry_run:
            for of_task in attempts.folders(folder).values():
                for each in of_task:
                    orphans.remove(each)
            runs.delete(connection, home, record.id)
    finally:
        if lock != -1:
            release([lock])


# ---- the cache


def evict(connection: sqlite3.Connection, entries: Collection[cache.Entry], found: Swept) -> None:
    """Forget cached outputs. Their files are counted where they go."""
    found.of("cached outputs").add(0, len(entries))
    if entries and not found.dry_run:
        with transaction(connection):
            cache.forget(connection, [entry.key for entry in entries])


# ---- files


def _artifacts(
    connection: sqlite3.Connection,
    home: Home,
    known: Iterable[RunRecord],
    now: float,
    found: Swept,
    *,
    without_keys: Collection[str] = (),
) -> None:
    """Delete artifacts that no run and no cached output needs. Files of a living run may be in no record yet."""
    live = _live(connection, home, found, without_keys)
    age = max([YOUNG, *_going(known, now)])
    count, size = artifacts.collect(home, live, older_than=age, dry_run=found.dry_run)
    found.of("artifacts").add(size, count)


def _stores(
    connection: sqlite3.Connection,
    home: Home,
    known: Iterable[RunRecord],
    now: float,
    found: Swept,
    *,
    without_keys: Collection[str] = (),
) -> None:
    """Delete from stores of artifacts what this home put there, and what no run and no cached output needs."""
    live = _live(connection, home, found, without_keys)
    age = max([GRACE, *_going(known, now)])
    for url, swept in remote.swept(home, live, grace=age, dry_run=found.dry_run).items():
        found.of(url).add(swept.size, swept.count)


def _live(connection: sqlite3.Connection, home: Home, found: Swept, without_keys: Collection[str]) -> set[str]:
    """The digests of all artifacts that a run or a cached output refers to, those left out that go."""
    gone = set(found.runs)
    recorded = runs.live_digests(connection, without=gone, without_keys=without_keys)
    return recorded | attempts.live_digests(home.path / "runs", without=gone)


def _going(known: Iterable[RunRecord], now: float) -> list[float]:
    """The ages of runs that haven't ended, in seconds."""
    return [now - each.created for each in known if each.status not in FINISHED]


def _environments(home: Home, known: Iterable[RunRecord], now: float, unused: float, found: Swept) -> None:
    """Delete environments that nobody used for long; none while steps run that outlived their engine."""
    root = home.path / "environments"
    if any(_outlived(home, each.id) for each in known if each.status == "Stopped"):
        return
    for folder in root.iterdir():
        if not folder.is_dir():
            continue
        lock = try_lock(lock_of(folder))
        if lock is None:
            continue  # a run uses it, or it is being made
        try:
            marker = folder / COMPLETE
            last, bound = (marker, unused) if marker.exists() else (folder, LEFTOVER)
            if last.stat().st_mtime < now - bound:
                found.of("environments").add(size_of(folder))
                if not found.dry_run:
                    content.remove(str(folder))
                    lock_of(folder).unlink()
        finally:
            release([lock])


def _outlived(home: Home, run_id: str) -> bool:
    """Whether steps of a run without an engine still run."""
    for of_task in attempts.folders(home.run(run_id)).values():
        for folder in of_task:
            if attempts.record(folder) is None and not attempts.claim(folder):
                return True
    return False


def _programs(connection: sqlite3.Connection, home: Home, now: float, unused: float, found: Swept) -> None:
    """Delete programs of steps that nobody used for long, and modules that, besides, no run here imports."""
    texts = [row[0] for row in connection.execute("SELECT text FROM workflows")]
    for path in (home.path / "programs").iterdir():
        _drop_old(path, now - unused, "programs", found)
    for path in (home.path / "includes").iterdir():
        if not any(path.name in text for text in texts):
            _drop_old(path, now - unused, "programs", found)


def _leftovers(home: Home, now: float, found: Swept) -> None:
    for path in (home.path / "tmp").iterdir():
        _drop_old(path, now - LEFTOVER, "leftovers", found)


def _strays(connection: sqlite3.Connection, home: Home, now: float, found: Swept) -> None:
    """Delete folders of runs that were forgotten by somebody who was killed before deleting their folders."""
    for folder in (home.path / "runs").iterdir():
        if folder.lstat().st_mtime >= now - LEFTOVER or runs.exists(connection, folder.name):
            continue
        lock = try_lock(folder / control.LOCK)
        if lock is not None:
            found.of("leftovers").add(size_of(folder))
            if not found.dry_run:
                content.remove(str(folder))
            release([lock])


def _drop_old(path: Path, before: float, kind: str, found: Swept) -> None:
    if path.lstat().st_mtime < before:
        found.of(kind).add(size_of(path))
        if not found.dry_run:
            content.remove(str(path))


def size_of(path: Path) -> int:
    """Bytes of a file, or of all files in a folder; 0 where nothing is."""
    if not path.is_dir() or path.is_symlink():
        return path.lstat().st_size if path.exists() else 0
    return sum(
        os.lstat(os.path.join(folder, name)).st_size  # noqa: PTH118 - many files
        for folder, _, names in os.walk(path)
        for name in names
    )
