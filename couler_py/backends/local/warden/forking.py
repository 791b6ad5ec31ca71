"""A zygote's work: a child for each step that its warden sends, and word of its end. Standard library only.

What a child reads or writes of the memory that it shares with its parent is copied for it, page by page, which is most
of what a small step costs. So what children do is little, and what can be done before the fork is.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # what `signal` wraps in enumerations, hundreds of pages of them
import _socket
import gc
import os
import signal
from typing import Any

from couler_py.backends.local.warden import collecting, preparing, processes
from couler_py.backends.local.warden.loop import Loop
from couler_py.backends.local.warden.sealed import HANDLES, NUMBER, REPORT, take, unsealed
from couler_py.store import content, faults

SIGNALS = tuple(map(int, (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD, signal.SIGUSR1)))
SIGINT, SIGCHLD, SIG_DFL = map(int, (signal.SIGINT, signal.SIGCHLD, signal.SIG_DFL))
SPACE = _socket.CMSG_SPACE(HANDLES.size)
SIG_BLOCK, SIG_UNBLOCK = int(signal.SIG_BLOCK), int(signal.SIG_UNBLOCK)


class Born(BaseException):
    """Raised in a forked child: it leaves all behind that its parent was about, and becomes the step."""

    def __init__(self, payload: dict[str, Any]):
        self.payload = payload


class Forker:
    """Forks steps, one thread, one child each."""

    def __init__(self, handle: int):
        self._channel = _socket.socket(fileno=handle)
        os.set_inheritable(handle, False)
        self._loop = Loop((signal.SIGCHLD,), self._heed)
        self._reports = self._loop.outbox(self._channel)
        self._channel.setblocking(True)
        self._running: dict[int, int] = {}
        self._me = os.getpid()
        above = os.getppid()
        self._warden = f"{above} {processes.start_time(above)}"
        self._parents = (self._me, above)  # of a step: should this process end, the warden adopts it
        self._serves = True
        self._loop.read_from(handle, self._take)
        signal.signal(signal.SIGINT, signal.SIG_IGN)

    def serve(self) -> None:
        """Work until the warden lets this process go. Raises `Born` in each child."""
        processes.scores()  # opens its file
        self._highest = max(processes.descriptors())
        gc.collect()
        gc.freeze()  # a collection in a child would copy every page that is shared with this process
        self._collects = gc.isenabled()  # unless a preloaded module wants it otherwise
        gc.disable()
        while self._serves:
            self._loop.turn()

    def _take(self) -> None:
        data, ancillary, _, _ = self._channel.recvmsg(NUMBER.size, SPACE, _socket.MSG_CMSG_CLOEXEC)
        if len(data) < NUMBER.size:
            self._serves = False
            return
        (number,), handles = NUMBER.unpack(data), HANDLES.unpack(ancillary[0][2])
        _signal.pthread_sigmask(SIG_BLOCK, SIGNALS)
        pid = processes.killed_first(os.fork)
        if pid == 0:
            self._born(*handles)
        faults.reach("attempt.forked")
        _signal.pthread_sigmask(SIG_UNBLOCK, SIGNALS)
        for handle in handles:
            os.close(handle)
        self._running[pid] = number
        self._tell(b"b", number, pid)

    def _born(self, sealed: int, stdout: int, stderr: int) -> None:
        _signal.set_wakeup_fd(-1)
        _signal.signal(SIGCHLD, SIG_DFL)
        _signal.signal(SIGINT, _signal.default_int_handler)
        _signal.pthread_sigmask(SIG_UNBLOCK, SIGNALS)
        if not take(sealed):
            os._exit(0)  # this process came too late: by now another is the step
        if self._collects:
            gc.enable()
        payload = unsealed(sealed)
        highest = max(self._highest, sealed, stdout, stderr)
        processes.detach(payload["folder"], self._warden, self._parents, (stdout, stderr), highest)
        try:
            preparing.prepare(payload)
            os.chdir(payload["directory"])
        except (OSError, content.ContentError) as error:
            collecting.condemn(payload["folder"], error)
            os._exit(127)
        raise Born(payload)

    def _heed(self, _: bytes) -> None:
        while self._running:
            pid, status, usage = os.wait4(-1, os.WNOHANG)
            if pid == 0:
                return
            number = self._running.pop(pid, None)
            if number is None:  # a process that a preloaded module has started
                continue
            self._tell(b"e", number, pid, status, usage.ru_maxrss, usage.ru_utime + usage.ru_stime)

    def _tell(self, kind: bytes, number: int, pid: int, status: int = 0, memory: int = 0, cpu: float = 0.0) -> None:
        """Say it at once: should this process be killed now, nobody else can."""
        self._reports.put(REPORT.pack(kind, number, pid, status, memory, cpu))
        self._reports.send()
