"""The process of a step: started in a session of its own, found again, ended with all that it started. Stdlib only."""

from __future__ import annotations

import contextlib
import errno
import functools
import os
import signal
import sys
from collections.abc import Iterator
from typing import Any, NoReturn

MARK = "COULER_ATTEMPT"
"""The variable in the environment of every step with the folder of its attempt: whose a stray process is."""

PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h
OOM_FIRST, OOM_MOST = 500, 1000  # of -1000 to 1000 (proc(5), oom_score_adj): what the kernel ends first has most
DEFAULTS = (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD, signal.SIGUSR1, signal.SIGPIPE, signal.SIGXFSZ)
"""Signals that Python or a warden treats in ways of its own, and a new program does not."""

LINUX = sys.platform == "linux"

SPAWNS = LINUX and hasattr(os, "posix_spawn")
"""Whether programs are started without a copy of this process: a third of the cost. What marks a step as ours must
then stand in its environment, which other processes can read on Linux alone."""


class StartError(Exception):
    """Why a step's process couldn't be started."""


def spawn(request: dict[str, Any], outputs: tuple[int, int]) -> int:
    """Start a step's program in its working folder, and give its id. Raises `StartError`."""
    command, environment = request["command"], request["env"]
    streams = [(os.POSIX_SPAWN_DUP2, nothing(), 0)]
    streams += [(os.POSIX_SPAWN_DUP2, handle, number) for number, handle in enumerate(outputs, 1)]
    problem: Exception | None = None
    try:
        os.chdir(request["directory"])  # a program starts where its parent is: this process has one thread
        for path in places(command[0], environment):
            try:
                return os.posix_spawn(
                    path, command, environment, file_actions=streams, setsid=True, setsigmask=(), setsigdef=DEFAULTS
                )
            except (FileNotFoundError, NotADirectoryError) as error:
                problem = problem or error
            except (OSError, ValueError) as error:
                problem = error
    except OSError as error:
        problem = error
    finally:
        os.chdir(os.sep)
    raise StartError(why(request, problem)) from None


def places(command: str, environment: dict[str, str]) -> list[str]:
    """The files that a command may mean, as execvpe(3) looks for them: of several, those that are there.

    Looking is cheap, and trying to start what isn't there is a process for each folder of a long PATH.
    """
    if os.sep in command:
        return [command]
    paths = [os.path.join(folder, command) for folder in environment.get("PATH", os.defpath).split(os.pathsep)]
    return [path for path in paths if os.path.exists(path)] or paths[:1]


def become(request: dict[str, Any]) -> NoReturn:
    """Turn this forked process into a step's program. Raises `StartError`."""
    try:
        os.chdir(request["directory"])
        os.execvpe(request["command"][0], request["command"], request["env"])
    except (OSError, ValueError) as error:
        raise StartError(why(request, error)) from None


def why(request: dict[str, Any], error: Exception | None) -> str:
    """Why a program can't be started, and what to do."""
    command, directory = request["command"][0], request["directory"]
    if isinstance(error, FileNotFoundError):
        missing = directory if error.filename == directory else command
        return f"{missing!r} is not here: a step runs as a process, with the programs of this machine"
    said = str(error)
    if isinstance(error, OSError) and error.errno == errno.E2BIG:
        said = "its inputs are more than this machine hands to a process: let it take large ones as files (Path)"
    return f"{command!r} can't be started: {said}"


@functools.cache
def nothing() -> int:
    """A descriptor to read nothing from."""
    return os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)


def detach(folder: str, warden: str, parent: int, outputs: tuple[int, int]) -> None:
    """Make this forked process a step's own: its session, its streams, its record, and no other descriptor.

    `warden` is its id and start time. Where the parent is gone by now nobody would watch this process: it ends.
    """
    os.setsid()
    os.dup2(nothing(), 0)
    os.dup2(outputs[0], 1)
    os.dup2(outputs[1], 2)
    for name in os.listdir("/dev/fd"):
        if int(name) > 2:
            with contextlib.suppress(OSError):  # the one that listed them is closed
                os.close(int(name))
    me = os.getpid()
    process = os.open(os.path.join(folder, "process"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.write(process, f"{me} {start_time(me)} {warden}\n".encode())
    os.close(process)
    if os.getppid() != parent:
        os._exit(127)
    if LINUX:
        kill_first()


def kill_first() -> None:
    """Have the kernel end this forked process before its warden where memory is short."""
    with contextlib.suppress(OSError):
        handle = os.open("/proc/self/oom_score_adj", os.O_RDWR)
        os.write(handle, b"%d" % min(int(os.read(handle, 16)) + OOM_FIRST, OOM_MOST))
        os.close(handle)


@contextlib.contextmanager
def killed_first() -> Iterator[None]:
    """Have the kernel end what is spawned meanwhile before this process: it inherits the order from its first instant.

    A process may always offer itself, and, without any right, take back what it has offered.
    """
    scores = _scores()
    if scores is None:
        yield
        return
    file, own, first = scores
    os.pwrite(file, first, 0)
    try:
        yield
    finally:
        os.pwrite(file, own, 0)


@functools.cache
def _scores() -> tuple[int, bytes, bytes] | None:
    """The file with this process's place in that order, what stands in it, and what is to stand there for steps."""
    try:
        file = os.open("/proc/self/oom_score_adj", os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return None
    own = int(os.pread(file, 100, 0))
    return file, b"%d" % own, b"%d" % min(own + OOM_FIRST, OOM_MOST)


def start_time(pid: int) -> str:
    """When a process started, in the system's own measure: with the id, it names a process for ever."""
    if LINUX:
        try:
            handle = os.open(f"/proc/{pid}/stat", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return ""
        try:
            return os.read(handle, 4096).rpartition(b")")[2].split()[19].decode()
        except OSError:
            return ""
        finally:
            os.close(handle)
    import subprocess

    done = subprocess.run(["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return done.stdout.strip().replace(" ", "_")


def signal_group(pid: int, number: int) -> bool:
    """Send a signal to a step's group; whether there was anybody to hear it."""
    try:
        os.killpg(pid, number)
    except ProcessLookupError:
        return False
    except PermissionError:
        return False  # macOS: only zombies are left
    return True


# ---- what gets away


def adopt_orphans() -> None:
    """Have descendants whose parents ended become children of this process, so that none gets away (Linux)."""
    if LINUX:
        import ctypes

        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


class Children:
    """The children of this process, adopted ones included; none where the system doesn't say."""

    def __init__(self) -> None:
        self._file: int | None = None
        with contextlib.suppress(OSError):
            me = os.getpid()
            self._file = os.open(f"/proc/{me}/task/{me}/children", os.O_RDONLY | os.O_CLOEXEC)

    def pids(self) -> list[int]:
        """Their ids."""
        if self._file is None:
            return []
        found, start = b"", 0
        while True:
            part = os.pread(self._file, 1 << 16, start)
            found += part
            start += len(part)
            if len(part) < 1 << 15:  # the system gives a page, or more, where there is more
                return [int(pid) for pid in found.split()]


def owner(pid: int) -> str:
    """The folder of the attempt in whose environment a process was started; "" where it can't be told."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            variables = file.read().split(b"\0")
    except OSError:
        return ""
    mark = f"{MARK}=".encode()
    return next((os.fsdecode(each[len(mark) :]) for each in variables if each.startswith(mark)), "")


def marked(folder: str) -> Iterator[int]:
    """The processes whose environment says that they belong to an attempt, or to one in a folder (Linux)."""
    if not LINUX:
        return
    for name in os.listdir("/proc"):
        if name.isdigit():
            found = owner(int(name))
            if found == folder or found.startswith(folder + os.sep):
                yield int(name)
