"""A real SQLite, and files copied between stores of fsspec."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import fsspec
import pytest

import couler_py as couler
from couler_py.steps import copy, sql


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with sqlite3.connect("shop.db") as database:
        database.execute("create table sales (region text, amount integer)")
        database.executemany("insert into sales values (?, ?)", [("north", 3), ("south, far", 5)])
    database.close()


def test_rows_become_a_table() -> None:
    found = sql("select * from sales where amount > :least", "sqlite:///shop.db", parameters={"least": 4})
    assert (found.rows, found.table.read_text()) == (1, 'region,amount\n"south, far",5\n')


def test_a_value_never_becomes_part_of_the_statement() -> None:
    hostile = "north' or '1'='1"
    assert sql("select * from sales where region = :r", "sqlite:///shop.db", parameters={"r": hostile}).rows == 0


def test_a_change_is_kept_and_says_how_many_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DB_URL", "sqlite:///shop.db")
    assert sql("update sales set amount = 0", url_variable="DB_URL").rows == 2
    assert sql("select * from sales where amount = 0", url_variable="DB_URL").rows == 2


def test_what_the_database_refuses_is_said_with_its_name() -> None:
    with pytest.raises(RuntimeError, match=r"^sqlite:///shop\.db: no such column: price$"):
        sql("select price from sales", "sqlite:///shop.db")


def test_an_error_holds_neither_password_nor_values() -> None:
    with pytest.raises(ValueError, match="needs the package"):
        sql("select 1", "postgresql://me:hidden@db/shop")
    with pytest.raises(ValueError, match=r"^the url is no URL of a database that SQLAlchemy knows$"):
        sql("select 1", "nonsense with hidden words")
    with pytest.raises(ValueError, match="no environment variable DB_URL"):
        sql("select 1", url_variable="DB_URL")


def test_a_folder_is_copied_with_all_that_is_in_it() -> None:
    Path("from/deep").mkdir(parents=True)
    Path("from/a").write_text("1")
    Path("from/deep/b").write_text("22")
    assert copy("from", "memory://copies/to") == (2, 3)
    assert fsspec.filesystem("memory").cat("/copies/to/deep/b") == b"22"
    assert copy("memory://copies/to", "back/") == (2, 3)
    assert Path("back/deep/b").read_text() == "22"


def test_a_file_goes_into_a_folder_or_gets_a_name() -> None:
    Path("a.txt").write_text("1")
    assert copy("a.txt", "into/") == (1, 1)
    assert copy("a.txt", "named") == (1, 1)
    assert (Path("into/a.txt").read_text(), Path("named").read_text()) == ("1", "1")


def test_nothing_there_and_unknown_kinds_are_named() -> None:
    with pytest.raises(FileNotFoundError, match="nothing at lost"):
        copy("lost", "found")
    with pytest.raises(ValueError, match="nowhere://x: Protocol not known"):
        copy("nowhere://x", "found")


def test_the_step_runs_in_a_workflow(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("COULER_HOME", str(tmp_path / "home"))

    @couler.workflow
    def flow():
        return sql("select count(*) as n from sales", f"sqlite:///{tmp_path}/shop.db").rows

    assert couler.run(flow).outputs == {"result": 1}
