"""A rank's connection to the keeper of its memory: found, or started, and what it answers."""

from __future__ import annotations

import contextlib
import os
import select
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

from couler_py.steps.checkpoint.keeper import Answer, Goodbye, Job, Persist, Told, address, receive, send
from couler_py.steps.checkpoint.manifest import CheckpointError
from couler_py.steps.checkpoint.memory import Memory, places
from couler_py.steps.checkpoint.planning import Layout

STARTS = 30.0  # seconds that a keeper has to start


class Link:
    """The keeper of one rank, and the memory that both have."""

    def __init__(self, job: Job, path: str, linger: float):
        self._job, self._path, self._linger = job, path, linger
        self._keeper: socket.socket | None = None
        self._memory: Memory | None = None
        self._digest = ""
        self._problem = ""
        self.busy: int | None = None
        """The slot that is being written to disk."""

    def find(self, layout: Layout, digest: str) -> Memory | None:
        """The memory of a layout that a keeper has, from this process or one before it."""
        if self._memory is not None and self._digest == digest:
            return self._memory
        self._keeper = self._keeper or _connected(self._path)
        if self._keeper is None:
            return None
        try:
            send(self._keeper, self._told(layout, digest))
            _, found = receive(self._keeper, Answer)
        except (EOFError, ConnectionError):  # one that was about to end
            self._keeper.close()
            self._keeper = None
            return None
        if found:
            self._memory, self._digest = Memory(found[0]), digest
        return self._memory if found else None

    def make(self, layout: Layout, digest: str) -> Memory:
        """The memory of a layout, new where there is none; memory of another layout is given back.

        Raises `CheckpointError` where the machine hasn't enough, or the keeper doesn't start.
        """
        found = self.find(layout, digest)
        if found is not None:
            return found
        if self._memory is not None:
            self._memory.close()
        told = self._told(layout, digest)
        self._memory = memory = Memory.create(told.room)
        self._keeper = self._keeper or _started(self._path, self._linger)
        send(self._keeper, told, (memory.descriptor,))
        receive(self._keeper, Answer)
        self._digest = digest
        return memory

    def persist(self, slot: int) -> None:
        """Have a slot written to disk; `hear` says when it is."""
        assert self._keeper is not None
        send(self._keeper, Persist(slot))
        self.busy = slot

    def hear(self, seconds: float | None) -> None:
        """Take the keeper's answer, where one is due and comes within a time (None: whenever it comes).

        Raises `CheckpointError` where a slot could not be written, once for each.
        """
        if self.busy is None or self._keeper is None or not select.select([self._keeper], [], [], seconds)[0]:
            return
        self.busy = None
        try:
            answer, _ = receive(self._keeper, Answer)
        except (EOFError, ConnectionError) as error:
            self._drop()
            raise CheckpointError(
                f"the keeper of rank {self._job.rank} died while it wrote: {self._path}.log"
            ) from error
        if answer.problem:
            raise CheckpointError(f"step {answer.step} was not written: {answer.problem}")

    def close(self) -> None:
        """Tell the keeper that nothing more is to come: it ends, and the memory with it."""
        if self._keeper is not None:
            with contextlib.suppress(ConnectionError):
                send(self._keeper, Goodbye())
        self._drop()

    def _drop(self) -> None:
        if self._keeper is not None:
            self._keeper.close()
        if self._memory is not None:
            self._memory.close()
        self._keeper = self._memory = None

    def _told(self, layout: Layout, digest: str) -> Told:
        sizes = [part.size for part in layout.parts[self._job.rank]]
        return Told(self._job, layout, digest, places(sizes)[1])


def socket_of(name: str) -> str:
    """Where a keeper listens: in a folder of this user alone.

    Raises `CheckpointError` where somebody else has made that folder.
    """
    folder = Path(tempfile.gettempdir()) / f"couler-keepers-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise CheckpointError(f"{folder} is not a folder of this user alone: take it away, or set TMPDIR")
    return str(folder / name)


def _connected(path: str) -> socket.socket | None:
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with address(path) as short:
            sock.connect(short)
    except (FileNotFoundError, ConnectionRefusedError):
        sock.close()
        return None
    return sock


def _started(path: str, linger: float) -> socket.socket:
    """A new keeper, in a session of its own: what ends the training doesn't end it."""
    command = [sys.executable, "-m", "couler_py.steps.checkpoint.keeper", path, str(linger)]
    with open(f"{path}.log", "wb") as log:
        keeper = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, start_new_session=True
        )
    assert keeper.stdout is not None
    with keeper.stdout as said:
        ready = bool(select.select([said], [], [], STARTS)[0]) and said.readline() == b"ready\n"
    sock = _connected(path) if ready else None
    if sock is None:
        keeper.kill()
        raise CheckpointError(f"the keeper didn't start within {STARTS:g} s: {path}.log says why")
    keeper.returncode = 0  # nobody waits for it here: it lives longer than this process
    return sock
