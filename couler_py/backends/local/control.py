"""What other processes ask of a run's engine: files in the run's `requests` folder, read five times a second."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
from pathlib import Path
from typing import Any, Literal, TypeAlias

import msgspec

from couler_py.backends.local.warden import processes
from couler_py.store.database import StoreError
from couler_py.store.home import Home
from couler_py.store.locks import release, try_lock

Verb: TypeAlias = Literal["stop", "terminate", "suspend", "resume", "approve"]
LOCK = "engine.lock"
INTERVAL = 0.2  # seconds between two looks


class Request(msgspec.Struct, frozen=True):
    """Something asked of an engine. `task` and `outputs` belong to an approval; no task means any that waits."""

    verb: Verb
    task: str | None = None
    outputs: dict[str, Any] = {}


def ask(home: Home, run_id: str, request: Request) -> None:
    """Leave a request for the engine of a run, now or when there is one again."""
    folder = home.run(run_id) / "requests"
    folder.mkdir(parents=True, exist_ok=True)
    name = secrets.token_hex(8)
    temporary = folder / f".{name}"
    temporary.write_text(json.dumps(msgspec.to_builtins(request)), encoding="utf-8")
    temporary.rename(folder / f"{name}.json")


def take(folder: Path) -> list[Request]:
    """The requests that have come, oldest first; each is given once. Raises `StoreError` for a file that is none."""
    try:
        found = sorted((entry.stat().st_mtime_ns, entry.path) for entry in os.scandir(folder) if entry.name[0] != ".")
    except FileNotFoundError:
        return []
    requests = []
    for _, path in found:
        data = Path(path).read_bytes()
        Path(path).unlink()
        try:
            requests.append(msgspec.json.decode(data, type=Request))
        except msgspec.DecodeError as error:
            raise StoreError(
                f"{path} was no request to an engine ({error}); couler resume goes on with the run"
            ) from error
    return requests


def drop(folder: Path, verbs: tuple[Verb, ...]) -> None:
    """Forget requests of some kinds that no engine has taken: who goes on with a run doesn't want them any more."""
    with contextlib.suppress(FileNotFoundError):
        for entry in list(os.scandir(folder)):
            if entry.name[0] != "." and msgspec.json.decode(Path(entry.path).read_bytes(), type=Request).verb in verbs:
                Path(entry.path).unlink()


def lock_engine(home: Home, run_id: str) -> int | None:
    """Become the one engine of a run: the descriptor that holds the lock, or None where there is one already."""
    handle = _lock(home, run_id)
    if handle is not None:
        os.ftruncate(handle, 0)
        os.pwrite(handle, b"%d" % os.getpid(), 0)
    return handle


def _lock(home: Home, run_id: str) -> int | None:
    folder = home.run(run_id)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return try_lock(folder / LOCK)


def has_engine(home: Home, run_id: str) -> bool:
    """Whether an engine works on a run now."""
    if not (home.run(run_id) / LOCK).exists():
        return False
    handle = _lock(home, run_id)
    if handle is None:
        return True
    release([handle])
    return False


def who_works(home: Home, run_id: str) -> str:
    """Which process works on a run, in words for another that can't, and what to do."""
    with contextlib.suppress(OSError, ValueError):
        pid = int((home.run(run_id) / LOCK).read_text())
        if processes.is_stopped(pid):
            return (
                f"the process {pid} works on {run_id}, and somebody has stopped it: `kill -CONT {pid}` lets it go on; "
                f"`kill -9 {pid}`, then `couler resume {run_id}`, has another go on"
            )
        return f"the process {pid} works on {run_id}: `couler stop {run_id}` ends that"
    return f"another process works on {run_id}: `couler stop {run_id}` ends that"
