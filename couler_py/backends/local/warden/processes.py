"""The process of a step: started in a session of its own, found again, ended with all that it started. Stdlib only."""

from __future__ import annotations

import contextlib
import errno
import functools
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

MARK = "COULER_ATTEMPT"
"""The variable in the environment of every step with the folder of its attempt: whose a stray process is."""

PF_KTHREAD = 0x00200000  # linux/sched.h: a thread of the kernel itself
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
    except (OSError, ValueError) as error:
        problem = error
    finally:
        os.chdir(os.sep)
    raise StartError(why(request, problem)) from None


def places(command: str, environment: dict[str, str]) -> Iterator[str]:
    """The files that a command may mean, as execvpe(3) looks for them: those that are there, else the first.

    Looking is cheap, and trying to start what isn't there is a process for each folder of a long PATH.
    """
    if os.sep in command:
        yield command
        return
    folders = environment.get("PATH", os.defpath).split(os.pathsep)
    found = False
    for folder in folders:
        path = f"{folder or os.curdir}/{command}"
        if os.access(path, os.F_OK):
            found = True
            yield path
    if not found:
        yield f"{folders[0] or os.curdir}/{command}"


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
    """A descriptor to read nothing from, and to write what nobody wants."""
    return os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)


def descriptors() -> list[int]:
    """What this process has open."""
    return [int(name) for name in os.listdir("/dev/fd")]  # and the one that listed them, which is closed


def detach(folder: str, warden: str, parents: tuple[int, ...], outputs: tuple[int, int], highest: int) -> None:
    """Make this forked process a step's own: its session, its streams, its record, and no other descriptor.

    `warden` is its id and start time; no descriptor above the `highest` is open. Where the parent isn't one of those
    that may be, nobody would watch this process: it ends.
    """
    os.setsid()
    os.dup2(outputs[0], 1)
    os.dup2(outputs[1], 2)
    os.closerange(3, highest + 1)
    me = os.getpid()
    process = os.open(f"{folder}/process", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.write(process, f"{me} {start_time(me)} {warden}\n".encode())
    os.close(process)
    if os.getppid() not in parents:
        os._exit(127)


def written(folder: str) -> int:
    """The process of an attempt as `detach` wrote it down; 0 where it hasn't come as far."""
    with open(os.path.join(folder, "process"), "rb") as file:
        words = file.read(200).split()
    return int(words[0]) if len(words) == 4 else 0


def killed_first(start: Callable[[], int]) -> int:
    """Start a process, which the kernel ends before this one where memory is short, from its first instant on.

    `start` gives its id, or in a forked process 0. A process may always offer itself to be ended first, and, without
    any right, take back what it has offered.
    """
    known = scores()
    if known is None:
        return start()
    file, own, first = known
    os.pwrite(file, first, 0)
    pid = -1
    try:
        pid = start()
    finally:
        if pid:
            os.pwrite(file, own, 0)
    return pid


@functools.cache
def scores() -> tuple[int, bytes, bytes] | None:
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
        return _stat(pid, 19)
    import subprocess

    done = subprocess.run(["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return done.stdout.strip().replace(" ", "_")


def is_stopped(pid: int) -> bool:
    """Whether somebody has stopped a process (SIGSTOP, Ctrl-Z); never where the system doesn't say (Linux does)."""
    return LINUX and _stat(pid, 0) in ("T", "t")


def _stat(pid: int, field: int) -> str:
    """One of the words about a process behind its name (proc(5), stat); "" where there is none of this id."""
    try:
        handle = os.open(f"/proc/{pid}/stat", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        return os.read(handle, 4096).rpartition(b")")[2].split()[field].decode()
    except OSError:
        return ""
    finally:
        os.close(handle)


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
    return _owner(_environment(pid))


def marked(folder: str) -> Iterator[int]:
    """The processes whose environment says that they belong to an attempt, or to one in a folder (Linux)."""
    for pid, environment in _environments():
        if _within(folder, environment):
            yield pid


def kill_marked(folder: str, patience: float = 1.0) -> None:
    """Kill all processes that belong to an attempt, and what they start meanwhile, and wait for their end (Linux).

    Who hangs in the kernel has `patience` seconds to end after the last kill: it ends when the kernel lets it.
    """
    killed: set[int] = set()
    until = time.monotonic() + patience
    while True:
        looked = list(_environments())
        left = {pid for pid, environment in looked if _within(folder, environment)}
        for pid in left - killed:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        becoming = any(not environment and _is_becoming(pid) for pid, environment in looked)
        new = bool(left - killed)
        killed |= left
        if new:
            until = time.monotonic() + patience
        if not new and (not (left or becoming) or time.monotonic() > until):
            return
        if not new:
            time.sleep(0.001)


def _environments() -> Iterator[tuple[int, bytes]]:
    """All processes, and what their environments were when they started, as far as it can be read (Linux)."""
    if LINUX:
        for name in os.listdir("/proc"):
            if name.isdigit():
                yield int(name), _environment(int(name))


def _environment(pid: int) -> bytes:
    return _shown(pid, "environ")


def _shown(pid: int, name: str) -> bytes:
    try:
        with open(f"/proc/{pid}/{name}", "rb") as file:
            return file.read()
    except OSError:
        return b""


def _owner(environment: bytes) -> str:
    mark = f"{MARK}=".encode()
    return next((os.fsdecode(each[len(mark) :]) for each in environment.split(b"\0") if each.startswith(mark)), "")


def _within(folder: str, environment: bytes) -> bool:
    found = _owner(environment)
    return found == folder or found.startswith(folder + os.sep)


def _is_becoming(pid: int) -> bool:
    """Whether a process is in the midst of execve(2), where it shows neither an environment nor a command line."""
    flags = _stat(pid, 6)
    if flags == "" or int(flags) & PF_KTHREAD or _stat(pid, 0) in ("Z", "X"):
        return False
    return not _shown(pid, "cmdline")
