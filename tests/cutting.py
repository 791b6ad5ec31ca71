"""A TCP proxy that breaks connections, as networks do."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from collections.abc import Iterator
from urllib.parse import urlsplit


class Cutting:
    """Passes connections on to a server. The next `cuts` ones are broken after `after` bytes of a direction.

    `up` and `down` count the bytes that went through, to the server and from it.
    """

    def __init__(self, endpoint: str):
        parts = urlsplit(endpoint)
        self._server = (parts.hostname, parts.port)
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.endpoint = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        self.cuts = 0
        self.after = 0
        self.up = 0
        self.down = 0
        self.broken = 0
        self._changed = threading.Condition()
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listening.close()

    def wait_for_up(self, count: int) -> None:
        """Wait until so many bytes went to the server."""
        with self._changed:
            assert self._changed.wait_for(lambda: self.up >= count, 120)

    def _accept(self) -> None:
        with contextlib.suppress(OSError):  # closed
            while True:
                client, _ = self._listening.accept()
                server = socket.create_connection(self._server)
                for source, target, way in ((client, server, "up"), (server, client, "down")):
                    threading.Thread(target=self._pass_on, args=(source, target, way), daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket, way: str) -> None:
        passed = 0
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                passed += len(data)
                with self._changed:
                    setattr(self, way, getattr(self, way) + len(data))
                    cut = self.cuts > 0 and passed > self.after
                    if cut:
                        self.cuts -= 1
                        self.broken += 1
                    self._changed.notify_all()
                if cut:
                    break
                target.sendall(data)
        for each in (source, target):
            with contextlib.suppress(OSError):  # the other direction may be first
                # Reset, not closed in good order: what the other end has sent is lost.
                each.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                each.shutdown(socket.SHUT_RDWR)
                each.close()


@contextlib.contextmanager
def cutting(endpoint: str) -> Iterator[Cutting]:
    """A proxy before a server."""
    proxy = Cutting(endpoint)
    try:
        yield proxy
    finally:
        proxy.close()
