"""An attempt begins: it is claimed, and its process started. Standard library only."""

from __future__ import annotations

import fcntl
import os
import signal
import traceback
from typing import TYPE_CHECKING

from couler_py.backends.local.warden import collecting, preparing, processes
from couler_py.store import content, faults

if TYPE_CHECKING:
    from couler_py.backends.local.warden.warden import Warden
    from couler_py.backends.local.warden.watched import Attempt


def claim(attempt: Attempt) -> bool:
    """Become the one that looks after an attempt; False where an engine has taken it over."""
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
    process = os.open(os.path.join(attempt.folder, "process"), flags, 0o600)
    attempt.handles.append(process)
    try:
        fcntl.flock(process, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return not os.path.exists(os.path.join(attempt.folder, "ended"))


def start(warden: Warden, attempt: Attempt) -> None:
    """Start the process of an attempt, or have it forked. Raises `OSError`, `ContentError`, `StartError`."""
    request = attempt.request
    outputs = warden.pipes.open(attempt)
    if request.get("timeout") is not None:
        warden.after(attempt, request["timeout"], lambda: warden.end(attempt, "timeout"))
    if "zygote" in request:
        warden.zygotes.fork(attempt, attempt.handles.pop(0), outputs)
        return
    try:
        if processes.SPAWNS and preparing.is_quick(request):
            preparing.prepare(request)
            warden.running(attempt, processes.killed_first(lambda: processes.spawn(request, outputs)))
            faults.reach("attempt.spawned")
            born = processes.start_time(attempt.pid)
            os.write(attempt.handles[-1], f"{attempt.pid} {born} {warden.me} {warden.born}\n".encode())
            faults.reach("attempt.started")
        else:
            warden.running(attempt, _fork(warden, attempt, outputs))
    finally:
        for handle in set(outputs):
            os.close(handle)


def _fork(warden: Warden, attempt: Attempt, outputs: tuple[int, int]) -> int:
    """Start a step by a copy of this process, which first makes its preparations, however long they take."""
    pid = processes.killed_first(copied)
    if pid:
        faults.reach("attempt.forked")
        return pid
    try:
        highest = max(processes.descriptors())
        processes.detach(attempt.folder, f"{warden.me} {warden.born}", (warden.me,), outputs, highest)
        preparing.prepare(attempt.request)
        processes.become(attempt.request)
    except (OSError, content.ContentError, processes.StartError) as error:
        collecting.condemn(attempt.folder, error)
    except BaseException:
        traceback.print_exc()
    os._exit(127)


def copied() -> int:
    """Fork. The child hears no signals as a warden would: what it is sent from now on is for the step."""
    signal.pthread_sigmask(signal.SIG_BLOCK, processes.DEFAULTS)
    pid = os.fork()
    if not pid:
        signal.set_wakeup_fd(-1)
        for number in processes.DEFAULTS:
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, processes.DEFAULTS)
    return pid
