"""A store of an older version is brought up to date with nothing lost; one of a newer version is left alone."""

from __future__ import annotations

import multiprocessing
import sqlite3
from pathlib import Path

import pytest

from couler_py.store import runs
from couler_py.store.database import StoreError, connect
from couler_py.store.home import Home, open_home
from couler_py.store.migrations import MIGRATIONS
from couler_py.store.records import ArtifactRef, Result

OLD = Path(__file__).with_name("version_1.sql")
TABLES = ("workflows", "runs", "tasks", "attempts", "events", "cache")


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A home whose store version 1 has written."""
    made = open_home(tmp_path / "home")
    with sqlite3.connect(made.database) as old:
        old.executescript(OLD.read_text())
    old.close()
    return made


def rows(connection: sqlite3.Connection, table: str) -> list[dict[str, object]]:
    found = connection.execute(f"SELECT * FROM {table}")
    names = [column[0] for column in found.description]
    return [dict(zip(names, row, strict=True)) for row in found]


def test_every_value_of_the_first_version_is_kept(home: Home) -> None:
    with sqlite3.connect(home.database) as old:
        before = {table: rows(old, table) for table in TABLES}
    old.close()
    connection = connect(home)
    assert connection.execute("PRAGMA user_version").fetchone() == (len(MIGRATIONS),)
    for table, expected in before.items():
        assert [{name: row[name] for name in expected[0]} for row in rows(connection, table)] == expected


def test_a_run_of_the_first_version_reads_as_it_did(home: Home) -> None:
    connection = connect(home)
    run = runs.load(connection, "flow-aaaaa")
    assert (run.status, run.parameters, run.outputs, run.seconds) == ("Failed", {"x": 1}, {"result": 2}, 9.0)
    assert run.tasks["a"].result == Result(
        "Succeeded", {"result": 1}, {"f": ArtifactRef("file", "ab12", 3, suffix=".txt")}, exit_code=0
    )
    assert (run.tasks["map[3]/b"].item, run.tasks["map[3]/b"].item_index) == ("item", 3)
    assert [(path, each.number, each.exit_code) for path, each in runs.load_attempts(connection, run.id)] == [
        ("a", 0, 0),
        ("map[3]/b", 1, 1),
    ]
    assert runs.metrics(connection, run.id) == {"a": {"loss": ((1.0, 0.5),)}}
    assert [each.id for each in runs.list_runs(connection)] == ["flow-bbbbb", "flow-aaaaa"]


def test_a_migrated_store_is_like_a_new_one(home: Home, tmp_path: Path) -> None:
    def columns(connection: sqlite3.Connection) -> dict[str, list[tuple[object, ...]]]:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type='table'")]
        return {
            name: sorted(connection.execute(f"PRAGMA table_info({name})"), key=lambda row: row[1]) for name in tables
        }

    def indexes(connection: sqlite3.Connection) -> set[tuple[str, str]]:
        return set(connection.execute("SELECT name, sql FROM sqlite_master WHERE type='index' AND sql IS NOT NULL"))

    new, migrated = connect(open_home(tmp_path / "new")), connect(home)
    assert columns(migrated) == columns(new)
    assert indexes(migrated) == indexes(new)
    assert migrated.execute("PRAGMA foreign_key_check").fetchall() == []
    assert migrated.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def _open(home: Home) -> None:
    connect(home).close()


def test_processes_that_open_an_old_store_at_once_migrate_it_once(home: Home) -> None:
    context = multiprocessing.get_context("fork")
    openers = [context.Process(target=_open, args=(home,)) for _ in range(6)]
    for opener in openers:
        opener.start()
    for opener in openers:
        opener.join()
    assert [opener.exitcode for opener in openers] == [0] * 6
    assert len(runs.list_runs(connect(home))) == 2


def test_a_migration_that_fails_leaves_the_old_store(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = (*MIGRATIONS, "CREATE TABLE more (x); CREATE TABLE nonsense nonsense")
    monkeypatch.setattr("couler_py.store.migrations.MIGRATIONS", broken)
    with pytest.raises(StoreError):
        connect(home)
    monkeypatch.undo()
    with sqlite3.connect(home.database) as old:
        assert old.execute("PRAGMA user_version").fetchone() == (1,)
        assert old.execute("SELECT count(*) FROM sqlite_master WHERE name='more'").fetchone() == (0,)
    old.close()
    assert len(runs.list_runs(connect(home))) == 2


def test_a_store_of_a_newer_version_is_refused(home: Home) -> None:
    with sqlite3.connect(home.database) as newer:
        newer.execute(f"PRAGMA user_version={len(MIGRATIONS) + 1}")
    newer.close()
    with pytest.raises(StoreError, match=f"its version is {len(MIGRATIONS) + 1}.*upgrade couler-py"):
        connect(home)
