"""Watching a run that this command started or steers, and what Ctrl-C does meanwhile."""

from __future__ import annotations

import json
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType, GeneratorType
from typing import Any

import typer

from couler_py.backends.base import Client, RunStatus
from couler_py.cli import exits
from couler_py.cli.console import console
from couler_py.cli.live import follow
from couler_py.ir.wire import finite

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""What stops a run of this process: Ctrl-C, whoever shuts the machine or the service down, a closed terminal."""


def watch(client: Client, start: Callable[[], str], *, as_json: bool = False) -> None:
    """Start a run, show it until it ends, print its JSON if asked, and end the command with the exit code for that.

    Ctrl-C stops a run that works in this process and waits for it, a second one ends its steps at once;
    of any other run it only ends the watching.
    """
    interrupts = _Interrupts()
    try:
        with interrupts.caught():
            run = start()
            _follow(interrupts, interrupts.passed_on(client.watch(run)), quiet=as_json)
    except KeyboardInterrupt:
        console(stderr=True).print(f"no longer watching; {run} goes on: `couler watch {run}`")
        raise
    status = client.status(run)
    if as_json:
        sys.stdout.write(to_json(status.as_json()))
    if interrupts.count and status.status == "Stopped":
        console(stderr=True).print(f"stopped; `couler resume {run}` goes on with it")
        raise typer.Exit(exits.INTERRUPTED)
    if status.status != "Succeeded":
        raise typer.Exit(exits.FAILED)


def _follow(interrupts: _Interrupts, statuses: Iterator[RunStatus], *, quiet: bool) -> None:
    try:
        follow(statuses, quiet=quiet, hint=interrupts.hint)
    except OSError:
        if not interrupts.count:
            raise
        follow(statuses, quiet=True)  # the terminal was closed; the run has still to be stopped


class _Interrupts:
    """Ctrl-C and its like, handed to the engine's own `watch` wherever in this program it arrives."""

    def __init__(self) -> None:
        self.count = 0
        self._pending = False
        self._watching: GeneratorType[RunStatus, None, None] | None = None

    def hint(self) -> str:
        """What to tell the person meanwhile."""
        return "stopping; Ctrl-C again ends everything at once" if self.count else ""

    @contextmanager
    def caught(self) -> Iterator[None]:
        """Take the signals over. Elsewhere than in the main thread there is none to take."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        # What is ignored (nohup) stays so.
        before = {number: signal.getsignal(number) for number in SIGNALS}
        taken = [number for number in SIGNALS if before[number] is not signal.SIG_IGN]
        for number in taken:
            signal.signal(number, self._arrived)
        try:
            yield
        finally:
            for number in taken:
                signal.signal(number, before[number])

    def _arrived(self, _number: int, frame: FrameType | None) -> None:
        self.count += 1
        inside = self._watching.gi_frame if self._watching is not None else None
        while frame is not None:
            if frame is inside:
                raise KeyboardInterrupt
            frame = frame.f_back
        # While something is drawn: the engine hears of it before its next status is asked for.
        self._pending = True

    def passed_on(self, statuses: Iterator[RunStatus]) -> Iterator[RunStatus]:
        """The statuses; a Ctrl-C that came between two of them is raised where the engine waits."""
        if not isinstance(statuses, GeneratorType):
            yield from statuses
            return
        self._watching = statuses
        begun = False  # what hasn't begun can't be interrupted
        while True:
            try:
                if self._pending and begun:
                    self._pending = False
                    status = statuses.throw(KeyboardInterrupt())
                else:
                    begun = True
                    status = next(statuses)
            except StopIteration:
                return
            yield status


def to_json(value: Any) -> str:
    """JSON text that every reader takes: numbers that aren't finite are the strings "NaN", "Infinity", "-Infinity"."""
    return json.dumps(finite(value), indent=2, ensure_ascii=False) + "\n"
