"""One attempt as its folder says it: recorded, still alive, or over; and taking over what an earlier engine started."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import fcntl
import hashlib
import json
import os
import signal
import stat
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from couler_py.backends.local.containers import orphans
from couler_py.backends.local.warden.processes import kill_marked, start_time

NEEDED = {"started", "finished", "digest", "reason", "exit", "message"}
"""What every record says."""


def key_of(path: str) -> str:
    """What the folders of a task's attempts begin with."""
    return hashlib.sha256(path.encode("utf-8", "surrogatepass")).hexdigest()[:20]


def folders(run_folder: Path) -> dict[str, list[Path]]:
    """The attempts that a run's folder holds, by the key of their task and in order of number and execution."""
    found: dict[str, list[Path]] = {}
    root = run_folder / "attempts"
    if root.is_dir():
        for folder in root.iterdir():
            found.setdefault(folder.name.partition("-")[0], []).append(folder)
    for each in found.values():
        each.sort(key=lambda folder: (number_of(folder), execution_of(folder)))
    return found


def name_of(key: str, number: int, execution: int) -> str:
    """The name of an attempt's folder. All stand side by side: a folder for each task would take as long again."""
    return f"{key}-{number}-{execution}"


def number_of(folder: Path) -> int:
    """The number of the attempt that a folder is of."""
    return int(folder.name.split("-")[1])


def execution_of(folder: Path) -> int:
    """Which of the processes of an attempt a folder is of: one that left no record is followed by another."""
    return int(folder.name.split("-")[2])


def relative(folder: Path) -> str:
    """The folder of an attempt, from that of its run."""
    return f"attempts/{folder.name}"


def record(folder: Path) -> dict[str, Any] | None:
    """How an attempt ended; None for one that left no record.

    What no warden can have written is none: a file that a power cut has emptied, or whatever a step put there.
    """
    try:
        # Without waiting: opening a pipe would wait for who writes to it.
        handle = os.open(folder / "record", os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno == errno.ELOOP:
            return None
        raise
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        return None
    with os.fdopen(handle, "rb") as file:
        try:
            found = json.loads(file.read())
        except ValueError:
            return None
    return found if isinstance(found, dict) and found.keys() >= NEEDED else None


def live_digests(root: Path, *, without: Collection[str] = ()) -> set[str]:
    """The digests of all files that attempts of runs have left, also those that no store saw; `without` some runs."""
    found: set[str] = set()
    for path in root.glob("*/attempts/*"):
        left = None if path.relative_to(root).parts[0] in without else record(path)
        if left is not None:
            found.update(ref["digest"] for ref in left.get("artifacts", {}).values())
    return found


def _lock(folder: Path) -> int:
    return os.open(folder / "process", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def claim(folder: Path) -> bool:
    """Whether the attempt is over, its warden gone. From then on it is: nobody can start it late any more."""
    handle = _lock(folder)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    else:
        if record(folder) is None:
            (folder / "ended").touch()
            (folder / "record.tmp").unlink(missing_ok=True)  # cut off: it says nothing
        return True
    finally:
        os.close(handle)


def last(folders: list[Path]) -> int:
    """The number of the last attempt, among those of a task, that has left a record or still goes on; else 0.

    Those before it have failed: a lost one has no record, and isn't made up for where a later one was begun.
    """
    counts = (each for each in folders if record(each) is not None or not _is_over(each))
    return max(map(number_of, counts), default=0)


def _is_over(folder: Path) -> bool:
    return (folder / "ended").exists() or (folder / "record.old").exists()


async def wait(folder: Path) -> None:
    """Wait until the attempt's warden has ended."""
    pause = 0.005
    while not claim(folder):
        await asyncio.sleep(pause)
        pause = min(pause * 2, 0.1)


async def see_to_the_end(folder: Path, killed: Callable[[], bool]) -> None:
    """Wait for an attempt that only its warden knows of; when cancelled, end it first."""
    try:
        await wait(folder)
    except asyncio.CancelledError:
        await end(folder, killed)
        raise


async def end(folder: Path, killed: Callable[[], bool]) -> None:
    """Ask the warden of an attempt to end its step, or to kill it as soon as that is wanted, and wait for it."""
    asked: set[str] = set()
    while not claim(folder):
        wanted = "kill" if killed() else "stop"
        if wanted not in asked and ask(folder, wanted):  # one that only begins has no process yet
            asked.add(wanted)
        await asyncio.sleep(0.01)
    end_orphan(folder)


def processes(folder: Path) -> tuple[int, int] | None:
    """The ids of the step's process (and of its group) and of its warden, as far as they still live."""
    try:
        words = (folder / "process").read_text().split()
    except FileNotFoundError:
        return None
    if len(words) != 4:
        return None
    step, step_start, warden, warden_start = words
    return (
        int(step) if start_time(int(step)) == step_start else 0,
        int(warden) if start_time(int(warden)) == warden_start else 0,
    )


def ask(folder: Path, wanted: str) -> bool:
    """Tell the warden of an attempt to "stop" or "kill" it; whether there was one."""
    found = processes(folder)
    if found is None or not found[1]:
        return False
    (folder / wanted).touch()
    try:
        os.kill(found[1], signal.SIGUSR1)
    except ProcessLookupError:
        return False
    return True


def end_orphan(folder: Path) -> None:
    """End what is left of an attempt whose warden was killed: its group, whoever bears its mark, its containers.

    Raises `OrphanError` for containers that can't be taken away.
    """
    found = processes(folder)
    if found is not None and found[0]:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(found[0], signal.SIGKILL)
    kill_marked(str(folder))
    orphans.remove(folder)
