"""The engine's end of its warden: starts it, hands it attempts, hears how they have ended."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from typing import Any, TypeAlias

import msgspec

from couler_py.backends.local.steps.ambient import ambient
from couler_py.backends.local.warden import bare, sealed
from couler_py.backends.local.warden.outgoing import Outgoing
from couler_py.backends.local.warden.processes import MARK
from couler_py.store import faults

PRIVATE = (
    "folder",
    "artifacts",
    "env",
    "directory",
    "make",
    "clear",
    "bare",
    "files",
    "inputs",
    "links",
    "program",
    "code",
)
"""The parts of a request that the process of a step reads which a zygote has forked."""

SHARED = ("folder", "artifacts")
"""Those of them that the warden reads too."""

INTERVAL = 0.2  # seconds between two looks
QUIET = 10  # looks until a warden that says nothing is asked whether it is there
PATIENCE = 600  # looks until a warden that says nothing is stuck
PATIENCE_AT_END = 50  # the same, when the run is to end

Record: TypeAlias = dict[str, Any] | None


class WardenLostError(Exception):
    """The warden was killed from outside."""


class Wardens:
    """The warden of a run, started with the first attempt, and again should somebody kill it."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._requests: Outgoing | None = None
        self._reports: socket.socket | None = None
        self._waiting: dict[str, asyncio.Future[Record]] = {}
        self.zygotes: dict[str, dict[str, Any]] = {}  # by the key that requests name: how each is started, once needed
        self._described: set[str] = set()
        self._buffer = b""
        self._silent = 0

    def run(self, request: dict[str, Any], locks: list[int]) -> asyncio.Future[Record]:
        """Have one attempt looked after to its end: its record, or None where it left none.

        `locks` are descriptors that the warden holds as long as the attempt goes on. The future raises
        `WardenLostError` where nobody is left to say how it ended; the attempt may still run then.
        """
        if self._process is None:
            self._start()
        ended: asyncio.Future[Record] = asyncio.get_running_loop().create_future()
        self._waiting[request["id"]] = ended
        key = request.get("zygote")
        if key is None:
            self._send(encoded(request), locks)
            return ended
        if key not in self._described:
            self._described.add(key)
            wanted = self.zygotes[key]
            self._send(encoded({**wanted, "key": key, "env": wanted["env"] | outer()}), [])
            if self._process is None:
                return ended  # the warden is lost, as whoever waits for this hears
        private = {name: request[name] for name in PRIVATE}
        payload = sealed.sealed(private)
        try:
            shown = {name: value for name, value in request.items() if name not in PRIVATE or name in SHARED}
            self._send(encoded(shown), [payload, *locks])
        finally:
            os.close(payload)
        return ended

    def end(self, attempt: str, *, kill: bool = False) -> None:
        """Ask a step to end; with `kill`, at once."""
        if self._process is not None:
            self._send(encoded({"end": attempt, "kill": kill}), [])

    def look(self, *, ending: bool) -> None:
        """See that the warden works, a few times a second: one that was stopped goes on, one that is stuck is killed.

        `ending` is whether somebody waits for the run to end: then it has less time to answer.
        """
        if self._process is None:
            return
        unstop(self._process.pid)
        self._silent += 1  # looks are counted, not seconds: this engine may have been stopped as well
        if self._silent > (PATIENCE_AT_END if ending else PATIENCE):
            self._process.kill()
        elif self._silent == QUIET:
            self._send(encoded({"ping": True}), [])

    def close(self) -> None:
        """Let the warden go. It ends with the last of the attempts that it looks after."""
        if self._process is None:
            return
        assert self._requests is not None
        assert self._reports is not None
        asyncio.get_running_loop().remove_reader(self._reports.fileno())
        self._requests.close()
        self._reports.close()
        if not self._waiting:
            self._see_it_gone(self._process)
        self._process = None

    def _see_it_gone(self, process: subprocess.Popen[bytes]) -> None:
        for _ in range(PATIENCE_AT_END):
            unstop(process.pid)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(INTERVAL)
                return
        process.kill()
        process.wait()

    def _send(self, data: bytes, handles: list[int]) -> None:
        assert self._requests is not None
        try:
            self._requests.put(data, handles)
        except (BrokenPipeError, ConnectionResetError):
            self._lost()

    def _start(self) -> None:
        ours_requests, theirs_requests = socket.socketpair()
        ours_reports, theirs_reports = socket.socketpair()
        handles = (theirs_requests.fileno(), theirs_reports.fileno())
        command = [sys.executable, "-I", "-S", bare.__file__, "warden", *map(str, handles)]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            pass_fds=handles,
            start_new_session=True,
            cwd=os.sep,
            env=ambient() | outer() | faults.variables(),
        )
        theirs_requests.close()
        theirs_reports.close()
        ours_reports.setblocking(False)
        self._requests, self._reports, self._buffer = Outgoing(ours_requests), ours_reports, b""
        self._silent = 0
        self._described.clear()
        asyncio.get_running_loop().add_reader(ours_reports.fileno(), self._read)

    def _read(self) -> None:
        assert self._reports is not None
        try:
            data = self._reports.recv(1 << 18)
        except BlockingIOError:
            return
        except ConnectionResetError:
            data = b""
        if not data:
            self._lost()
            return
        *lines, self._buffer = (self._buffer + data).split(b"\n")
        self._silent = 0
        for line in lines:
            message = decoded(line)
            ended = self._waiting.pop(message["id"], None)
            if ended is not None and not ended.done():
                ended.set_result(message["record"])

    def _lost(self) -> None:
        waiting, self._waiting = self._waiting, {}
        self.close()
        for ended in waiting.values():
            if not ended.done():
                ended.set_exception(WardenLostError())


def unstop(pid: int) -> None:
    """Have a child of this process go on where any process of this user, a step too, has stopped it."""
    with contextlib.suppress(ChildProcessError):
        if os.waitid(os.P_PID, pid, os.WSTOPPED | os.WNOHANG) is not None:
            os.kill(pid, signal.SIGCONT)


def encoded(data: dict[str, Any]) -> bytes:
    """JSON of what may hold any text, also such that is no UTF-8."""
    try:
        return msgspec.json.encode(data)
    except UnicodeEncodeError:
        return json.dumps(data).encode()


def decoded(line: bytes) -> Any:
    """What JSON of a warden's says, also where its text is no UTF-8."""
    try:
        return msgspec.json.decode(line)
    except msgspec.DecodeError:
        return json.loads(line)


def outer() -> dict[str, str]:
    """The mark of the step in which this engine itself runs, if it does: what it starts belongs to that step."""
    return {MARK: os.environ[MARK]} if MARK in os.environ else {}
