"""The runtime's clients that a conductor has running: what they say, when they end. Standard library only."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeAlias

TAIL = 4000  # bytes of what a client said on standard error that are remembered
PAUSE = 0.05  # seconds between two looks at what tells nobody when it changes
Sink: TypeAlias = Callable[[bytes], None]


class Called(NamedTuple):
    """How a client ended, and what it said."""

    code: int
    out: bytes
    said: str


class Client:
    """One running client; `code` once it has ended."""

    def __init__(self, process: subprocess.Popen[bytes]):
        self.process = process
        self.code: int | None = None
        self.said = b""
        self.streams: dict[int, Sink] = {}

    def hear(self, data: bytes) -> None:
        self.said = (self.said + data)[-TAIL:]


class Clients:
    """Starts clients and waits for whatever happens next: output, an end, a signal."""

    def __init__(self, environment: Mapping[str, str]):
        self.environment = dict(environment)
        self.asked_to_end = False
        self._running: list[Client] = []
        self._selector = selectors.DefaultSelector()
        self._wake, self._writer = os.pipe()
        for end in (self._wake, self._writer):
            os.set_blocking(end, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGTERM, self._end)
        signal.set_wakeup_fd(self._writer, warn_on_full_buffer=False)
        self._selector.register(self._wake, selectors.EVENT_READ, lambda: os.read(self._wake, 4096))

    def _end(self, *_: object) -> None:
        self.asked_to_end = True

    def start(
        self,
        command: list[str],
        *,
        more: Mapping[str, str] | None = None,
        keep: tuple[int, ...] = (),
        out: Sink | None = None,
        said: Sink | None = None,
    ) -> Client:
        """Start a client. Its standard output is this process's own without `out`; `said` hears standard error too.

        It has a session of its own, so that signals to this process's group don't reach it.
        """
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=None if out is None else subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self.environment | dict(more or {}),
            pass_fds=keep,
            start_new_session=True,
        )
        client = Client(process)
        assert process.stderr is not None
        self._listen(client, process.stderr.fileno(), client.hear if said is None else both(client.hear, said))
        if out is not None:
            assert process.stdout is not None
            self._listen(client, process.stdout.fileno(), out)
        self._running.append(client)
        return client

    def _listen(self, client: Client, handle: int, sink: Sink) -> None:
        os.set_blocking(handle, False)
        client.streams[handle] = sink
        self._selector.register(handle, selectors.EVENT_READ, lambda: self._read(client, handle))

    def _read(self, client: Client, handle: int) -> bool:
        """Pass on what there is to read; whether there was something."""
        try:
            data = os.read(handle, 1 << 16)
        except BlockingIOError:
            return False
        client.streams[handle](data)
        if not data:
            self._selector.unregister(handle)
            del client.streams[handle]
        return bool(data)

    def watch(self, handle: int, happened: Callable[[], None]) -> None:
        """Call a function whenever a descriptor can be read."""
        self._selector.register(handle, selectors.EVENT_READ, happened)

    def turn(self, longest: float | None = None) -> None:
        """Wait for the next thing to happen, at most some seconds, and deal with it."""
        for key, _ in self._selector.select(longest):
            with contextlib.suppress(BlockingIOError):
                key.data()
        for client in [each for each in self._running if each.process.poll() is not None]:
            self._ended(client)

    def _ended(self, client: Client) -> None:
        # All that it said is in its pipes by now; who else holds them open isn't waited for.
        for handle in list(client.streams):
            while self._read(client, handle):
                pass
        for handle in list(client.streams):
            self._selector.unregister(handle)
            client.streams.pop(handle)(b"")
        for stream in (client.process.stdout, client.process.stderr):
            if stream is not None:
                stream.close()
        client.code = client.process.returncode
        self._running.remove(client)

    def wait(self, client: Client) -> int:
        """Wait until a client has ended."""
        while client.code is None:
            self.turn()
        return client.code

    def pause(self, seconds: float) -> None:
        """Deal with what happens for some seconds, or until this process is asked to end."""
        end = time.monotonic() + seconds
        while not self.asked_to_end and (left := end - time.monotonic()) > 0:
            self.turn(left)

    def call(self, command: list[str]) -> Called:
        """Run a client to its end, and give what it said."""
        heard: list[bytes] = []
        client = self.start(command, out=heard.append)
        code = self.wait(client)
        return Called(code, b"".join(heard), client.said.decode("utf-8", "replace").strip())


def both(first: Sink, second: Sink) -> Sink:
    """A sink that passes on to two."""

    def sink(data: bytes) -> None:
        first(data)
        second(data)

    return sink


def to(handle: int) -> Sink:
    """A sink that writes to a descriptor."""

    def sink(data: bytes) -> None:
        while data:
            data = data[os.write(handle, data) :]

    return sink


def named(handle: int, name: str) -> Sink:
    """A sink that writes lines to a descriptor, each behind a name."""
    kept = bytearray()
    write = to(handle)

    def sink(data: bytes) -> None:
        kept.extend(data)
        if data:
            whole = kept.rfind(b"\n") + 1
        else:
            if kept and not kept.endswith(b"\n"):
                kept.extend(b"\n")
            whole = len(kept)
        lines = bytes(kept[:whole]).splitlines(keepends=True)
        del kept[:whole]
        write(b"".join(name.encode() + b" | " + line for line in lines))

    return sink
