"""One thread that waits for whatever comes first: bytes, signals, a moment of the clock. Standard library only."""

from __future__ import annotations

import contextlib
import heapq
import os
import select
import signal
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import _socket

LONGEST_WAIT = 86_400.0  # seconds; poll takes no more than about 24 days
FOR_EVER = 3.2e9  # seconds, a hundred years: a time-out may be any number, and clocks can't be


class Loop:
    """What is waited for, and what is done then."""

    def __init__(self, signals: Iterable[int], heed: Callable[[bytes], None]):
        self._poll = select.poll()
        self._readers: dict[int, Callable[[], None]] = {}
        self._outboxes: dict[int, Outbox] = {}
        self._timers: list[tuple[float, int]] = []
        self._actions: dict[int, Callable[[], None]] = {}
        self._count = 0
        self._heed = heed
        self._wake, wake = os.pipe()
        for handle in (self._wake, wake):
            os.set_blocking(handle, False)
        for number in signals:
            signal.signal(number, lambda *_: None)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        self.read_from(self._wake, self._signalled)

    def turn(self) -> None:
        """Send what is to be sent, wait for the next thing to happen, and deal with it."""
        for outbox in list(self._outboxes.values()):
            outbox.send()
        for handle, _ in self._poll.poll(self._longest()):
            reader = self._readers.get(handle)  # one before it may have had it forgotten
            if reader is not None:
                reader()
        while self._timers and self._timers[0][0] <= time.monotonic():
            action = self._actions.pop(heapq.heappop(self._timers)[1], None)
            if action is not None:
                action()

    def read_from(self, handle: int, reader: Callable[[], None]) -> None:
        """Call a function whenever there is something to read."""
        self._readers[handle] = reader
        self._poll.register(handle, select.POLLIN)

    def forget(self, handle: int) -> None:
        """Wait no more for a descriptor."""
        del self._readers[handle]
        self._poll.unregister(handle)

    def after(self, seconds: float, action: Callable[[], None]) -> int:
        """Do something later. Gives what it is called off by."""
        self._count += 1
        self._actions[self._count] = action
        heapq.heappush(self._timers, (time.monotonic() + min(seconds, FOR_EVER), self._count))
        return self._count

    def call_off(self, timer: int) -> None:
        """Don't do it any more, and forget it, with all that it would have needed."""
        self._actions.pop(timer, None)

    def outbox(self, channel: _socket.socket) -> Outbox:
        """A way to send without waiting."""
        found = self._outboxes[channel.fileno()] = Outbox(channel, self._poll, self._outboxes)
        return found

    def _longest(self) -> float | None:
        if not self._timers:
            return None
        return max(0.0, min(self._timers[0][0] - time.monotonic(), LONGEST_WAIT)) * 1000

    def _signalled(self) -> None:
        with contextlib.suppress(BlockingIOError):
            self._heed(os.read(self._wake, 4096))


class Outbox:
    """Bytes on their way to somebody who may be slow, or gone."""

    def __init__(self, channel: _socket.socket, poll: select.poll, among: dict[int, Outbox]):
        self._channel, self._poll, self._among = channel, poll, among
        self._unsent = bytearray()
        self._waits = False
        channel.setblocking(False)

    def put(self, data: bytes) -> None:
        """Send some bytes at the end of this turn."""
        self._unsent += data

    def send(self) -> None:
        """Send as much as is taken now."""
        if not self._unsent:
            return
        handle = self._channel.fileno()
        try:
            del self._unsent[: self._channel.send(self._unsent)]
        except BlockingIOError:
            pass
        except (BrokenPipeError, ConnectionResetError):  # nobody wants to know any more
            self._unsent.clear()
        if bool(self._unsent) != self._waits:
            self._waits = not self._waits
            if self._waits:
                self._poll.register(handle, select.POLLOUT)
            else:
                self._poll.unregister(handle)
