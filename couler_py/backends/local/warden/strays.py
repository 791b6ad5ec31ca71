"""Processes that left the group of their step: whose they are, and their end. Standard library only.

Who outlives its parents becomes a child of the warden (Linux). It belongs to the attempt whose session it is in, or
whose mark its environment bears; else to any that ran when it came, and it ends with the last of them.
"""

from __future__ import annotations

import contextlib
import os
import signal
from typing import TYPE_CHECKING

from couler_py.backends.local.warden import processes

if TYPE_CHECKING:
    from couler_py.backends.local.warden.warden import Warden
    from couler_py.backends.local.warden.watched import Attempt


class Strays:
    """The children of a warden that it didn't start."""

    def __init__(self, warden: Warden):
        self._warden = warden
        self._children = processes.Children()
        self._suspects: dict[int, set[str]] = {}

    def kill(self, ended: Attempt) -> bool:
        """Kill what only an ended attempt can have left; whether there was anything."""
        warden = self._warden
        ours = warden.by_pid.keys() | warden.ends.collectors.keys() | warden.zygotes.pids.keys()
        strangers = [pid for pid in self._children.pids() if pid not in ours]
        known = self._suspects
        self._suspects = {pid: known[pid] if pid in known else self._whose(pid) for pid in strangers}
        others = {attempt.folder for attempt in warden.attempts.values() if attempt is not ended}
        found = False
        for pid, suspects in self._suspects.items():
            if not suspects & others:
                found = True
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        return found

    def end(self) -> None:
        """Kill all that are left when no attempt is: what modules have started that were loaded before steps."""
        while pids := self._children.pids():
            for pid in pids:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)

    def may_have_left(self, ended: Attempt) -> bool:
        """Whether a process lives on that an ended attempt may have left."""
        return any(ended.folder in suspects for suspects in self._suspects.values())

    def _whose(self, pid: int) -> set[str]:
        """The attempts of which a process may be."""
        attempts = self._warden.attempts.values()
        with contextlib.suppress(ProcessLookupError):
            session = os.getsid(pid)
            for attempt in attempts:
                if attempt.pid == session:
                    return {attempt.folder}
        marked = processes.owner(pid)
        all_of_them = {attempt.folder for attempt in attempts}
        return {marked} if marked in all_of_them else all_of_them
