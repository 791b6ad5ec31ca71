"""Outputs of steps that succeeded, by what they were made from."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypeAlias

import msgspec

from couler_py.store import content
from couler_py.store.home import Home
from couler_py.store.records import ArtifactRef, Result
from couler_py.store.runs import dumps

SAVE = (
    "INSERT OR REPLACE INTO cache (key, created, run, path, result, step, parts, size, used, hits, seconds) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?)"
)
USED = "UPDATE cache SET used=?, hits=hits+1 WHERE key=?"
SAVE_LOOKUP = "INSERT OR REPLACE INTO lookups (run, path, key, step, time, outcome, parts) VALUES (?, ?, ?, ?, ?, ?, ?)"
_ENTRY = "key, created, run, path, result, step, parts, size, used, hits, seconds, rank"

SHORT = 16  # hexadecimal digits of a part's digest that are kept, to tell a part that changed


class Part(msgspec.Struct, frozen=True, array_like=True):
    """One thing that a step's outputs are made from: its digest, and in few words what it is, unless that is secret."""

    digest: str
    shown: str = ""


Parts: TypeAlias = dict[str, Part]
"""By name: "source", "image", "input:x", "artifact:data", "env:MODE" and others; see `backends.local.cachekeys`."""


class Hit(msgspec.Struct, frozen=True):
    """An earlier success: its result, and the run and task that made it."""

    result: Result
    run: str
    path: str
    created: float


class Miss(msgspec.Struct, frozen=True):
    """Why there was nothing to use: no such key, one that is too old, or one whose files are gone.

    `run` and `path` made what couldn't be used, `age` seconds before; `digest` is a file's that is gone.
    """

    kind: Literal["new", "expired", "gone"]
    run: str = ""
    path: str = ""
    age: float = 0.0
    digest: str = ""


class Entry(msgspec.Struct, frozen=True):
    """One success that is kept. Times are seconds since 1970; `size` is in bytes: its files and its values.

    `seconds` is how long it took, without waiting for its turn; `rank` is what the policy noted of it.
    """

    key: str
    created: float
    run: str
    path: str
    result: Result
    step: str = ""
    parts: Parts = {}
    size: int = 0
    used: float = 0.0
    hits: int = 0
    seconds: float = 0.0
    rank: float = 0.0


class Lookup(msgspec.Struct, frozen=True):
    """What a task of a run looked for in the cache, and found. `parts` are kept of a miss alone."""

    key: str
    step: str
    time: float
    outcome: Miss | None
    parts: Parts = {}


def part(value: Any, shown: str = "") -> Part:
    """A part from plain data."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return Part(hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest(), shown)


def key(parts: Mapping[str, Part]) -> str:
    """The key of a step's outputs: the sha256 of all that they are made from."""
    text = json.dumps({name: each.digest for name, each in parts.items()}, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def find(
    connection: sqlite3.Connection,
    home: Home,
    cache_key: str,
    *,
    now: float,
    max_age: float | None = None,
    files: bool = True,
) -> Hit | Miss:
    """The success of that key, unless it is older than `max_age` seconds or (with `files`) its files are gone.

    The files of what is found count as new, so that nobody collects them before who asked refers to them.
    """
    row = connection.execute("SELECT created, run, path, result FROM cache WHERE key=?", (cache_key,)).fetchone()
    if row is None:
        return Miss("new")
    created, run, path, text = row
    age = max(0.0, now - created)
    if max_age is not None and now - created > max_age:
        return Miss("expired", run, path, age)
    result = _result(text)
    gone = missing(home, result.artifacts.values()) if files else ""
    if gone:
        return Miss("gone", run, path, age, gone)
    return Hit(result, run, path, created)


def missing(home: Home, refs: Iterable[ArtifactRef]) -> str:
    """The digest of a file that some artifacts need and the store no longer has whole; "" where it has all.

    Those that it has count as new.
    """
    root = str(home.artifacts)
    for ref in refs:
        own: dict[str, Any] = {"digest": ref.digest, "size": ref.size}
        try:
            entries = _entries_of(root, ref.digest) if ref.kind == "folder" else [own]
        except (FileNotFoundError, content.ContentError):
            return ref.digest
        for entry in entries:
            # Its content is checked by who reads it: here it would cost as much as the step.
            if "digest" in entry and not content.kept(root, entry["digest"], entry["size"]):
                return str(entry["digest"])
    return ""


def _entries_of(root: str, digest: str) -> list[dict[str, Any]]:
    """What is in a folder, the list of which counts as new. Raises `ContentError`."""
    content.kept(root, digest)
    return content.manifest(root, digest)


def row(entry: Entry) -> tuple[Any, ...]:
    """The values for `SAVE`."""
    result = dumps(msgspec.to_builtins(entry.result))
    size = sum(ref.size for ref in entry.result.artifacts.values()) + len(result)
    return (
        entry.key,
        entry.created,
        entry.run,
        entry.path,
        result,
        entry.step,
        _parts_text(entry.parts),
        size,
        entry.created,
        entry.seconds,
    )


def lookup_row(run: str, path: str, lookup: Lookup) -> tuple[Any, ...]:
    """The values for `SAVE_LOOKUP`."""
    outcome = "" if lookup.outcome is None else dumps(msgspec.to_builtins(lookup.outcome))
    return (run, path, lookup.key, lookup.step, lookup.time, outcome, _parts_text(lookup.parts))


def lookup(connection: sqlite3.Connection, run: str, path: str) -> Lookup | None:
    """What a task of a run looked for; None for one that looked for nothing."""
    row = connection.execute(
        "SELECT key, step, time, outcome, parts FROM lookups WHERE run=? AND path=?", (run, path)
    ).fetchone()
    if row is None:
        return None
    cache_key, step, time, outcome, parts = row
    return Lookup(cache_key, step, time, msgspec.json.decode(outcome, type=Miss) if outcome else None, _parts_of(parts))


def entries(
    connection: sqlite3.Connection, *, step: str | None = None, before: float | None = None, most: int = -1
) -> list[Entry]:
    """What is kept, newest first: all, or of one step, made before a moment, at most so many."""
    rows = connection.execute(
        f"SELECT {_ENTRY} FROM cache WHERE (?1 IS NULL OR step=?1) AND (?2 IS NULL OR created<?2) "  # noqa: S608
        "ORDER BY created DESC, key LIMIT ?3",
        (step, before, most),
    )
    return [_entry(row) for row in rows]


def entry(connection: sqlite3.Connection, cache_key: str) -> Entry | None:
    """What is kept under a key; None where nothing is."""
    row = connection.execute(f"SELECT {_ENTRY} FROM cache WHERE key=?", (cache_key,)).fetchone()  # noqa: S608
    return None if row is None else _entry(row)


def keys_like(connection: sqlite3.Connection, start: str) -> list[str]:
    """The keys that begin with some digits."""
    rows = connection.execute("SELECT key FROM cache WHERE substr(key, 1, ?)=? ORDER BY key", (len(start), start))
    return [row[0] for row in rows]


def keys_of(connection: sqlite3.Connection, run: str, paths: Iterable[str]) -> list[str]:
    """The keys that some tasks of a run have looked for."""
    known = dict(connection.execute("SELECT path, key FROM lookups WHERE run=?", (run,)).fetchall())
    return [known[path] for path in paths if path in known]


def forget(connection: sqlite3.Connection, keys: Iterable[str]) -> None:
    """Forget entries. Their files go when nothing else needs them (`artifacts.collect`)."""
    connection.executemany("DELETE FROM cache WHERE key=?", [(each,) for each in keys])


def ranked(connection: sqlite3.Connection, ranks: Mapping[str, float]) -> None:
    """Note what the policy thinks of entries."""
    connection.executemany("UPDATE cache SET rank=? WHERE key=?", [(rank, each) for each, rank in ranks.items()])


def age(connection: sqlite3.Connection, policy: str) -> float:
    """What a policy remembers of what it let go."""
    row = connection.execute("SELECT age FROM policies WHERE name=?", (policy,)).fetchone()
    return 0.0 if row is None else float(row[0])


def aged(connection: sqlite3.Connection, policy: str, to: float) -> None:
    """Note what a policy remembers."""
    connection.execute("INSERT OR REPLACE INTO policies VALUES (?, ?)", (policy, to))


def _entry(row: tuple[Any, ...]) -> Entry:
    cache_key, created, run, path, result, step, parts, *counts = row
    return Entry(cache_key, created, run, path, _result(result), step, _parts_of(parts), *counts)


def _result(text: str) -> Result:
    return msgspec.convert(json.loads(text), Result)


def _parts_text(parts: Parts) -> str:
    short = {name: Part(each.digest[:SHORT], each.shown) for name, each in parts.items()}
    return dumps(msgspec.to_builtins(short))


def _parts_of(text: str) -> Parts:
    return msgspec.json.decode(text, type=Parts)
