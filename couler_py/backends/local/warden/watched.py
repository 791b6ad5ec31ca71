"""One attempt as its warden watches it, and how it is recorded in the end. Standard library only."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
import traceback
from typing import Any, NoReturn

from couler_py.backends.local.warden import collecting
from couler_py.backends.local.warden.streams import Redactor


class Attempt:
    """One attempt, from its request to its record."""

    def __init__(self, request: dict[str, Any], locks: list[int]):
        self.request = request
        self.id: str = request["id"]
        self.folder: str = request["folder"]
        self.handles = locks  # open as long as it goes on
        self.pid = 0  # of its process and of its group; 0 before there is one
        self.running = False
        self.ended = False
        self.killed = False
        self.reason = ""  # why it was asked to end: "stopped" or "timeout"
        self.outcome: dict[str, Any] = {}
        self.pipes: dict[int, Redactor] = {}
        self.timers: list[int] = []
        self.started = time.time()


def made(path: str | None) -> int | None:
    """A new file for what a step prints, where that is an output."""
    return None if path is None else os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)


def how(attempt: Attempt, code: int) -> dict[str, Any]:
    """How a step's process ended."""
    reason = attempt.reason or "exited"
    if reason == "stopped" and code == 0:
        reason = "exited"
    if reason == "timeout":
        message = f"timed out after {attempt.request['timeout']:g} seconds"
    elif code < 0:
        message = f"ended by signal {signal_name(-code)}"
    else:
        message = f"exit code {code}" if code else ""
    return {"reason": reason, "exit": code, "message": message}


def signal_name(number: int) -> str:
    """What a signal is called; some are only numbers."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)


def used(cpu: float, memory: int) -> dict[str, float]:
    """What a process used, in seconds and bytes, from what the system says of it."""
    unit = 1 if sys.platform == "darwin" else 1024  # getrusage(2): bytes on macOS, KiB on Linux
    return {"cpu": round(cpu, 6), "memory": memory * unit}


def collector(attempt: Attempt, record: dict[str, Any]) -> NoReturn:
    """What a forked warden does for an attempt that leaves much. It holds the attempt's lock as long as it lives."""
    try:
        collecting.finish(attempt.request, record)
    except BaseException:
        say_failed(attempt)
    os._exit(0)


def say_failed(attempt: Attempt) -> None:
    """Write the error that is being handled to the log of an attempt."""
    with contextlib.suppress(OSError), open(os.path.join(attempt.folder, "log"), "a") as log:
        log.write("couler: what looks after this step failed\n")
        traceback.print_exc(file=log)
