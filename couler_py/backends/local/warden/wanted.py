"""A step that a zygote is to fork, from the question to the word that it has its process. Standard library only."""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING

from couler_py.backends.local.warden import messages, sealed

if TYPE_CHECKING:
    from couler_py.backends.local.warden.watched import Attempt


class Wanted:
    """An attempt and what its process gets: a file without a name (see `sealed`) and its streams."""

    def __init__(self, attempt: Attempt, payload: int, outputs: tuple[int, int]):
        self.attempt = attempt
        self._payload = payload
        self._outputs = outputs

    def send(self, channel: socket.socket, number: int) -> bool:
        """Ask for it by a number; whether there was room for the question."""
        if channel.fileno() < 0:
            return True  # it is ending: another will be asked
        try:
            socket.send_fds(channel, [sealed.NUMBER.pack(number)], [self._payload, *self._outputs], socket.MSG_DONTWAIT)
        except BlockingIOError:
            return False
        except (BrokenPipeError, ConnectionResetError):  # the same, and nobody has seen it yet
            pass
        return True

    def take_back(self) -> bool:
        """See to it that no process begins it any more; False where one has."""
        if not sealed.take(self._payload):
            return False
        old, self._payload = self._payload, sealed.copied(self._payload)
        os.close(old)
        return True

    def close(self) -> None:
        """It has its process, or gets none."""
        messages.close([self._payload, *{*self._outputs}])
