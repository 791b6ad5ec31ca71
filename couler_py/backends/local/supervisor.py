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
from typing import TYPE_CHECKING, Any

MOST_DESCRIPTORS = 253  # that come with one message: SCM_MAX_FD of linux/include/net/scm.h
TAIL = 4000  # bytes of the log's end that a failed attempt's record repeats

if TYPE_CHECKING:
    from couler_py.backends.local import processes
    from couler_py.store import content


def load(name: str, path: str) -> None:
    """Load one of our files as a global of this one, without its package, which needs installed libraries."""
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    globals()[name] = module


# ---- the spawner


def serve(requests: socket.socket, reports: socket.socket) -> None:
    """Fork a supervisor for each request, and report each that has ended, until the engine is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    wake = processes.Waker((signal.SIGCHLD,))
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
    message: dict[str, Any], locks: list[int], sockets: tuple[socket.socket, ...], wake: processes.Waker
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
    header, ancillary, _, _ = requests.recvmsg(size, socket.CMSG_SPACE(MOST_DESCRIPTORS * handles.itemsize))
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


# ---- one supervisor


def supervise(request: dict[str, Any]) -> int:
    """Run one attempt to its record. Gives 0 where there is one, 75 where another engine took the attempt over."""
    wake = processes.Waker((signal.SIGCHLD, signal.SIGTERM, signal.SIGUSR1))
    processes.adopt_orphans()
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
        step = processes.Step(request, wake)
        record.update(step.run())
        if record["reason"] == "exited" and record["exit"] == 0:
            record.update(collect(request))
        elif request.get("salvage"):
            record.update(salvage(request))
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
        if path not in request["bare"]:
            os.makedirs(os.path.dirname(path), exist_ok=True)
    for file in request["files"]:
        os.makedirs(os.path.dirname(file["path"]), exist_ok=True)
        handle = os.open(file["path"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, file.get("mode", 0o600))
        with os.fdopen(handle, "w", encoding="utf-8", errors="surrogateescape", newline="") as writing:
            writing.write(file["text"])
    for given in request["inputs"]:
        content.give(request["artifacts"], given["ref"], given["path"])
        if given.get("mode") is not None:
            os.chmod(given["path"], given["mode"])
    for link in request["links"]:
        mount(link["path"], link["target"])


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
            artifacts[name]["suffix"] = read_suffix(path)
    return {"parameters": parameters, "artifacts": artifacts}


def salvage(request: dict[str, Any]) -> dict[str, Any]:
    """What a failed step has written of its outputs: Argo lets others read that."""
    found: dict[str, Any] = {"parameters": {}, "artifacts": {}}
    for output in request["outputs"]:
        with contextlib.suppress(CollectError, OSError, content.ContentError):  # the step failed for another reason
            one = collect({**request, "outputs": [{**output, "optional": True}]})
            found["parameters"] |= one["parameters"]
            found["artifacts"] |= one["artifacts"]
    return found


def read_suffix(path: str) -> str:
    """The suffix that the file had where the step made it, which the runner leaves beside an output."""
    if not os.path.isfile(path + ".suffix"):
        return ""
    with open(path + ".suffix", encoding="utf-8", errors="replace") as file:
        suffix = file.read(20)
    return suffix if suffix[1:].isalnum() else ""


def read_value(name: str, path: str, limit: int) -> str:
    if not os.path.isfile(path):  # opening a pipe would wait for who writes to it
        raise CollectError(f"the output {name!r} is no file: {path}")
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


def mount(path: str, target: str) -> None:
    """Make a link to a volume's folder, unless another step has made the same."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    try:
        os.symlink(target, path)
    except FileExistsError:
        if not os.path.islink(path) or os.readlink(path) != target:
            raise FileExistsError(
                f"{path} exists on this machine, so a volume can't stand there for a process"
            ) from None


def clean(request: dict[str, Any]) -> None:
    """Delete what only the step needed."""
    for path in request["clean"]:
        content.remove(path)


def tail(path: str) -> str:
    if not os.path.exists(path):
        return ""  # what failed came before the step
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
    load("content", content_path)
    load("processes", os.path.join(os.path.dirname(os.path.abspath(__file__)), "processes.py"))
    if sys.platform == "linux":
        import ctypes  # noqa: F401 - loaded here once, for all supervisors
    serve(socket.socket(fileno=requests), socket.socket(fileno=reports))


if __name__ == "__main__":
    main()
