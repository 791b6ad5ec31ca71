"""Locks that end with the processes that hold them: `flock` on files of this user, across all runs and homes."""

from __future__ import annotations

import fcntl
import hashlib
import os
import tempfile
from pathlib import Path


def lock_folder() -> Path:
    """The folder of lock files, this user's own on this machine.

    Raises `PermissionError` where somebody else has made it.
    """
    folder = Path(tempfile.gettempdir()) / f"couler-locks-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    facts = folder.lstat()
    if facts.st_uid != os.getuid() or folder.is_symlink():
        raise PermissionError(f"{folder} belongs to somebody else; delete it, or set TMPDIR to a folder of your own")
    return folder


def lock_file(kind: str, name: str, slot: int = 0) -> Path:
    """The file that stands for one holder of a named lock."""
    digest = hashlib.sha256(f"{kind}\0{name}".encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return lock_folder() / f"{kind}-{digest}-{slot}"


def try_lock(path: Path, *, shared: bool = False) -> int | None:
    """Take a lock without waiting: the descriptor that holds it, or None where another has it.

    The lock lasts until every copy of the descriptor is closed, also those that were handed to other
    processes.
    """
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            return None
        try:
            if path.stat().st_ino == os.fstat(handle).st_ino:
                return handle
        except FileNotFoundError:
            pass  # somebody cleaned the folder up between opening and locking: lock the file that is there now
        os.close(handle)


def try_slot(kind: str, name: str, slots: int) -> int | None:
    """Take one of several places of a named lock, without waiting."""
    for slot in range(slots):
        handle = try_lock(lock_file(kind, name, slot))
        if handle is not None:
            return handle
    return None


def path_locks(paths: list[str], shared: list[str]) -> list[tuple[Path, bool]]:
    """The lock files (and whether shared) that keep some paths to one holder, in the order to take them.

    A path is held alone, `shared` ones and the folders around all of them together with others; so `/tmp/a`
    and `/tmp/a/b` exclude each other, `/tmp/a/b` and `/tmp/a/c` don't.
    """
    alone = {_real(path) for path in paths}
    together = {_real(path) for path in shared}
    around = together | {str(parent) for path in alone | together for parent in Path(path).parents}
    around -= alone
    return [(lock_file("path", name), name in around) for name in sorted(alone | around)]


def _real(path: str) -> str:
    # The path itself may be a link that comes and goes; where it lies is what counts.
    return str(Path(os.path.realpath(Path(path).parent)) / Path(path).name)


def try_paths(paths: list[str], shared: list[str] | None = None) -> list[int] | None:
    """Hold all of the paths, or none of them: `shared` ones together with others that share them."""
    held: list[int] = []
    for path, together in path_locks(paths, shared or []):
        handle = try_lock(path, shared=together)
        if handle is None:
            release(held)
            return None
        held.append(handle)
    return held


def release(handles: list[int]) -> None:
    """Close descriptors that hold locks."""
    for handle in handles:
        os.close(handle)


def tidy() -> None:
    """Delete the files of locks that nobody holds. Who opens one meanwhile finds that it is gone, and makes another."""
    for path in lock_folder().iterdir():
        if path.is_dir():
            continue
        handle = try_lock(path)
        if handle is not None:
            path.unlink(missing_ok=True)
            os.close(handle)
