"""The side of a worker: take shards, say how far they are, or draw the rows of steps; whatever becomes of the master.

A request whose answer was lost is asked again, with its number, and done once. A thread says all the while that this
worker lives.
"""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar, cast

import msgspec

from couler_py.steps.dlrm.sharding import wire
from couler_py.steps.dlrm.sharding.messages import (
    Advance,
    Ask,
    Beat,
    Command,
    Draw,
    Drawn,
    Fail,
    Join,
    Joined,
    Lease,
    Leave,
    Nothing,
    Piece,
    Refused,
    Reply,
    Request,
    Restore,
    Save,
    Saved,
    Skip,
    Status,
    Take,
)

POLL = 0.2  # seconds between two questions for a shard, where all are held
PAUSE = 0.1  # seconds between two tries to reach the master
Kind = TypeVar("Kind")


class ShardingError(RuntimeError):
    """The master refused something, or the training has failed."""


class FencedError(ShardingError):
    """This worker was taken for lost, and others train on what it held: what it has not reported must not count."""


class MasterLostError(ShardingError):
    """No master answered for too long."""


class Worker:
    """A worker, by a name that no other living one has; a new one of the same name takes its place.

    `master` is the folder of a master on this machine or on a file system that is shared, or its address, with
    `token`. Use it in a `with`, which joins and leaves; it may be left out for `status`. Threads may share it.
    """

    def __init__(
        self, master: str | os.PathLike[str] | wire.Address, name: str, *, token: bytes | None = None,
        patience: float = 60.0,
    ):  # fmt: skip
        if isinstance(master, wire.Address) != (token is not None):
            raise ValueError("a master is given by its folder, or by its address and token")
        self._master, self._token, self.name, self._patience = master, token, name, patience
        self._sock: socket.socket | None = None
        self._lock = threading.RLock()
        self._generation = self._sequence = 0
        self._fenced = ""
        self._over = threading.Event()
        self._beating: threading.Thread | None = None

    def __enter__(self) -> Worker:
        self.join()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._over.set()
        if self._beating is not None:
            self._beating.join()
        try:
            if kind is None and not self._fenced:
                with contextlib.suppress(MasterLostError):  # one that comes back takes this worker for lost, in time
                    self._asked(Leave(), object)
        finally:
            self._close()

    def join(self) -> None:
        """Begin a new life: what this name held before is given to others."""
        with self._lock:
            joined = self._asked(Join(), Joined)
            self._generation, self._sequence, self._fenced = joined.generation, 0, ""
            if self._beating is None:
                self._beating = threading.Thread(
                    target=self._beat, args=(joined.lease / 4,), name=f"{self.name} lives", daemon=True
                )
                self._beating.start()

    def leases(self) -> Iterator[Lease]:
        """Shards, one after the other, until all of them are done. Advance each to its end, or fail it.

        Raises `FencedError` where this worker was taken for lost, and `ShardingError` where the training has failed.
        """
        while True:
            found = self.take()
            if isinstance(found, Lease):
                yield found
            elif found.over:
                return
            else:
                time.sleep(POLL)

    def take(self) -> Lease | Nothing:
        """A shard, or that none is free just now; it raises what `leases` does."""
        found: Lease | Nothing = self._asked(Take(), Lease | Nothing)
        return found

    def advance(self, lease: Lease, cursor: int) -> None:
        """Say that the first `cursor` rows of a shard, in the order of training, are in the model; all: it is done.

        Raises `FencedError`, before which nothing of it may count, where this worker was taken for lost.
        """
        self._asked(Advance(lease.number, cursor), object)

    def done(self, lease: Lease) -> None:
        """Say that a whole shard is in the model."""
        self.advance(lease, lease.rows)

    def fail(self, lease: Lease, reason: str) -> None:
        """Give a shard back that this worker can't train on."""
        self._asked(Fail(lease.number, reason), object)

    def draw(self, step: int, counts: Sequence[int]) -> tuple[tuple[Piece, ...], ...]:
        """The rows of a step, counted from 1: so many for each rank, by rank. None for anybody: it is over."""
        return self._asked(Draw(step, tuple(counts)), Drawn).pieces

    def skip(self, step: int, reason: str) -> None:
        """Set aside the rest of the shard that a step would begin in."""
        self._asked(Skip(step, reason), object)

    def state(self) -> str:
        """What is to be saved in the same commit as the model."""
        return self._asked(Save(), Saved).text

    def restore(self, state: str) -> None:
        """Go back to what was saved with a model (an empty text: to the beginning); all workers have to join again."""
        with self._lock:
            until = time.monotonic() + self._patience
            while True:
                try:
                    self._asked(Restore(state), object)
                except FencedError:  # it was done, and the answer was lost; or this worker was taken for lost
                    if time.monotonic() > until:
                        raise
                    self.join()
                    continue
                break
            self.join()

    def status(self) -> Status:
        """How far it all is."""
        return self._asked(Ask(), Status)

    def _asked(self, command: Command, kind: Any) -> Any:
        with self._lock:
            if self._fenced and not isinstance(command, Join | Ask):
                raise FencedError(self._fenced)
            self._sequence += 1
            reply = self._answer(Request(self.name, self._generation, self._sequence, command))
            if isinstance(reply, Refused):  # before another thread joins again, or its new life would end with this one
                if reply.stale:
                    self._fenced = reply.why
                    raise FencedError(reply.why)
                raise ShardingError(reply.why)
        if not isinstance(reply, kind):
            raise ShardingError(f"the master answered {type(command).__name__} with {type(reply).__name__}")
        return reply

    def _answer(self, request: Request) -> Reply:
        """Ask until there is an answer."""
        until = time.monotonic() + self._patience
        data = wire.framed(request)
        while True:
            try:
                if self._sock is None:
                    self._sock = wire.connected(*self._found())
                    self._sock.settimeout(self._patience)
                self._sock.sendall(data)
                return msgspec.json.decode(wire.receive(self._sock), type=Reply)
            except (OSError, EOFError) as error:
                self._close()
                if isinstance(error, wire.AuthenticationError) or time.monotonic() > until:
                    raise MasterLostError(
                        f"{self.name} has had no answer for {self._patience:g} s from {self._master}: "
                        f"{type(error).__name__}: {error}"
                    ) from error
                time.sleep(PAUSE)

    def _found(self) -> tuple[wire.Address, bytes]:
        if isinstance(self._master, wire.Address):
            return self._master, cast(bytes, self._token)
        folder = Path(self._master)
        address = msgspec.json.decode((folder / wire.ADDRESS).read_bytes(), type=wire.Address)
        return address, (folder / wire.TOKEN).read_bytes().strip()

    def _beat(self, every: float) -> None:
        while not self._over.wait(every):
            try:
                self._asked(Beat(), object)
            except FencedError:
                continue  # whoever uses this worker hears of it with what it says next; it may join again
            except ShardingError:
                continue  # the same: a master that is gone is found gone

    def _close(self) -> None:
        if self._sock is not None:
            self._sock.close()
            self._sock = None
