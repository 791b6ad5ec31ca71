"""The processes between the engine and the steps of a run. Standard library only; run as a program.

The engine starts one *spawner*. For each attempt the spawner forks a *supervisor*, which starts the
step in a session of its own, waits for it, keeps its outputs and leaves a record, written under
another name and renamed. Supervisors outlive the engine: a step that runs when the engine is killed
is finished as always, and the next engine reads its record. What they share with it is a folder:

lock      held (flock) by the supervisor as long as it lives
process   written by the step's process before it becomes the step: its id and start time, and the supervisor's
log       what the step wrote
ended     made by an engine that took the attempt over: whoever comes late must not start it
record    how the attempt ended, with its outputs
"""

from __future__ import annotations

import array
import contextlib
import fcntl
import importlib.util
import json
import os
import select
import signal
import socket
import struct
import sys
import time
import traceback
from collections.abc import Callable
from typing import Any

GRACE = 5.0  # seconds between asking a step to end and killing it
PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h
TAIL = 4000  # bytes of the log's end that a failed attempt's record repeats

content: Any = None


def load_content(path: str) -> None:
    """Load `couler_py/store/content.py` without its package, which needs installed libraries."""
    global content
    spec = importlib.util.spec_from_file_location("couler_content", path)
    assert spec is not None
    assert spec.loader is not None
    content = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(content)


# ---- the spawner


def serve(requests: socket.socket, reports: socket.socket) -> None:
    """Fork a supervisor for each request, and report each that has ended, until the engine is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    wake = Waker((signal.SIGCHLD,))
    running: dict[int, str] = {}
    while True:
        ready, _, _ = select.select([requests, wake.pipe], [], [])
        if wake.pipe in ready:
            wake.drain()
            for pid, status in reap():
                report(reports, {"id": running.pop(pid), "status": status})
        if requests in ready:
            message, locks = receive(requests)
            if message is None:
                return
            if "end" in message:
                for pid, name in running.items():
                    if name == message["end"]:
                        os.kill(pid, signal.SIGUSR1 if message.get("kill") else signal.SIGTERM)
                continue
            pid = os.fork()
            if pid == 0:
                become_supervisor(message, locks, (requests, reports), wake)
            running[pid] = message["id"]
            for handle in locks:
                os.close(handle)


def become_supervisor(
    message: dict[str, Any], locks: list[int], sockets: tuple[socket.socket, ...], wake: Waker
) -> None:
    """What a forked spawner does from here on; never returns. `locks` stay open, and held, until it ends."""
    code = 70
    try:
        wake.close()
        for each in sockets:
            each.close()
        os.setsid()
        code = supervise(message)
    except BaseException:
        with contextlib.suppress(OSError), open(os.path.join(message["folder"], "log"), "a") as log:
            log.write("couler: the supervisor of this step failed\n")
            traceback.print_exc(file=log)
    finally:
        os._exit(code)


def report(reports: socket.socket, message: dict[str, Any]) -> None:
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        reports.sendall(json.dumps(message).encode() + b"\n")


def receive(requests: socket.socket) -> tuple[Any, list[int]]:
    """One request with the descriptors that came along, or None at the end."""
    size = struct.calcsize("!IH")
    handles = array.array("i")
    header, ancillary, _, _ = requests.recvmsg(size, socket.CMSG_SPACE(64 * handles.itemsize))
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            handles.frombytes(data[: len(data) - len(data) % handles.itemsize])
    for handle in handles:
        os.set_inheritable(handle, False)
    if len(header) < size:
        return None, list(handles)
    length, _ = struct.unpack("!IH", header)
    parts = []
    while length:
        part = requests.recv(min(length, 1 << 20))
        if not part:
            return None, list(handles)
        parts.append(part)
        length -= len(part)
    return json.loads(b"".join(parts)), list(handles)


def reap() -> list[tuple[int, int]]:
    ended: list[tuple[int, int]] = []
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return ended
        if pid == 0:
            return ended
        ended.append((pid, status))


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


# ---- one supervisor


def supervise(request: dict[str, Any]) -> int:
    """Run one attempt to its record. Gives 0 where there is one, 75 where another engine took the attempt over."""
    wake = Waker((signal.SIGCHLD, signal.SIGTERM, signal.SIGUSR1))
    adopt_orphans()
    folder = request["folder"]
    lock = os.open(os.path.join(folder, "lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return 75
    if os.path.exists(os.path.join(folder, "ended")):
        return 75
    started = time.time()
    record: dict[str, Any] = {"started": started, "reason": "exited", "exit": None, "message": ""}
    record["digest"] = request["digest"]
    try:
        prepare(request)
        step = Step(request, wake)
        record.update(step.run())
        if record["reason"] == "exited" and record["exit"] == 0:
            record.update(collect(request))
    except (OSError, content.ContentError, CollectError) as error:
        record.update(reason="error", message=str(error))
    if record["reason"] == "stopped":
        clean(request)
        return 75
    if record["reason"] != "exited" or record["exit"] != 0:
        record["log"] = tail(os.path.join(folder, "log"))
    clean(request)
    record["finished"] = time.time()
    write_record(folder, record, bool(request.get("fsync")))
    return 0


def prepare(request: dict[str, Any]) -> None:
    """Make the folders of the attempt and put copies of its input artifacts where it expects them."""
    for path in request["make"]:
        os.makedirs(path, exist_ok=True)
    for path in request["clear"]:
        content.remove(path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
    for file in request["files"]:
        os.makedirs(os.path.dirname(file["path"]), exist_ok=True)
        handle = os.open(file["path"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8", errors="surrogateescape", newline="") as writing:
            writing.write(file["text"])
    for given in request["inputs"]:
        content.give(request["artifacts"], given["ref"], given["path"])
        if given.get("mode") is not None:
            os.chmod(given["path"], given["mode"])
    for link in request["links"]:
        if not os.path.islink(link["path"]):
            os.makedirs(os.path.dirname(link["path"]), exist_ok=True)
            os.symlink(link["target"], link["path"])


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
        while self.status is None:
            self.wait()
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
            os.write(tell, f"{self.request['command'][0]!r} can't be started: {error}".encode())
        finally:
            os._exit(127)

    def wait(self, longest: float | None = None) -> None:
        """Wait for the next thing to happen, and deal with it."""
        now = time.monotonic()
        ends = [each - now for each in (self.end_at, self.kill_at) if each is not None]
        timeout = min([*ends, *([] if longest is None else [longest])], default=None)
        ready, _, _ = select.select([self.wake.pipe, *self.pipes], [], [], None if timeout is None else max(timeout, 0))
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
            longest = min(len(self.secrets[0]) - 1, len(text))
            held = next((n for n in range(longest, 0, -1) if any(s.startswith(text[-n:]) for s in self.secrets)), 0)
        self.kept = text[len(text) - held :]
        write_all(self.log, text[: len(text) - held])


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


# ---- after the step


class CollectError(Exception):
    """An output that can't be taken; the message says which and what to do."""


def collect(request: dict[str, Any]) -> dict[str, Any]:
    """Read the values and keep the files that the step was to leave."""
    parameters: dict[str, str] = {}
    artifacts: dict[str, Any] = {}
    for output in request["outputs"]:
        name, path = output["name"], output["path"]
        if not os.path.lexists(path):
            if output.get("optional"):
                continue
            raise CollectError(f"the output {name!r} was not written: {path} is not there")
        if output["kind"] == "parameter":
            parameters[name] = read_value(name, path, request["limit"])
        else:
            artifacts[name] = content.keep(request["artifacts"], path, move=True, fsync=bool(request.get("fsync")))
    return {"parameters": parameters, "artifacts": artifacts}


def read_value(name: str, path: str, limit: int) -> str:
    with open(path, "rb") as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        size = os.path.getsize(path)
        raise CollectError(
            f"the output {name!r} is {size} bytes long, and a value can have {limit}: make it an artifact "
            "(Path), or return couler.spill(value)"
        )
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise CollectError(f"the output {name!r} is not UTF-8 text ({error}): make it an artifact (Path)") from None


def clean(request: dict[str, Any]) -> None:
    """Delete what only the step needed."""
    for path in request["clean"]:
        content.remove(path)


def tail(path: str) -> str:
    with open(path, "rb") as file:
        file.seek(0, os.SEEK_END)
        file.seek(max(0, file.tell() - TAIL))
        return file.read().decode("utf-8", "replace")


def write_record(folder: str, record: dict[str, Any], fsync: bool) -> None:
    temporary = os.path.join(folder, "record.tmp")
    with open(temporary, "w", encoding="utf-8") as file:
        json.dump(record, file)
        file.flush()
        if fsync:
            os.fsync(file.fileno())
    os.rename(temporary, os.path.join(folder, "record"))
    if fsync:
        content.sync(folder)


def main() -> None:
    requests, reports, content_path = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    os.setsid()
    load_content(content_path)
    if sys.platform == "linux":
        import ctypes  # noqa: F401 - loaded here once, for all supervisors
    serve(socket.socket(fileno=requests), socket.socket(fileno=reports))


if __name__ == "__main__":
    main()
