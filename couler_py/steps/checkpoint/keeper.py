"""The process that keeps a rank's memory and writes it to disk, while the rank trains on, and after it has died.

`python -m couler_py.steps.checkpoint.keeper SOCKET LINGER`: one for each rank, started by `flash.py`. A rank connects
to its socket, first or again, and gets the memory; it asks for a step to be written and hears when it is. When the
rank is gone without a word, the keeper writes what is whole in memory and not on disk, waits `LINGER` seconds for the
rank to come back, and ends; the memory ends with it. It imports no torch.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from couler_py.steps.checkpoint import files, folders
from couler_py.steps.checkpoint.memory import About, Memory, places
from couler_py.steps.checkpoint.places import place
from couler_py.steps.checkpoint.planning import Layout, Part
from couler_py.store.faults import reach

POLL = 0.05  # seconds between looks at what other ranks have reported
ADDRESS = 104  # bytes that a socket's address has on every system, with the zero at its end


class Job(msgspec.Struct, frozen=True):
    """What a keeper has to know of a training."""

    where: str
    rank: int
    ranks: int
    keep: int = 2
    every: int = 0
    patience: float = 600.0
    """Seconds to wait for the other ranks' parts of a checkpoint."""


class Told(msgspec.Struct, frozen=True, tag_field="kind", tag="told"):
    """A rank says what it trains: its job, and the layout of its memory (of which this rank's parts matter)."""

    job: Job
    layout: Layout
    digest: str
    room: int


class Persist(msgspec.Struct, frozen=True, tag_field="kind", tag="persist"):
    """Write a slot to disk."""

    slot: int


class Goodbye(msgspec.Struct, frozen=True, tag_field="kind", tag="goodbye"):
    """The rank has ended as it meant to: nothing more is to be written."""


class Answer(msgspec.Struct, frozen=True):
    """What became of what was asked."""

    slot: int = -1
    step: int = -1
    problem: str = ""


Message = Told | Persist | Goodbye


def send(sock: socket.socket, message: Message | Answer, descriptors: tuple[int, ...] = ()) -> None:
    """Send a message: its length, then JSON, and with the length descriptors."""
    data = msgspec.json.encode(message)
    socket.send_fds(sock, [len(data).to_bytes(8, "little")], list(descriptors))
    sock.sendall(data)


def receive(sock: socket.socket, kind: Any) -> tuple[Any, list[int]]:
    """The next message and the descriptors with it. Raises `EOFError` where the other side is gone."""
    first, descriptors, _, _ = socket.recv_fds(sock, 8, 1)
    if not first:
        raise EOFError
    head = first + _exactly(sock, 8 - len(first))
    return msgspec.json.decode(_exactly(sock, int.from_bytes(head, "little")), type=kind), descriptors


def _exactly(sock: socket.socket, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        part = sock.recv(min(size - len(data), 1 << 20))
        if not part:
            raise EOFError
        data += part
    return bytes(data)


class Keeper:
    """The memory of one rank, and what of it is on disk."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._told: Told | None = None
        self._memory: Memory | None = None
        self._written: set[str] = set()

    def serve(self, rank: socket.socket) -> bool:
        """Do what a connected rank asks until it goes; whether it said goodbye."""
        while True:
            try:
                message, found = receive(rank, Message)
                match message:
                    case Told():
                        answer, given = self._adopt(message, found)
                        send(rank, answer, given)
                    case Persist(slot):
                        send(rank, self._persist(slot))
                    case Goodbye():
                        return True
            except (EOFError, ConnectionError):
                return False

    def rescue(self) -> None:
        """Write what a rank that has died left in memory, newest first, as far as it isn't on disk."""
        for slot in self._memory.newest() if self._memory is not None else []:
            answer = self._persist(slot)
            if answer.problem:
                print(f"step {answer.step} was not saved: {answer.problem}", file=sys.stderr, flush=True)

    def _adopt(self, told: Told, found: list[int]) -> tuple[Answer, tuple[int, ...]]:
        """Take the memory that a rank brings, or give it the one that is here, where it is of the same layout."""
        if found:
            if self._memory is not None:
                self._memory.close()
            self._memory, self._told = Memory(found[0]), told
            return Answer(), ()
        if self._memory is None or self._told is None or self._told.digest != told.digest:
            return Answer(problem="there is no memory of this layout"), ()
        self._told = told
        return Answer(), (self._memory.descriptor,)

    def _persist(self, slot: int) -> Answer:
        about = self._memory.about(slot) if self._memory is not None else None
        if about is None:
            return Answer(slot, -1, "nothing whole is in this slot")
        try:
            self._write(slot, about)
        except Exception as error:  # whatever it was: the training goes on, and hears of it
            return Answer(slot, about.step, f"{type(error).__name__}: {error}")
        return Answer(slot, about.step)

    def _write(self, slot: int, about: About) -> None:
        """Write a slot, and make it the newest checkpoint when all ranks have written theirs (rank 0 does)."""
        assert self._told is not None
        assert self._memory is not None
        if about.folder in self._written:
            return
        job, layout = self._told.job, self._told.layout
        where = place(job.where)
        parts = layout.parts[job.rank]
        starts, _ = places([part.size for part in parts])
        lies = {(part.tensor, part.number): start for part, start in zip(parts, starts, strict=True)}
        room = self._memory.view(slot)

        def data(part: Part) -> memoryview:
            start = lies[part.tensor, part.number]
            return room[start : start + part.size]

        done = files.Written(job.rank, 0, 0, ())
        if parts:
            path = f"{about.folder}/{folders.file_of(job.rank)}"
            midway = partial(reach, "checkpoint.writing")
            done = files.write(where, path, job.rank, parts, layout.dtypes(), data, midway)
        reach("checkpoint.written")
        folders.report(where, about.folder, done)
        reach("checkpoint.reported")
        if job.rank == 0:
            manifest = folders.assembled(about.step, layout, self._everybody(job, about.folder), about.facts)
            folders.commit(where, about.folder, manifest, keep=job.keep, every=job.every, reached=reach)
        self._written.add(about.folder)

    def _everybody(self, job: Job, folder: str) -> list[files.Written]:
        where = place(job.where)
        until = time.monotonic() + job.patience
        while (found := folders.reported(where, folder, job.ranks)) is None:
            if time.monotonic() > until:
                raise TimeoutError(f"not all {job.ranks} ranks wrote their part of {folder} in {job.patience:g} s")
            if select.select([self._sock], [], [], POLL)[0]:
                raise InterruptedError(f"the training began anew before all {job.ranks} ranks wrote {folder}")
        return found


@contextlib.contextmanager
def address(path: str) -> Iterator[str]:
    """A path of a socket as the kernel takes it: a socket's address has 108 bytes (unix(7)), a folder may have more."""
    if len(os.fsencode(path)) < ADDRESS:
        yield path
        return
    folder, name = os.path.split(path)
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{descriptor}/{name}"
    finally:
        os.close(descriptor)


def listen(path: str) -> socket.socket:
    """A socket that only this user can connect to, in place of one that a dead keeper has left."""
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    Path(path).unlink(missing_ok=True)
    with address(path) as short:
        sock.bind(short)
    Path(path).chmod(0o600)
    sock.listen(1)
    return sock


def _ranks(sock: socket.socket, linger: float) -> Iterator[socket.socket]:
    """The ranks that connect, one after the other; none more where none comes within a time."""
    while select.select([sock], [], [], linger)[0]:
        yield sock.accept()[0]


def main(path: str, linger: float) -> None:
    """Keep a rank's memory until it says goodbye, or is gone for too long."""
    with listen(path) as sock:
        mine = os.stat(path).st_ino
        keeper = Keeper(sock)
        print("ready", flush=True)
        try:
            for rank in _ranks(sock, linger):
                with rank:
                    if keeper.serve(rank):
                        return
                keeper.rescue()
        finally:
            with contextlib.suppress(FileNotFoundError):
                if os.stat(path).st_ino == mine:  # and not that of a keeper that was started since
                    os.unlink(path)


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]))
