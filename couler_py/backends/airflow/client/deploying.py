"""A DAG file put into Airflow's folder of DAGs, and read there."""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from couler_py.backends.airflow.client.server import Server
from couler_py.backends.base import Bundle, OptionError
from couler_py.backends.rest.failures import ConflictError, ForbiddenError, MissingError
from couler_py.backends.rest.request import JSON
from couler_py.ir.diagnostics import CoulerError

OLD = ".old"
"""What the version before is called, behind its name: Airflow reads only `.py` and `.zip`."""

PAUSE = 2.0
"""Seconds between two questions whether Airflow has read a file."""
Outcome: TypeAlias = Literal["read", "written"]
Errors: TypeAlias = dict[str, str]


class ImportFailedError(CoulerError):
    """Airflow couldn't import the file; the message has its traceback."""

    code = "CLR724"


class NotReadYetError(CoulerError):
    """Airflow hasn't read the file in the time that was given; the message says what may be wrong."""

    code = "CLR725"


class Deployed(msgspec.Struct, frozen=True):
    """What was done. `changed` is whether the file is another than before, `old` where the version before is kept.

    `pools` are those that were made.
    """

    dag: str
    path: Path
    changed: bool
    old: Path | None = None
    pools: tuple[str, ...] = ()
    outcome: Outcome = "written"


def place(folder: str | Path, name: str) -> Path:
    """Where the file of a bundle goes. Raises `OptionError` where there is no such folder."""
    root = Path(folder).expanduser()
    if not root.is_dir():
        raise OptionError(f"airflow: {root} is no folder: --dags-folder names the one that Airflow reads DAGs from")
    return root / name


def write(bundle: Bundle, folder: str | Path) -> Deployed:
    """Put a bundle into the folder, its main file last; whoever reads meanwhile sees the old version or the new one.

    A version that was there is kept beside, and nothing is written where nothing changed.
    """
    names = [*list(bundle.files)[1:], *list(bundle.files)[:1]]
    contents = {name: bundle.files[name].encode() for name in names}
    main = place(folder, next(iter(bundle.files)))
    old: Path | None = None
    changed = False
    for name, content in (bundle.blobs | contents).items():
        path = place(folder, name)
        before = path.read_bytes() if path.is_file() else None
        if before == content:
            continue
        changed = True
        path.parent.mkdir(parents=True, exist_ok=True)
        if before is not None and path == main:
            old = path.with_name(path.name + OLD)
            replace(old, before)
        replace(path, content)
    return Deployed(main.stem, main, changed, old)


def replace(path: Path, content: bytes) -> None:
    """Write a file so that it is there whole or not at all, with the rights of a new file.

    Raises `OptionError` where it can't be written: no right, no room.
    """
    try:
        _replace(path, content)
    except OSError as error:
        raise OptionError(f"airflow: {path} can't be written: {error.strerror}") from None


def _replace(path: Path, content: bytes) -> None:
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        # The account that Airflow runs under must be able to read it.
        Path(temporary).chmod(0o666 & ~_umask())
        Path(temporary).replace(path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            Path(temporary).unlink()
        raise


def _umask() -> int:
    found = os.umask(0)
    os.umask(found)
    return found


def make_pools(server: Server, pools: Mapping[str, int]) -> tuple[str, ...]:
    """Make the pools that aren't there; one that is keeps its size, for others may have chosen it."""
    made = []
    for name, slots in pools.items():
        try:
            server.pool(name)
        except MissingError:
            server.make_pool(name, slots)
            made.append(name)
    return tuple(made)


def errors_of(server: Server, path: Path) -> Errors:
    """What Airflow says of a file that it couldn't import: the traceback, by when it was said."""
    return {
        str(each["timestamp"]): str(each["stack_trace"])
        for each in server.import_errors()
        if Path(each["filename"]).name == path.name
    }


def wait(
    server: Server,
    deployed: Deployed,
    text: str,
    before: Errors,
    seconds: float,
    sleep: Callable[[float], None] = time.sleep,
) -> Deployed:
    """Until Airflow has read the file. `before` is what `errors_of` said before it was written.

    Raises `ImportFailedError` with Airflow's words, and `NotReadYetError` after so many seconds.
    """
    until = time.monotonic() + seconds
    _hurry(server, deployed.dag)
    while True:
        if server.source(deployed.dag) == text and not _is_stale(server, deployed.dag):
            return msgspec.structs.replace(deployed, outcome="read")
        now = errors_of(server, deployed.path)
        fresh = {when: said for when, said in now.items() if when not in before or not deployed.changed}
        if fresh:
            raise ImportFailedError(
                f"Airflow can't import {deployed.path}:\n{fresh[max(fresh)].rstrip()}\n"
                + (f"the version before is {deployed.old}" if deployed.old is not None else "")
            )
        if time.monotonic() > until:
            raise NotReadYetError(
                f"{deployed.path} is written, and Airflow hasn't read it in {seconds:g} s: new files are found every "
                "`[dag_processor] refresh_interval` seconds (300 by default); is this the folder of DAGs of "
                f"{server.http.url}, and does its dag-processor run? --wait gives it longer"
            )
        sleep(PAUSE)


def _hurry(server: Server, dag: str) -> None:
    found = _known(server, dag)
    if found is not None and found.get("file_token"):
        # Only who may edit the DAG can ask, and only once for a file that is known; all others wait.
        with contextlib.suppress(ForbiddenError, MissingError, ConflictError):
            server.parse(found)


def _is_stale(server: Server, dag: str) -> bool:
    found = _known(server, dag)
    return found is None or bool(found.get("is_stale"))


def _known(server: Server, dag: str) -> JSON | None:
    try:
        return server.dag(dag)
    except MissingError:
        return None
