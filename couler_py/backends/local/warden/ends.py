"""How attempts end: their processes are gone, what these left running too, and a record is written. Stdlib only."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

from couler_py.backends.local.warden import collecting, processes
from couler_py.backends.local.warden.starting import copied
from couler_py.backends.local.warden.strays import Strays
from couler_py.backends.local.warden.watched import collector, how, used
from couler_py.store import faults

if TYPE_CHECKING:
    from couler_py.backends.local.warden.warden import Warden
    from couler_py.backends.local.warden.watched import Attempt

LINGER = 0.5  # seconds that a pipe is read after its step: who got away may hold it open for ever
AGAIN = 0.01  # seconds until what was killed is looked for once more


class Ends:
    """The ends of a warden's children."""

    def __init__(self, warden: Warden):
        self.collectors: dict[int, Attempt] = {}
        self._warden = warden
        self._clearing: list[Attempt] = []
        self.strays = Strays(warden)

    def reap(self) -> None:
        """Take leave of children that have ended."""
        while True:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG | os.WUNTRACED)
            except ChildProcessError:
                break
            if pid == 0:
                break
            if os.WIFSTOPPED(status):
                self._stopped(pid)
                continue
            self.exited(pid, status, usage.ru_utime + usage.ru_stime, usage.ru_maxrss)
        clearing, self._clearing = self._clearing, []
        for attempt in clearing:
            self._clear(attempt)

    def exited(self, pid: int, status: int, cpu: float, memory: int) -> None:
        """A process has ended: a step's, or one that collected what a step has left, a zygote, or a stray."""
        if pid in self._warden.zygotes.pids:
            self._warden.zygotes.ended(pid)
        elif pid in self.collectors:
            attempt = self.collectors.pop(pid)
            self._warden.report(attempt, collecting.read_record(attempt.folder))
        elif pid in self._warden.by_pid:
            attempt = self._warden.by_pid.pop(pid)
            attempt.running = False
            if not attempt.outcome:
                attempt.outcome = how(attempt, os.waitstatus_to_exitcode(status))
            attempt.outcome |= used(cpu, memory)
            self._clear(attempt)

    def settle(self, attempt: Attempt) -> None:
        """Write how an attempt ended: here, or, where that takes long, by a process of its own."""
        faults.reach("attempt.exited")
        record = {"started": attempt.started, "digest": attempt.request["digest"], "exit": None, **attempt.outcome}
        attempt.request["move"] = not self.strays.may_have_left(attempt)  # who lives could still write to a file
        try:
            collecting.look(attempt.request)
            if collecting.is_quick(attempt.request):
                self._warden.report(attempt, collecting.finish(attempt.request, record))
                return
            pid = copied()
            if pid:
                self.collectors[pid] = attempt
                return
        except Exception:
            self._warden.lose(attempt)
            return
        collector(attempt, record)

    def _stopped(self, pid: int) -> None:
        """Have what works for this process go on, whoever stopped it; a step that was stopped is left as it is."""
        if pid in self._warden.zygotes.pids or pid in self.collectors:
            os.kill(pid, signal.SIGCONT)

    def _clear(self, attempt: Attempt) -> None:
        """End what a step has left running, in its group or elsewhere; then, take what it has written."""
        alive = processes.signal_group(attempt.pid, signal.SIGKILL)
        alive |= self.strays.kill(attempt)
        if alive:
            self._clearing.append(attempt)
            self._warden.loop.after(AGAIN, self.reap)
            return
        attempt.ended = True
        if attempt.pipes:
            self._warden.after(attempt, LINGER, lambda: self._warden.pipes.leave(attempt))
        else:
            self.settle(attempt)
