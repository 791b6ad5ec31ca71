"""The process of a step: started in a session of its own, watched, ended with all that it started. Stdlib only.

Loaded by `supervisor.py`, the program that starts every step, without its package.
"""

from __future__ import annotations

import contextlib
import errno
import os
import select
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

GRACE = 5.0  # seconds between asking a step to end and killing it
LONGEST_WAIT = 86_400.0  # seconds; select takes no more than about 292 years, and a time-out may be any number
PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h


class Waker:
    """A pipe that becomes readable when one of some signals has come, with a byte for each."""

    def __init__(self, signals: tuple[int, ...]):
        self.pipe, self._writer = os.pipe()
        os.set_blocking(self.pipe, False)
        os.set_blocking(self._writer, False)
        for number in signals:
            signal.signal(number, lambda *_: None)
        signal.set_wakeup_fd(self._writer, warn_on_full_buffer=False)

    def drain(self) -> bytes:
        try:
            return os.read(self.pipe, 4096)
        except BlockingIOError:
            return b""

    def close(self) -> None:
        signal.set_wakeup_fd(-1)
        os.close(self.pipe)
        os.close(self._writer)


class Step:
    """The process of a step, from its start to the end of everything in its group."""

    def __init__(self, request: dict[str, Any], wake: Waker):
        self.request = request
        self.wake = wake
        self.status: int | None = None
        self.reason = "exited"
        self.kill_at: float | None = None
        timeout = request.get("timeout")
        self.end_at: float | None = None if timeout is None else time.monotonic() + timeout
        self.log = os.open(os.path.join(request["folder"], "log"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self.pipes: dict[int, Callable[[bytes], None]] = {}

    def run(self) -> dict[str, Any]:
        outputs = self.streams()
        failed = self.start(outputs)
        if failed:
            return {"reason": "error", "message": failed}
        try:
            while self.status is None:
                self.wait()
        finally:
            self.signal(signal.SIGKILL)  # what it left running in its group ends with it
            end_children()
        end = time.monotonic() + 0.5  # a descendant in a group of its own may hold the pipes open for ever
        while self.pipes and time.monotonic() < end:
            self.wait(0.05)
        for sink in list(self.pipes.values()):
            sink(b"")
        code = os.waitstatus_to_exitcode(self.status)
        if self.reason == "stopped" and code == 0:
            self.reason = "exited"
        return {"reason": self.reason, "exit": code, "message": self.message(code)}

    def message(self, code: int) -> str:
        if self.reason == "timeout":
            return f"timed out after {self.request['timeout']:g} seconds"
        if code < 0:
            return f"ended by signal {signal.Signals(-code).name}"
        return f"exit code {code}" if code else ""

    def streams(self) -> tuple[int, int]:
        """The descriptors of the step's stdout and stderr: the log itself, unless something must be looked at."""
        secrets = [text.encode() for text in self.request["redact"] if text]
        stdout_file = self.request.get("stdout")
        if not secrets and not stdout_file:
            return self.log, self.log
        streams = []
        for number in (1, 2):
            reader, writer = os.pipe()
            os.set_blocking(reader, False)
            copy = None
            if number == 1 and stdout_file:
                copy = os.open(stdout_file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            self.pipes[reader] = Redactor(self.log, copy, secrets).write
            streams.append(writer)
        return streams[0], streams[1]

    def start(self, outputs: tuple[int, int]) -> str:
        """Start the process. Gives why it couldn't be."""
        told, tell = os.pipe()  # closed by a successful exec
        self.pid = os.fork()
        if self.pid == 0:
            self.become(outputs, tell)
        os.close(tell)
        for writer in set(outputs) - {self.log}:
            os.close(writer)
        with os.fdopen(told, "rb") as reading:
            failed = reading.read().decode()
        if failed:
            os.waitpid(self.pid, 0)
        return failed

    def become(self, outputs: tuple[int, int], tell: int) -> None:
        """What the forked process does until it is the step; never returns."""
        try:
            self.wake.close()
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD, signal.SIGUSR1, signal.SIGPIPE):
                signal.signal(number, signal.SIG_DFL)
            os.setsid()
            me, supervisor = os.getpid(), os.getppid()
            with open(os.path.join(self.request["folder"], "process"), "w") as file:
                file.write(f"{me} {start_time(me)} {supervisor} {start_time(supervisor)}\n")
            nothing = os.open(os.devnull, os.O_RDONLY)
            os.dup2(nothing, 0)
            os.dup2(outputs[0], 1)
            os.dup2(outputs[1], 2)
            os.chdir(self.request["directory"])
            command = self.request["command"]
            os.execvpe(command[0], command, self.request["env"])
        except FileNotFoundError as error:
            directory = self.request["directory"]
            missing = directory if error.filename == directory else self.request["command"][0]
            os.write(
                tell, f"{missing!r} is not here: a step runs as a process, with the programs of this machine".encode()
            )
        except BaseException as error:
            why = str(error)
            if isinstance(error, OSError) and error.errno == errno.E2BIG:
                why = "its inputs are more than this machine hands to a process: let it take large ones as files (Path)"
            os.write(tell, f"{self.request['command'][0]!r} can't be started: {why}".encode())
        finally:
            os._exit(127)

    def wait(self, longest: float | None = None) -> None:
        """Wait for the next thing to happen, and deal with it."""
        now = time.monotonic()
        ends = [each - now for each in (self.end_at, self.kill_at) if each is not None]
        timeout = min([*ends, *([] if longest is None else [longest]), LONGEST_WAIT])
        ready, _, _ = select.select([self.wake.pipe, *self.pipes], [], [], max(timeout, 0))
        for pipe in ready:
            if pipe == self.wake.pipe:
                self.heed(self.wake.drain())
            else:
                self.copy(pipe)
        now = time.monotonic()
        if self.end_at is not None and now >= self.end_at and self.status is None:
            self.end("timeout")
        if self.kill_at is not None and now >= self.kill_at:
            self.kill_at = None
            self.signal(signal.SIGKILL)

    def heed(self, signals: bytes) -> None:
        if signal.SIGTERM in signals:
            self.end("stopped")
        if signal.SIGUSR1 in signals:
            self.end("stopped")
            self.signal(signal.SIGKILL)
        if signal.SIGCHLD in signals and self.status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = status

    def end(self, reason: str) -> None:
        """Ask everything in the group to end, and make sure of it later."""
        if self.status is None and self.kill_at is None:
            self.reason = reason
            self.end_at = None
            self.kill_at = time.monotonic() + self.request.get("grace", GRACE)
            self.signal(signal.SIGTERM)

    def signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)

    def copy(self, pipe: int) -> None:
        try:
            data = os.read(pipe, 1 << 16)
        except BlockingIOError:
            return
        if data:
            self.pipes[pipe](data)
        else:
            self.pipes.pop(pipe)(b"")
            os.close(pipe)


def adopt_orphans() -> None:
    """Have descendants whose parents ended become children of this process, so that none gets away (Linux)."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end_children() -> None:
    """Kill whatever became a child of this process, and what becomes one by that."""
    if sys.platform != "linux":
        return
    me = os.getpid()
    while True:
        try:
            with open(f"/proc/{me}/task/{me}/children") as file:
                children = [int(pid) for pid in file.read().split()]
        except OSError:
            return
        if not children:
            return
        for pid in children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)


class Redactor:
    """Copies a stream to the log with secrets as ***, and, as it is, to a file."""

    def __init__(self, log: int, copy: int | None, secrets: list[bytes]):
        self.log = log
        self.copy = copy
        self.secrets = sorted(secrets, key=len, reverse=True)
        self.kept = b""

    def write(self, data: bytes) -> None:
        """Take some bytes; none at all is the end."""
        if self.copy is not None and data:
            write_all(self.copy, data)
        text = self.kept + data
        for secret in self.secrets:
            text = text.replace(secret, b"***")
        # The start of a secret may stand at the end of what has come so far.
        held = 0
        if data and self.secrets:
            held = max(begun(secret, text) for secret in self.secrets)
        self.kept = text[len(text) - held :]
        write_all(self.log, text[: len(text) - held])


def begun(secret: bytes, text: bytes) -> int:
    """How many bytes at the end of a text may be the start of a secret."""
    place = text.find(secret[:1], max(0, len(text) - len(secret) + 1))
    while place >= 0:
        if secret.startswith(text[place:]):
            return len(text) - place
        place = text.find(secret[:1], place + 1)
    return 0


def write_all(handle: int, data: bytes) -> None:
    while data:
        data = data[os.write(handle, data) :]


def start_time(pid: int) -> str:
    """When a process started, in the system's own measure: with the id, it names a process for ever."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[19]
    except OSError:
        if os.path.exists("/proc/self"):
            return ""
    import subprocess

    done = subprocess.run(["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return done.stdout.strip().replace(" ", "_")
