"""The SQLite file of a home: how it is opened, brought up to date, and what a full disk looks like."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import sqlite3
from collections.abc import Iterator
from typing import Literal, TypeAlias

from couler_py.ir.diagnostics import CoulerError
from couler_py.store import faults
from couler_py.store.home import Home, filesystem, is_network
from couler_py.store.migrations import migrate

Durability: TypeAlias = Literal["process", "power"]
"""What a run survives: the end of any process, or the loss of power too (fsync of everything)."""


class StoreError(CoulerError):
    """The store can't do what was asked; the message says why and what to do."""


class StoreFullError(StoreError):
    """There is no space left where the store lies."""


def connect(home: Home, durability: Durability = "process") -> sqlite3.Connection:
    """An open store, its schema up to date.

    Write-ahead log with synchronous=NORMAL: a killed process loses nothing that was committed;
    `durability="power"` asks for FULL. On a network file system, where the log's shared memory
    doesn't work, a rollback journal with FULL. Raises `StoreError`.
    """
    try:
        connection = sqlite3.connect(home.database, timeout=30, isolation_level=None, check_same_thread=False)
        network = is_network(filesystem(home.path))
        with contextlib.nullcontext() if network else _alone(home):
            connection.execute(f"PRAGMA journal_mode={'DELETE' if network else 'WAL'}")
        connection.execute(f"PRAGMA synchronous={'FULL' if network or durability == 'power' else 'NORMAL'}")
        connection.execute("PRAGMA foreign_keys=ON")
        migrate(connection)
    except sqlite3.Error as error:
        raise failure(error, home) from error
    return connection


@contextlib.contextmanager
def _alone(home: Home) -> Iterator[None]:
    # SQLite doesn't wait for others when it changes the journal of a new file, it fails: so we wait.
    folder = os.open(home.path, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


@contextlib.contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All of the statements inside, or none."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        faults.reach("store.commit")
        connection.execute("COMMIT")  # can fail too: where the disk is full, mostly here
        faults.reach("store.committed")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def failure(error: Exception, home: Home) -> StoreError:
    """What a database's or the system's error means for who runs a workflow."""
    text = str(error)
    full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
    if full or "disk is full" in text or "disk I/O error" in text:
        return StoreFullError(
            f"no space left in {home.path}: nothing that was recorded is lost. Make room (old runs can be deleted), "
            "then resume the run"
        )
    if "not a database" in text or "malformed" in text:
        return StoreError(f"{home.database} is damaged ({text}): move it away; artifacts and logs are not in it")
    return StoreError(f"the store {home.database} can't be used: {text}")
