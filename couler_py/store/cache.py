"""Outputs of steps that succeeded, by what they were made from."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from pathlib import Path
from typing import Any

import msgspec

from couler_py.store import content
from couler_py.store.home import Home
from couler_py.store.records import Result
from couler_py.store.runs import dumps

SAVE = "INSERT OR REPLACE INTO cache VALUES (?, ?, ?, ?, ?)"


class Hit(msgspec.Struct, frozen=True):
    """An earlier success: its result, and the run and task that made it."""

    result: Result
    run: str
    path: str
    created: float


def key(template_digest: str, inputs: Any, version: str = "") -> str:
    """The key of a step's outputs: the sha256 of its content, of what it was given, and of a version."""
    text = json.dumps([template_digest, inputs, version], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def find(
    connection: sqlite3.Connection, home: Home, cache_key: str, *, now: float, max_age: float | None = None
) -> Hit | None:
    """The success of that key, unless it is older than `max_age` seconds or its files are gone."""
    row = connection.execute("SELECT created, run, path, result FROM cache WHERE key=?", (cache_key,)).fetchone()
    if row is None or (max_age is not None and now - row[0] > max_age):
        return None
    result = msgspec.convert(json.loads(row[3]), Result)
    root = str(home.artifacts)
    for ref in result.artifacts.values():
        try:
            entries = content.manifest(root, ref.digest) if ref.kind == "folder" else [{"digest": ref.digest}]
            complete = all(
                Path(content.blob_path(root, entry["digest"])).exists() for entry in entries if "digest" in entry
            )
        except FileNotFoundError:
            return None
        if not complete:
            return None
    return Hit(result, row[1], row[2], row[0])


def row(cache_key: str, created: float, run: str, path: str, result: Result) -> tuple[Any, ...]:
    """The values for `SAVE`."""
    return (cache_key, created, run, path, dumps(msgspec.to_builtins(result)))
