"""The engine's end of the spawner: starts it, hands it attempts, hears when their supervisors have ended."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import struct
import subprocess
import sys
from typing import Any

from couler_py.backends.local import supervisor
from couler_py.store import content


class SpawnerLostError(Exception):
    """The spawner was killed from outside."""


class Spawner:
    """One spawner process, started with the first attempt, and again should somebody kill it."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._requests: socket.socket | None = None
        self._reports: socket.socket | None = None
        self._waiting: dict[str, asyncio.Future[int]] = {}
        self._buffer = b""

    async def run(self, request: dict[str, Any], locks: list[int]) -> int:
        """Have one attempt supervised to its end, and give the supervisor's wait status.

        `locks` are descriptors that the supervisor holds as long as it lives. Raises
        `SpawnerLostError` where nobody is left to say how it ended; the attempt may still run then.
        """
        if self._process is None:
            self._start()
        assert self._requests is not None
        ended: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._waiting[request["id"]] = ended
        data = json.dumps(request).encode("utf-8", "surrogatepass")
        header = struct.pack("!IH", len(data), len(locks))
        try:
            socket.send_fds(self._requests, [header], locks)
            self._requests.sendall(data)
        except (BrokenPipeError, ConnectionResetError):
            self._lost()
        return await ended

    def end(self, attempt: str, *, kill: bool = False) -> None:
        """Ask a supervisor to end its step; with `kill`, at once."""
        if self._requests is not None:
            data = json.dumps({"end": attempt, "kill": kill}).encode()
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                self._requests.sendall(struct.pack("!IH", len(data), 0) + data)

    def close(self) -> None:
        """Let the spawner go. Supervisors that still work are on their own."""
        if self._process is None:
            return
        assert self._requests is not None
        assert self._reports is not None
        asyncio.get_running_loop().remove_reader(self._reports.fileno())
        self._requests.close()
        self._reports.close()
        self._process.wait()
        self._process = None

    def _start(self) -> None:
        ours_requests, theirs_requests = socket.socketpair()
        ours_reports, theirs_reports = socket.socketpair()
        handles = (theirs_requests.fileno(), theirs_reports.fileno())
        command = [sys.executable, "-I", "-S", supervisor.__file__, *map(str, handles), content.__file__]
        self._process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, pass_fds=handles, start_new_session=True, cwd=os.sep
        )
        theirs_requests.close()
        theirs_reports.close()
        ours_reports.setblocking(False)
        self._requests, self._reports, self._buffer = ours_requests, ours_reports, b""
        asyncio.get_running_loop().add_reader(ours_reports.fileno(), self._read)

    def _read(self) -> None:
        assert self._reports is not None
        try:
            data = self._reports.recv(1 << 16)
        except BlockingIOError:
            return
        except ConnectionResetError:
            data = b""
        if not data:
            self._lost()
            return
        *lines, self._buffer = (self._buffer + data).split(b"\n")
        for line in lines:
            message = json.loads(line)
            ended = self._waiting.pop(message["id"], None)
            if ended is not None and not ended.done():
                ended.set_result(message["status"])

    def _lost(self) -> None:
        self.close()
        waiting, self._waiting = self._waiting, {}
        for ended in waiting.values():
            if not ended.done():
                ended.set_exception(SpawnerLostError())
