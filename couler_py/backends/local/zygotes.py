"""A warden's end of its zygotes: the processes that Python steps are forked from. Standard library only."""

from __future__ import annotations

import os
import socket
import struct
from typing import TYPE_CHECKING, Any

from couler_py.backends.local import bare, messages, processes

if TYPE_CHECKING:
    from couler_py.backends.local.warden import Warden
    from couler_py.backends.local.watched import Attempt

REPORT = struct.Struct("!cIIiQd")
"""What a zygote says: b"b" (a step has begun) or b"e" (it has ended), its number, process, wait status, memory, cpu."""


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
        """Have an attempt forked. What it is given lies in a file without a name, which only its process reads."""
        key = attempt.request["zygote"]
        try:
            if key not in self._known:
                self._known[key] = self._start(self._wanted[key])
            try:
                self._known[key].fork(attempt, [payload, *outputs])
            except (BrokenPipeError, ConnectionResetError):  # it was killed a moment ago
                self._known[key] = self._start(self._wanted[key])
                self._known[key].fork(attempt, [payload, *outputs])
        finally:
            os.close(payload)

    def ended(self, pid: int) -> None:
        """A zygote has ended: the steps that it forked are this process's children now."""
        zygote = self.pids.pop(pid)
        if self._known.get(zygote.key) is zygote:
            del self._known[zygote.key]
        zygote.bury()

    def close(self) -> None:
        """Let all of them go, and see them gone."""
        for zygote in self.pids.values():
            zygote.close()
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
        self._count = 0
        self._buffer = b""
        self._channel, theirs = socket.socketpair()
        with theirs:
            theirs.set_inheritable(True)
            program = [wanted["python"], "-P", bare.__file__, "zygote", str(theirs.fileno()), wanted["runner"]]
            request = {"command": [*program, *wanted["preload"]], "env": wanted["env"], "directory": os.sep}
            self.pid = processes.spawn(request, (processes.nothing(), processes.nothing()))
        warden.loop.read_from(self._channel.fileno(), self._read)

    def fork(self, attempt: Attempt, handles: list[int]) -> None:
        self._count += 1
        messages.send(self._channel, b"%d" % self._count, handles)
        self._attempts[self._count] = attempt

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
                self._warden.running(self._attempts[number], pid)
            else:
                del self._attempts[number]
                self._warden.exited(pid, status, cpu, memory)

    def close(self) -> None:
        """Let it go; it ends when it sees that."""
        if self._channel.fileno() >= 0:
            self._warden.loop.forget(self._channel.fileno())
            self._channel.close()

    def bury(self) -> None:
        """Give up the steps of which it said nothing before it ended; of the others, the warden hears itself."""
        while self._channel.fileno() >= 0:
            self._read()
        for attempt in self._attempts.values():
            if not attempt.running or not is_child(attempt.pid):
                self._warden.lose(attempt)


def is_child(pid: int) -> bool:
    """Whether a process is a child of this one, alive or not."""
    try:
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True
