"""Jobs that hang: nothing of them computes or writes, or a process was stopped and stands still.

What is seen is Linux's: processes with their environment, CPU time and state in /proc (proc(5)). Where there is no
/proc nothing is watched.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterable
from pathlib import Path

PROC = Path("/proc")
IDLE = 0.02  # of one CPU: what agents, watchdogs and heart-beats of processes that only wait use, all together


class HungError(Exception):
    """The job does nothing any more."""


def carrying(marks: Iterable[str]) -> set[int]:
    """The processes whose environment has one of these words, where the system tells."""
    wanted = [mark.encode() for mark in marks]
    found = set()
    for folder in PROC.iterdir() if (PROC / "self" / "environ").exists() else ():
        if not folder.name.isdigit() or int(folder.name) == os.getpid():
            continue
        with contextlib.suppress(OSError):  # it has ended, or is somebody else's
            words = (folder / "environ").read_bytes().split(b"\0")
            if any(mark in words for mark in wanted):
                found.add(int(folder.name))
    return found


class Watch:
    """Whether a job does anything. `patience` is in seconds; with 0, nothing is looked at."""

    def __init__(self, patience: float):
        self.patience = patience if (PROC / "self" / "stat").exists() else 0.0
        self.next = 0.0
        self.begin()

    def begin(self) -> None:
        """All processes begin again."""
        self.since = time.monotonic()
        self.stopped: dict[int, float] = {}
        self.used: dict[int, float] = {}
        self.written = -1

    def look(self, marks: Iterable[str], written: int) -> list[int]:
        """Look at the processes with these marks, of which so many bytes have come.

        Gives those that it has killed because they were stopped. Raises `HungError` where nothing was done for as long
        as the patience lasts.
        """
        now = time.monotonic()
        if not self.patience or now < self.next:
            return []
        self.next = now + max(0.2, self.patience / 8)
        states = {pid: state for pid in carrying(marks) if (state := state_of(pid))}
        killed = self.end_stopped(states, now)
        used = {pid: seconds for pid, (_, seconds) in states.items()}
        busy = sum(seconds - self.used.get(pid, 0.0) for pid, seconds in used.items())
        if killed or written != self.written or busy > IDLE * (now - self.since):
            self.since, self.used, self.written = now, used, written
        elif now - self.since > self.patience:
            raise HungError
        return killed

    def end_stopped(self, states: dict[int, tuple[str, float]], now: float) -> list[int]:
        """Kill the processes that have been stopped (by a signal, a debugger) for too long: nobody else can wait."""
        self.stopped = {pid: self.stopped.get(pid, now) for pid, (state, _) in states.items() if state in "Tt"}
        killed = [pid for pid, since in self.stopped.items() if now - since > self.patience]
        for pid in killed:
            with contextlib.suppress(OSError):  # it has ended
                os.kill(pid, signal.SIGKILL)
        return killed


def state_of(pid: int) -> tuple[str, float] | None:
    """The state of a process (a letter) and the seconds of CPU that it has used; nothing where it has ended."""
    try:
        # The name, in parentheses, may hold anything: what follows the last of them is fields from the third on.
        fields = (PROC / str(pid) / "stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return None
    return fields[0], (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
