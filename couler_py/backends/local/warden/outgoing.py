"""Messages on their way to a process that may take none now, or ever again: whoever sends them never waits."""

from __future__ import annotations

import asyncio
import os
import socket
from collections import deque
from collections.abc import Sequence

from couler_py.backends.local.warden import messages


class Outgoing:
    """What is sent through one socket, in its order; what the socket doesn't take at once is sent when it does."""

    def __init__(self, channel: socket.socket):
        self._channel = channel
        self._unsent: deque[tuple[bytes, list[int]]] = deque()
        channel.setblocking(False)

    def put(self, data: bytes, handles: Sequence[int] = ()) -> None:
        """Send one message with copies of some descriptors. Raises `OSError` where nobody is at the other end."""
        message = messages.framed(data)
        count = 0 if self._unsent else self._send(message, handles)
        if count == len(message):
            return
        if not self._unsent:
            asyncio.get_running_loop().add_writer(self._channel.fileno(), self._go_on)
        # The descriptors go with the first byte; who sent them may close its own before that.
        self._unsent.append((message[count:], [] if count else [os.dup(handle) for handle in handles]))

    def close(self) -> None:
        """Send no more."""
        if self._unsent:
            asyncio.get_running_loop().remove_writer(self._channel.fileno())
        for _, handles in self._unsent:
            messages.close(handles)
        self._unsent.clear()
        self._channel.close()

    def _go_on(self) -> None:
        while self._unsent:
            message, handles = self._unsent[0]
            try:
                count = self._send(message, handles)
            except OSError:  # nobody is there, as is seen where the answers are read
                count = len(message)
            if count:
                messages.close(handles)
                self._unsent[0] = (message[count:], [])
            if count < len(message):
                return
            self._unsent.popleft()
        asyncio.get_running_loop().remove_writer(self._channel.fileno())

    def _send(self, message: bytes, handles: Sequence[int]) -> int:
        try:
            return socket.send_fds(self._channel, [message], handles) if handles else self._channel.send(message)
        except BlockingIOError:
            return 0
