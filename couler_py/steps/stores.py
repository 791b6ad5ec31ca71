"""Data brought and taken: `sql` asks a database, `copy` moves files between any two stores of fsspec."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

from couler_py import step


class Rows(NamedTuple):
    """How many rows there were, or were changed, and the rows as CSV with a line of names (empty where none)."""

    rows: int
    table: Path


class Copied(NamedTuple):
    """How much was copied."""

    files: int
    bytes: int


@step(packages=["SQLAlchemy>=2.0"], effects=["database"])
def sql(query: str, url: str = "", url_variable: str = "", parameters: dict[str, Any] | None = None) -> Rows:
    """Run one statement in one transaction, through SQLAlchemy; its rows become a table of CSV.

    `parameters` fill the places written as `:name`, and never become part of the statement's text. A URL that holds a
    password is a secret: `url_variable` names the environment variable that has it. Drivers other than SQLite's are
    packages: `sql.with_options(packages=["SQLAlchemy", "psycopg[binary]"])`.

    Raises `ValueError` for a URL that isn't one, and `RuntimeError`, naming the database, for what it refuses.

    >>> ask = sql.with_options(secrets=[couler.secret("warehouse", "DB_URL")])  # doctest: +SKIP
    >>> found = ask("select * from sales where day = :day", url_variable="DB_URL", parameters={"day": day})
    ... # doctest: +SKIP
    """
    import csv

    from sqlalchemy import create_engine, text
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError

    if bool(url) == bool(url_variable):
        raise ValueError("sql takes either a url or a url_variable")
    given = url or os.environ.get(url_variable, "")
    if not given:
        raise ValueError(f"there is no environment variable {url_variable}; give the step the secret that has it")
    try:
        place = make_url(given)
        engine = create_engine(place, hide_parameters=True)
    except (ArgumentError, NoSuchModuleError):
        name = "the url" if url else url_variable
        raise ValueError(f"{name} is no URL of a database that SQLAlchemy knows") from None
    except ModuleNotFoundError as problem:
        raise ValueError(
            f"{place.drivername} needs the package {problem.name}: sql.with_options(packages=[…]) adds it"
        ) from problem
    path = Path("rows.csv")
    try:
        with engine.begin() as connection, path.open("w", newline="", encoding="utf-8") as file:
            result = connection.execute(text(query), parameters or {})
            if not result.returns_rows:
                return Rows(max(result.rowcount, 0), path)
            writer, count = csv.writer(file), 0
            writer.writerow(result.keys())
            for row in result:
                writer.writerow(row)
                count += 1
            return Rows(count, path)
    except SQLAlchemyError as problem:
        why = getattr(problem, "orig", None) or problem
        raise RuntimeError(f"{place.render_as_string(hide_password=True)}: {why}") from None
    finally:
        engine.dispose()


@step(packages=["fsspec>=2024.6"], effects=["stores"])
def copy(source: str, target: str) -> Copied:
    """Copy a file or folder from one place to another: any two URLs of fsspec (s3://, gs://, https://, a path).

    A `target` that ends in "/" is a folder that the file goes into. Stores need their package, as
    `copy.with_options(packages=["s3fs"])`, and take keys from the environment of the step, so from its secrets.

    Raises `FileNotFoundError` where nothing is at the source, and `ValueError` for a kind of URL that isn't known.

    >>> copy("s3://models/latest/", "gs://serving/models/latest/")  # doctest: +SKIP
    """
    import shutil

    from fsspec.core import url_to_fs

    def store_of(url: str) -> tuple[Any, str]:
        try:
            found: tuple[Any, str] = url_to_fs(url)
        except (ImportError, ValueError) as problem:
            raise ValueError(f"{url}: {problem}") from problem
        return found

    here, begin = store_of(source)
    there, end = store_of(target)
    begin = begin.rstrip("/")
    if here.isfile(begin):
        into = target.endswith("/")
        pairs = [(begin, f"{end.rstrip('/')}/{begin.rpartition('/')[2]}" if into else end)]
    else:
        pairs = [(path, end.rstrip("/") + path[len(begin) :]) for path in sorted(here.find(begin))]
    if not pairs:
        raise FileNotFoundError(f"there is nothing at {source}")
    size = 0
    for path, goal in pairs:
        there.makedirs(there._parent(goal), exist_ok=True)
        with here.open(path, "rb") as reading, there.open(goal, "wb") as writing:
            shutil.copyfileobj(reading, writing, 1 << 20)
        size += int(there.size(goal) or 0)
    return Copied(len(pairs), size)
