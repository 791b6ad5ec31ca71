"""Jobs that hang: nothing of them computes or writes, or a process was stopped and stands still.

What is seen is Linux's: processes with their environment, CPU time and state in /proc (proc(5)). Where there is no
/proc nothing is watched.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections import deque
from collections.abc import Iterable
from pathlib import Path

PROC = Path("/proc")
# Of one CPU, for each process: polls and heart-beats of those that only wait stay far below (an agent of torchrun uses
# 0.4 %, a process in a collective of gloo 0.2 %), and those that compute far above.
IDLE = 0.04


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
        self.stopped: dict[int, float] = {}
        # What was seen over the last `patience` seconds: when, the seconds of CPU of each process, the bytes written.
        # The whole of that time is judged, not what happened between two looks: a process that only waits may well
        # beat twice between them.
        self.seen: deque[tuple[float, dict[int, float], int]] = deque()

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
        if killed:
            self.seen.clear()
        self.seen.append((now, {pid: seconds for pid, (_, seconds) in states.items()}, written))
        while len(self.seen) > 1 and now - self.seen[1][0] >= self.patience:
            self.seen.popleft()
        if now - self.seen[0][0] >= self.patience and not self.worked():
            raise HungError
        return killed

    def worked(self) -> bool:
        """Whether anything was written between the first look and the last, or some process computed."""
        (since, before, had), (now, _, written) = self.seen[0], self.seen[-1]
        last: dict[int, float] = {}
        for _, used, _ in self.seen:  # those that have ended meanwhile, too
            last |= used
        most = max((seconds - before.get(pid, 0.0) for pid, seconds in last.items()), default=0.0)
        return written != had or most > IDLE * (now - since)

    def end_stopped(self, states: dict[int, tuple[str, float]], now: float) -> list[int]:
        """Kill the processes that have been stopped (by a signal, a debugger) for too long: nobody else can wait."""
        self.stopped = {pid: self.stopped.get(pid, now) for pid, (state, _) in states.items() if state in "Tt"}
        killed = [pid for pid, since in self.stopped.items() if now - since > self.patience]
        for pid in killed:
            with contextlib.suppress(OSError):  # it has ended
                os.kill(pid, signal.SIGKILL)
        return killed


def state_of(pid: int) -> tuple[str, float] | None:
    """The state of a process (a letter) and the seconds of CPU that it and its ended children have used.

    Nothing where it has ended.
    """
    try:
        # The name, in parentheses, may hold anything: what follows the last of them is fields from the third on.
        fields = (PROC / str(pid) / "stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return None
    return fields[0], sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
