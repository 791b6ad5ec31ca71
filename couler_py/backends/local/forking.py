"""A zygote's work: a child for each step that its warden sends, and word of its end. Standard library only."""

from __future__ import annotations

import gc
import os
import signal
import socket
from typing import Any

from couler_py.backends.local import collecting, messages, preparing, processes
from couler_py.backends.local.loop import Loop
from couler_py.backends.local.zygotes import REPORT
from couler_py.store import content

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD, signal.SIGUSR1)


class Born(BaseException):
    """Raised in a forked child: it leaves all behind that its parent was about, and becomes the step."""

    def __init__(self, payload: dict[str, Any]):
        self.payload = payload


class Forker:
    """Forks steps, one thread, one child each."""

    def __init__(self, handle: int):
        self._channel = socket.socket(fileno=handle)
        self._channel.set_inheritable(False)
        self._loop = Loop((signal.SIGCHLD,), self._heed)
        self._reports = self._loop.outbox(self._channel)
        self._channel.setblocking(True)
        self._running: dict[int, int] = {}
        self._me = os.getpid()
        self._warden = f"{os.getppid()} {processes.start_time(os.getppid())}"
        self._serves = True
        self._loop.read_from(handle, self._take)
        signal.signal(signal.SIGINT, signal.SIG_IGN)

    def serve(self) -> None:
        """Work until the warden lets this process go. Raises `Born` in each child."""
        gc.collect()
        gc.freeze()  # a collection in a child would copy every page that is shared with this process
        while self._serves:
            self._loop.turn()

    def _take(self) -> None:
        number, handles = messages.receive(self._channel)
        if number is None:
            self._serves = False
            return
        signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
        pid = os.fork()
        if pid == 0:
            self._born(*handles)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
        for handle in handles:
            os.close(handle)
        self._running[pid] = number
        self._reports.put(REPORT.pack(b"b", number, pid, 0, 0, 0.0))

    def _born(self, sealed: int, stdout: int, stderr: int) -> None:
        signal.set_wakeup_fd(-1)
        for number in SIGNALS:
            signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
        payload = messages.unsealed(sealed)
        processes.detach(payload["folder"], self._warden, self._me, (stdout, stderr))
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
            number = self._running.pop(pid)
            seconds = usage.ru_utime + usage.ru_stime
            self._reports.put(REPORT.pack(b"e", number, pid, status, usage.ru_maxrss, seconds))
