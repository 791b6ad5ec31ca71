"""The schema of the store, as the steps that lead to it. A step, once released, never changes."""

from __future__ import annotations

import sqlite3

from couler_py.store import faults

FIRST = """
CREATE TABLE workflows (digest TEXT PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE runs (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, workflow TEXT NOT NULL REFERENCES workflows(digest),
    status TEXT NOT NULL, message TEXT NOT NULL DEFAULT '', parameters TEXT NOT NULL, options TEXT NOT NULL,
    scheduled REAL NOT NULL, created REAL NOT NULL, finished REAL, seconds REAL NOT NULL DEFAULT 0,
    outputs TEXT NOT NULL DEFAULT '{}', published TEXT NOT NULL DEFAULT '{}'
) WITHOUT ROWID;
CREATE INDEX runs_by_time ON runs(created);
CREATE TABLE tasks (
    run TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE, path TEXT NOT NULL, kind TEXT NOT NULL,
    template TEXT NOT NULL, state TEXT NOT NULL, message TEXT NOT NULL DEFAULT '', digest TEXT NOT NULL DEFAULT '',
    attempts INTEGER NOT NULL DEFAULT 0, item TEXT, item_index INTEGER, cached TEXT NOT NULL DEFAULT '',
    started REAL, finished REAL, result TEXT, PRIMARY KEY (run, path)
) WITHOUT ROWID;
CREATE TABLE attempts (
    run TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE, path TEXT NOT NULL, number INTEGER NOT NULL,
    execution INTEGER NOT NULL, state TEXT NOT NULL, message TEXT NOT NULL DEFAULT '', exit_code INTEGER,
    started REAL, finished REAL, folder TEXT NOT NULL, PRIMARY KEY (run, path, number, execution)
) WITHOUT ROWID;
CREATE TABLE events (
    run TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE, number INTEGER NOT NULL, time REAL NOT NULL,
    kind TEXT NOT NULL, path TEXT NOT NULL DEFAULT '', data TEXT NOT NULL DEFAULT '{}', PRIMARY KEY (run, number)
) WITHOUT ROWID;
CREATE TABLE cache (
    key TEXT PRIMARY KEY, created REAL NOT NULL, run TEXT NOT NULL, path TEXT NOT NULL, result TEXT NOT NULL
) WITHOUT ROWID;
"""

SECOND = """
ALTER TABLE tasks ADD COLUMN ready REAL;
CREATE TABLE samples (
    run TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE, folder TEXT NOT NULL, data TEXT NOT NULL,
    PRIMARY KEY (run, folder)
) WITHOUT ROWID;
CREATE TABLE in_use (
    run TEXT PRIMARY KEY REFERENCES runs(id) ON DELETE CASCADE, time REAL NOT NULL, processors REAL NOT NULL,
    memory INTEGER NOT NULL, total REAL NOT NULL
) WITHOUT ROWID;
ALTER TABLE cache ADD COLUMN step TEXT NOT NULL DEFAULT '';
ALTER TABLE cache ADD COLUMN parts TEXT NOT NULL DEFAULT '{}';
ALTER TABLE cache ADD COLUMN size INTEGER NOT NULL DEFAULT 0;
ALTER TABLE cache ADD COLUMN used REAL NOT NULL DEFAULT 0;
ALTER TABLE cache ADD COLUMN hits INTEGER NOT NULL DEFAULT 0;
ALTER TABLE cache ADD COLUMN seconds REAL NOT NULL DEFAULT 0;
ALTER TABLE cache ADD COLUMN rank REAL NOT NULL DEFAULT 0;
CREATE TABLE policies (name TEXT PRIMARY KEY, age REAL NOT NULL) WITHOUT ROWID;
UPDATE cache SET used=created, size=length(result);
CREATE INDEX cache_by_step ON cache(step, created);
ALTER TABLE attempts ADD COLUMN cpu REAL;
ALTER TABLE attempts ADD COLUMN memory REAL;
CREATE TABLE lookups (
    run TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE, path TEXT NOT NULL, key TEXT NOT NULL, step TEXT NOT NULL,
    time REAL NOT NULL, outcome TEXT NOT NULL, parts TEXT NOT NULL, PRIMARY KEY (run, path)
) WITHOUT ROWID;
"""

MIGRATIONS = (FIRST, SECOND)


def migrate(connection: sqlite3.Connection) -> None:
    """Bring the schema to the newest version.

    Raises `sqlite3.DatabaseError` for a store that a newer version of the package has written.
    """
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version == len(MIGRATIONS):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Read again: another process may have migrated while this one waited.
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version > len(MIGRATIONS):
            raise sqlite3.DatabaseError(
                f"its version is {version}, this version of couler-py knows {len(MIGRATIONS)}: upgrade couler-py"
            )
        for step in MIGRATIONS[version:]:
            for statement in step.split(";"):
                if statement.strip():
                    connection.execute(statement)
            faults.reach("store.migrating")
        connection.execute(f"PRAGMA user_version={len(MIGRATIONS)}")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")
