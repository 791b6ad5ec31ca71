"""A warden's end of its zygotes: the processes that Python steps are forked from. Standard library only."""

from __future__ import annotations

import functools
import os
import signal
import socket
from typing import TYPE_CHECKING, Any

from couler_py.backends.local.warden import bare, processes
from couler_py.backends.local.warden.sealed import REPORT
from couler_py.backends.local.warden.wanted import Wanted
from couler_py.store import faults

if TYPE_CHECKING:
    from couler_py.backends.local.warden.warden import Warden
    from couler_py.backends.local.warden.watched import Attempt

AGAIN = 0.01  # seconds until a step that was forked is looked for once more


class Zygotes:
    """Zygotes by their keys; each is started with the first step of its kind, and again should it end."""

    def __init__(self, warden: Warden):
        self.pids: dict[int, Zygote] = {}
        self._warden = warden
        self._wanted: dict[str, dict[str, Any]] = {}
        self._known: dict[str, Zygote] = {}

    def describe(self, wanted: dict[str, Any]) -> None:
        """Learn how a zygote is started."""
        self._wanted[wanted["key"]] = wanted

    def fork(self, attempt: Attempt, payload: int, outputs: tuple[int, int]) -> None:
        """Have an attempt forked. What it is given lies in a file without a name, which only its process reads.

        The descriptors are closed when that is done.
        """
        wanted = Wanted(attempt, payload, outputs)
        try:
            self._fork(wanted)
        except BaseException:
            wanted.close()
            raise

    def _fork(self, wanted: Wanted) -> None:
        key = wanted.attempt.request["zygote"]
        if key not in self._known:
            self._known[key] = self._start(self._wanted[key])
        self._known[key].fork(wanted)

    def give_up(self, attempt: Attempt) -> None:
        """End the zygote of an attempt that should have ended: it doesn't work."""
        for zygote in self.pids.values():
            if zygote.has(attempt):
                os.kill(zygote.pid, signal.SIGKILL)

    def ended(self, pid: int) -> None:
        """A zygote has ended: the steps that it forked are this process's children now."""
        zygote = self.pids.pop(pid)
        if self._known.get(zygote.key) is zygote:
            del self._known[zygote.key]
        unsaid = zygote.bury()
        begun = [wanted for wanted in unsaid if not wanted.take_back()]
        for wanted in begun:
            self._find(wanted)
        for wanted in unsaid:
            if wanted not in begun:
                self._again(wanted, zygote.has_forked or bool(begun))

    def _find(self, wanted: Wanted, tries: int = 100) -> None:
        """Find the process of an attempt that has begun without a word of its zygote."""
        pid = processes.written(wanted.attempt.folder)
        if not pid and tries:  # it is about to write down who it is
            self._warden.loop.after(AGAIN, functools.partial(self._find, wanted, tries - 1))
            return
        wanted.close()
        if pid and is_child(pid):
            self._warden.running(wanted.attempt, pid)
        else:
            self._warden.lose(wanted.attempt)

    def _again(self, wanted: Wanted, worked: bool) -> None:
        """Have another zygote fork an attempt, unless that would end as one that never forked any has ended."""
        attempt = wanted.attempt
        try:
            if worked and not attempt.reason:
                self._fork(wanted)
                return
        except Exception:
            self._warden.lose(attempt)
        else:
            (self._warden.unbegun if attempt.reason else self._warden.lose)(attempt)
        wanted.close()

    def close(self) -> None:
        """End all of them, which hold nothing."""
        for zygote in self.pids.values():
            zygote.close()
            os.kill(zygote.pid, signal.SIGKILL)  # it may have been stopped
        for pid in self.pids:
            os.waitpid(pid, 0)

    def _start(self, wanted: dict[str, Any]) -> Zygote:
        zygote = Zygote(self._warden, wanted)
        self.pids[zygote.pid] = zygote
        return zygote


class Zygote:
    """One process that steps are forked from."""

    def __init__(self, warden: Warden, wanted: dict[str, Any]):
        self.key: str = wanted["key"]
        self._warden = warden
        self._attempts: dict[int, Attempt] = {}
        self._wanted: dict[int, Wanted] = {}  # of those attempts, which it hasn't forked yet
        self._unasked: list[int] = []  # of those, which it hasn't been asked for
        self._count = 0
        self.has_forked = False
        self._buffer = b""
        self._channel, theirs = socket.socketpair()
        with theirs:
            theirs.set_inheritable(True)
            program = [wanted["python"], "-P", bare.__file__, "zygote", str(theirs.fileno()), wanted["runner"]]
            request = {
                "command": [*program, *wanted["preload"]],
                "env": wanted["env"] | faults.variables(),
                "directory": os.sep,
            }
            self.pid = processes.spawn(request, (processes.nothing(), processes.nothing()))
        warden.loop.read_from(self._channel.fileno(), self._read)

    def has(self, attempt: Attempt) -> bool:
        """Whether it is to fork an attempt, or to tell of its end."""
        return attempt in self._attempts.values()

    def fork(self, wanted: Wanted) -> None:
        """Have one attempt forked."""
        self._count += 1
        self._attempts[self._count] = wanted.attempt
        self._wanted[self._count] = wanted
        self._unasked.append(self._count)
        self._ask()

    def _ask(self) -> None:
        while self._unasked and self._wanted[self._unasked[0]].send(self._channel, self._unasked[0]):
            del self._unasked[0]

    def _read(self) -> None:
        try:
            data = self._channel.recv(1 << 16)
        except ConnectionResetError:
            data = b""
        if not data:
            self.close()
            return
        data = self._buffer + data
        whole = len(data) - len(data) % REPORT.size
        self._buffer = data[whole:]
        for kind, number, pid, status, memory, cpu in REPORT.iter_unpack(data[:whole]):
            if kind == b"b":
                self.has_forked = True
                self._wanted.pop(number).close()
                self._warden.running(self._attempts[number], pid)
            else:
                del self._attempts[number]
                self._warden.ends.exited(pid, status, cpu, memory)
        self._ask()

    def close(self) -> None:
        """Let it go; it ends when it sees that."""
        if self._channel.fileno() >= 0:
            self._warden.loop.forget(self._channel.fileno())
            self._channel.close()

    def bury(self) -> list[Wanted]:
        """See to its steps after its end: those that it has forked are this process's children now.

        Gives those of which it has said nothing.
        """
        while self._channel.fileno() >= 0:
            self._read()
        for number, attempt in self._attempts.items():
            if number not in self._wanted and not is_child(attempt.pid):
                self._warden.lose(attempt)
        return list(self._wanted.values())


def is_child(pid: int) -> bool:
    """Whether a process is a child of this one, alive or not."""
    try:
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True
