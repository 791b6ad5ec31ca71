"""The process that hands out shards: `python -m couler_py.steps.dlrm.sharding.master FOLDER [HOST [PARENT]]`.

`FOLDER/settings.json` says what is handed out; the journal, the token and the address lie beside it. One thread serves
all workers: it reads what has come, does it, writes it down with one fsync for all, and answers. It can be killed at
any time: another one that is started on the folder goes on, at the same address where that is free. With the process
that has started it, PARENT, it ends: nobody else would end it where that was killed.
"""

from __future__ import annotations

import hmac
import os
import secrets
import selectors
import signal
import socket
import sys
import time
from pathlib import Path

import msgspec

from couler_py.steps.checkpoint.places import Folder
from couler_py.steps.dlrm.sharding import wire
from couler_py.steps.dlrm.sharding.journal import Journal
from couler_py.steps.dlrm.sharding.machine import Machine
from couler_py.steps.dlrm.sharding.messages import Lost, Reply, Request
from couler_py.steps.dlrm.sharding.settings import Settings
from couler_py.store.faults import reach

SETTINGS = "settings.json"
PROOF = wire.NONCE + 32
PAUSE = 0.01  # seconds until it is tried again to accept somebody, where no more files can be opened
STRANGERS = 128
"""How many may be connected who haven't shown the token: others come again, as workers do."""
LOOK = 0.5  # the most seconds between two looks at who was not heard of, and whether it is time to stop


class _Peer:
    """A connection: what has come of a message, and whether the other side has shown that it knows the token."""

    def __init__(self, sock: socket.socket):
        self.sock = sock
        self.nonce = secrets.token_bytes(wire.NONCE)
        self.known = False
        self.since = time.monotonic()
        self.data = bytearray()
        self.outgoing = bytearray(self.nonce)

    def messages(self) -> list[bytes]:
        """The whole messages that have come. Raises `ConnectionError` for one that is too long."""
        found = []
        while len(self.data) >= wire.LENGTH:
            size = int.from_bytes(self.data[: wire.LENGTH], "big")
            if size > wire.LARGEST:
                raise ConnectionError(f"a message of {size} bytes")
            if len(self.data) < wire.LENGTH + size:
                break
            found.append(bytes(self.data[wire.LENGTH : wire.LENGTH + size]))
            del self.data[: wire.LENGTH + size]
        return found


class Master:
    """A machine, its journal, and the workers that are connected."""

    def __init__(self, folder: Path, host: str = "127.0.0.1", parent: int | None = None):
        self._parent = parent
        settings = msgspec.json.decode((folder / SETTINGS).read_bytes(), type=Settings)
        self._journal = Journal(folder)
        self._machine = Machine(settings, self._journal.state)
        for request in self._journal.requests:
            self._machine.apply(request)
        self._token = wire.token_of(folder)
        self._lease = settings.lease
        now = time.monotonic()
        self._heard = dict.fromkeys(self._machine.state.generations, now)  # who lived then has a lease's time
        self._selector = selectors.DefaultSelector()
        self._listening = _listening(folder, host)
        self._selector.register(self._listening, selectors.EVENT_READ)
        self._over = False

    def stop(self, *_: object) -> None:
        """End after what is being done."""
        self._over = True

    def serve(self) -> None:
        """Serve until told to stop, or until nobody is left who would."""
        while not self._over and self._parent in (None, os.getppid()):
            waiting: list[tuple[_Peer, Reply]] = []
            changes: list[Request] = []
            for key, events in self._selector.select(min(LOOK, self._lease / 4)):
                if key.data is None:
                    self._accept()
                elif events & selectors.EVENT_WRITE:
                    self._send(key.data)
                else:
                    self._read(key.data, waiting, changes)
            self._expire(changes)
            if changes:
                reach("sharding.applied")
                self._journal.append(changes)
            for peer, reply in waiting:
                peer.outgoing += wire.framed(reply)
                self._send(peer)
                reach("sharding.answered")
            if changes:
                self._journal.compact(lambda: self._machine.state)
        self._journal.close()

    def _accept(self) -> None:
        try:
            sock, _ = self._listening.accept()
        except (BlockingIOError, ConnectionError):  # it was gone already
            return
        except OSError:  # as many files are open as may be: it waits in the kernel's queue, and others are served
            time.sleep(PAUSE)
            return
        if self._strangers() >= STRANGERS:
            sock.close()
            return
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        peer = _Peer(sock)
        self._selector.register(sock, selectors.EVENT_READ, peer)
        self._send(peer)

    def _strangers(self) -> int:
        """How many are connected that haven't shown the token."""
        return sum(key.data is not None and not key.data.known for key in self._selector.get_map().values())

    def _read(self, peer: _Peer, waiting: list[tuple[_Peer, Reply]], changes: list[Request]) -> None:
        try:
            data = peer.sock.recv(1 << 16)
            if not data:
                raise ConnectionError("it is gone")
            peer.data += data
            if not peer.known and not self._proved(peer):
                return
            for message in peer.messages():
                request = msgspec.json.decode(message, type=Request)
                if isinstance(request.command, Lost):
                    raise ConnectionError("who is lost is for the master to say")
                waiting.append((peer, self._done(request, changes)))
        except (BlockingIOError, InterruptedError):
            return
        except (OSError, msgspec.DecodeError):  # what speaks otherwise is no worker
            self._drop(peer)

    def _proved(self, peer: _Peer) -> bool:
        if len(peer.data) < PROOF:
            return False
        theirs, shown = bytes(peer.data[: wire.NONCE]), bytes(peer.data[wire.NONCE : PROOF])
        if not hmac.compare_digest(shown, wire.proof(self._token, b"worker", peer.nonce, theirs)):
            raise ConnectionError("it doesn't know the token")
        del peer.data[:PROOF]
        peer.known = True
        peer.outgoing += wire.proof(self._token, b"master", peer.nonce, theirs)
        self._send(peer)
        return True

    def _done(self, request: Request, changes: list[Request]) -> Reply:
        reply, changed = self._machine.apply(request)
        if changed:
            changes.append(request)
        if changed or self._machine.state.generations.get(request.worker) == request.generation:
            self._heard[request.worker] = time.monotonic()
        return reply

    def _expire(self, changes: list[Request]) -> None:
        """Give to others what workers hold that were not heard of, and close what never showed the token."""
        now = time.monotonic()
        for worker, generation in list(self._machine.state.generations.items()):
            if now - self._heard.setdefault(worker, now) > self._lease:
                lost = Request(worker, generation, 0, Lost())
                self._machine.apply(lost)
                changes.append(lost)
        self._heard = {name: when for name, when in self._heard.items() if name in self._machine.state.generations}
        for key in list(self._selector.get_map().values()):
            if key.data is not None and not key.data.known and now - key.data.since > wire.WAIT:
                self._drop(key.data)

    def _send(self, peer: _Peer) -> None:
        if peer.sock.fileno() < 0:  # it was dropped since it asked
            return
        try:
            while peer.outgoing:
                del peer.outgoing[: peer.sock.send(peer.outgoing)]
        except BlockingIOError:
            pass
        except OSError:
            self._drop(peer)
            return
        self._selector.modify(peer.sock, selectors.EVENT_WRITE if peer.outgoing else selectors.EVENT_READ, peer)

    def _drop(self, peer: _Peer) -> None:
        if peer.sock.fileno() >= 0:
            self._selector.unregister(peer.sock)
            peer.sock.close()


def _listening(folder: Path, host: str) -> socket.socket:
    """A socket at the address that this master had before, or at another one where that was taken."""
    path = folder / wire.ADDRESS
    before = msgspec.json.decode(path.read_bytes(), type=wire.Address).port if path.exists() else 0
    try:
        sock = socket.create_server((host, before))
    except OSError:
        sock = socket.create_server((host, 0))
    sock.setblocking(False)
    shown = socket.getfqdn() if host in ("", "0.0.0.0", "::") else host  # noqa: S104 - compared, not bound
    Folder(folder).swap(wire.ADDRESS, msgspec.json.encode(wire.Address(shown, sock.getsockname()[1])))
    return sock


def main(folder: str, host: str = "127.0.0.1", parent: str = "") -> None:
    """Serve until a signal says that it is enough."""
    master = Master(Path(folder), host, int(parent) if parent else None)
    signal.signal(signal.SIGTERM, master.stop)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    master.serve()


if __name__ == "__main__":
    main(*sys.argv[1:])
