"""Ctrl-C and its like while a run is watched, for the command line and for `couler.run`."""

from __future__ import annotations

import queue
import signal
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import FrameType, GeneratorType
from typing import Any, TypeVar

Told = TypeVar("Told")

HEED = 0.2
"""Seconds that a wait takes at most, and is begun anew: a signal that came right before it doesn't end it."""


def awaited(told: queue.SimpleQueue[Told]) -> Told:
    """The next of a queue, however late it comes; a signal's handler runs meanwhile, wherever the signal came.

    Python runs handlers between two steps of the main thread. A signal that arrives when that is about to wait, or in
    another thread, is heard of only when the wait is over.
    """
    while True:
        try:
            return told.get(timeout=HEED)
        except queue.Empty:
            continue


class Interrupts:
    """Signals handed to an engine's own `watch`, wherever in this program they arrive.

    `count` says how many came.
    """

    def __init__(self, numbers: Iterable[signal.Signals]) -> None:
        self.count = 0
        self._numbers = tuple(numbers)
        self._pending = False
        self._others = False
        self._watching: GeneratorType[Any, None, None] | None = None

    @contextmanager
    def caught(self) -> Iterator[None]:
        """Take the signals over. Elsewhere than in the main thread there is none to take."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        # What is ignored (nohup) stays so, and so does a handler that isn't Python's, which couldn't be put back.
        before = {number: signal.getsignal(number) for number in self._numbers}
        taken = [number for number in self._numbers if before[number] not in (signal.SIG_IGN, None)]
        for number in taken:
            signal.signal(number, self._arrived)
        try:
            yield
        finally:
            for number in taken:
                signal.signal(number, before[number])

    def passed_on(self, statuses: Iterator[Told]) -> Iterator[Told]:
        """The statuses; a signal that came between two of them is raised where the engine waits."""
        if not isinstance(statuses, GeneratorType):
            self._others = True
            if self._pending:
                raise KeyboardInterrupt
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

    def _arrived(self, _number: int, frame: FrameType | None) -> None:
        self.count += 1
        if self._others:
            raise KeyboardInterrupt
        inside = self._watching.gi_frame if self._watching is not None else None
        while frame is not None:
            if frame is inside:
                raise KeyboardInterrupt
            frame = frame.f_back
        # While something is started or drawn: the engine hears of it before its next status is asked for.
        self._pending = True
