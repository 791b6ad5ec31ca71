"""The home and its database: who may read it, how it is brought up to date, what is wrong with it."""

from __future__ import annotations

import errno
import math
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from couler_py.store import cache, runs
from couler_py.store.database import StoreError, StoreFullError, connect, failure, transaction
from couler_py.store.home import filesystem, home_path, is_network, open_home
from couler_py.store.migrations import MIGRATIONS
from couler_py.store.records import ArtifactRef, Result, RunRecord, TaskRecord
from couler_py.store.secrets import SecretNotFoundError, read_key, read_secret, write_secret


def test_a_home_is_private_and_ignored_by_git(tmp_path: Path) -> None:
    home = open_home(tmp_path / "h")
    assert home.path.stat().st_mode & 0o777 == 0o700
    assert (home.path / ".gitignore").read_text() == "*\n"


def test_the_home_is_the_one_given_else_the_environments_else_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COULER_HOME", raising=False)
    assert home_path() == tmp_path / ".couler"
    monkeypatch.setenv("COULER_HOME", str(tmp_path / "env"))
    assert home_path() == tmp_path / "env"
    assert home_path(tmp_path / "given") == tmp_path / "given"


MOUNTS = "/dev/sda / ext4 rw 0 0\nserver:/x /mnt/my\\040share nfs4 rw 0 0\ntmpfs /mnt tmpfs rw 0 0\n"


@pytest.mark.parametrize(
    ("path", "kind", "network"),
    [("/home", "ext4", False), ("/mnt/my share/a", "nfs4", True), ("/mnt/other", "tmpfs", False)],
)
def test_the_file_system_of_a_path_is_known(path: str, kind: str, network: bool, tmp_path: Path) -> None:
    table = tmp_path / "mounts"
    table.write_text(MOUNTS)
    assert filesystem(Path(path), str(table)) == kind
    assert is_network(kind) is network


@pytest.mark.parametrize(("durability", "synchronous"), [("process", 1), ("power", 2)])
def test_the_store_has_a_write_ahead_log(durability: str, synchronous: int, tmp_path: Path) -> None:
    connection = connect(open_home(tmp_path), durability)  # type: ignore[arg-type]
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert connection.execute("PRAGMA synchronous").fetchone() == (synchronous,)
    assert connection.execute("PRAGMA user_version").fetchone() == (len(MIGRATIONS),)
    connection.close()


def test_a_store_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    home = open_home(tmp_path)
    with sqlite3.connect(home.database) as newer:
        newer.execute("PRAGMA user_version=1000")
    with pytest.raises(StoreError, match="upgrade couler-py"):
        connect(home)


def test_a_file_that_is_no_store_is_named(tmp_path: Path) -> None:
    home = open_home(tmp_path)
    home.database.write_bytes(b"no database at all, but long enough to be looked at" * 100)
    with pytest.raises(StoreError, match="is damaged"):
        connect(home)


def test_a_full_disk_is_said_with_the_way_out(tmp_path: Path) -> None:
    home = open_home(tmp_path)
    for error in (sqlite3.OperationalError("database or disk is full"), OSError(errno.ENOSPC, "no space")):
        found = failure(error, home)
        assert isinstance(found, StoreFullError)
        assert "resume the run" in str(found)


def test_a_transaction_is_all_or_nothing(tmp_path: Path) -> None:
    connection = connect(open_home(tmp_path))

    def write() -> None:
        with transaction(connection):
            connection.execute("INSERT INTO workflows VALUES ('a', 'b')")
            connection.execute("INSERT INTO nowhere VALUES (1)")

    with pytest.raises(sqlite3.OperationalError):
        write()
    assert connection.execute("SELECT count(*) FROM workflows").fetchone() == (0,)
    connection.close()


def test_a_run_comes_back_as_it_was_written(tmp_path: Path) -> None:
    connection = connect(open_home(tmp_path))
    run = RunRecord("flow-1", "flow", "Running", {"x": math.inf}, 1.0, 2.0, workflow="d")
    runs.begin(connection, run, "d", "{}")
    result = Result("Succeeded", {"v": [1, {"a": None}]}, {"f": ArtifactRef("file", "abc", 3)}, [1])
    task = TaskRecord("a[0]", "container", "a", "Succeeded", item={"k": 1}, item_index=0, started=3.0, result=result)
    with transaction(connection):
        connection.execute(runs.SAVE_TASK, runs.task_row(run.id, task))
    found = runs.load(connection, "flow-1")
    assert found.parameters == {"x": math.inf}
    assert found.tasks == {"a[0]": task}
    connection.close()


def test_a_run_that_is_deleted_leaves_nothing(tmp_path: Path) -> None:
    home = open_home(tmp_path)
    connection = connect(home)
    run = RunRecord("flow-1", "flow", "Running", {}, 1.0, 2.0)
    runs.begin(connection, run, "d", "{}")
    home.run("flow-1").mkdir()
    runs.delete(connection, home, "flow-1")
    assert connection.execute("SELECT count(*) FROM workflows").fetchone() == (0,)
    assert not home.run("flow-1").exists()
    with pytest.raises(runs.RunMissingError):
        runs.delete(connection, home, "flow-1")
    connection.close()


def test_a_cached_result_whose_files_are_gone_is_no_hit(tmp_path: Path) -> None:
    home = open_home(tmp_path)
    connection = connect(home)
    result = Result("Succeeded", artifacts={"f": ArtifactRef("file", "ab" * 32)})
    connection.execute(cache.SAVE, cache.row(cache.Entry("k", 100.0, "r", "p", result)))
    assert cache.find(connection, home, "k", now=101.0) == cache.Miss("gone", "r", "p", 1.0, "ab" * 32)
    connection.execute(cache.SAVE, cache.row(cache.Entry("k", 100.0, "r", "p", Result("Succeeded", {"v": 1}))))
    assert cache.find(connection, home, "k", now=100.0) == cache.Hit(Result("Succeeded", {"v": 1}), "r", "p", 100.0)
    assert cache.find(connection, home, "k", now=161.0, max_age=60.0) == cache.Miss("expired", "r", "p", 61.0)
    assert cache.find(connection, home, "other", now=100.0) == cache.Miss("new")
    connection.close()


def test_a_store_of_the_first_version_keeps_its_cached_results(tmp_path: Path) -> None:
    home = open_home(tmp_path)
    with sqlite3.connect(home.database) as older:
        for statement in MIGRATIONS[0].split(";"):
            older.execute(statement)
        older.execute("PRAGMA user_version=1")
        older.execute("INSERT INTO cache VALUES ('k', 100.0, 'r', 'a/b', '{\"state\":\"Succeeded\"}')")
    connection = connect(home)
    assert cache.entries(connection) == [
        cache.Entry("k", 100.0, "r", "a/b", Result("Succeeded"), size=21, used=100.0),
    ]
    connection.close()


def test_secrets_are_files_of_their_owner(tmp_path: Path) -> None:
    home = open_home(tmp_path)
    write_secret(home, "../x", {"k": "v"})
    files = list((home.path / "secrets").iterdir())
    assert [file.stat().st_mode & 0o777 for file in files] == [0o600]
    assert read_secret(home, "../x") == {"k": "v"}
    with pytest.raises(SecretNotFoundError, match="has no key 'other'; it has k"):
        read_key(home, "../x", "other")
    write_secret(home, "/f", {"k": "other"})
    write_secret(home, "\u02ff", {"k": "none of those"})
    assert read_secret(home, "/f") == {"k": "other"}
    with pytest.raises(SecretNotFoundError, match="there is no secret"):
        read_secret(home, "x")


def test_a_new_store_opens_for_many_at_once(tmp_path: Path) -> None:
    together = threading.Barrier(8)

    def open_it(number: int) -> int:
        home = open_home(tmp_path / str(number))
        together.wait()
        connection = connect(home)
        connection.close()
        return number

    with ThreadPoolExecutor(8) as threads:
        for number in range(25):
            assert list(threads.map(open_it, [number] * 8)) == [number] * 8
