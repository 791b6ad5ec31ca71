"""Requests on disk, in the order in which they were done: what a master that was killed comes back with.

`journal` has a line for each batch of requests: the CRC-32 of the rest, the number of the batch, and the requests as
JSON. `state` has all that was known after some batch; the journal before it can go. A line counts once the disk has it
(fsync), and nobody gets an answer before.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable
from pathlib import Path

import msgspec

from couler_py.steps.checkpoint.places import Folder
from couler_py.steps.dlrm.sharding.messages import Request
from couler_py.steps.dlrm.sharding.state import State
from couler_py.store.faults import reach

JOURNAL, STATE = "journal", "state"
COMPACT = 4096
"""Batches after which a state takes the place of the journal."""


class JournalError(ValueError):
    """What is wrong with a journal, and where."""


class _Kept(msgspec.Struct, frozen=True):
    batch: int
    state: State


class Journal:
    """The journal of a folder. Raises `JournalError` where it was damaged otherwise than by being cut off."""

    def __init__(self, folder: Path):
        self._place, self._path = Folder(folder), folder / JOURNAL
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        kept = folder / STATE
        self.state: State | None = None
        """What was kept last."""
        self._batch = 0
        if kept.exists():
            try:
                found = msgspec.json.decode(kept.read_bytes(), type=_Kept)
            except msgspec.DecodeError as error:
                raise JournalError(f"{kept} is no state of a master: {error}") from error
            self.state, self._batch = found.state, found.batch
        self.requests, whole = self._read()
        """What was asked since then."""
        self._file = open(self._path, "ab")  # noqa: SIM115 - as long as the master lives
        self._file.truncate(whole)
        os.fsync(self._file.fileno())
        self._since = len(self.requests)

    def _read(self) -> tuple[list[Request], int]:
        """The requests that came after the state, and how many bytes of the journal are whole."""
        data = self._path.read_bytes() if self._path.exists() else b""
        requests: list[Request] = []
        at = 0
        while at < len(data):
            end = data.find(b"\n", at)
            line = data[at:end] if end >= 0 else b""
            batch = _opened(line)
            if batch is None:
                if end >= 0 and end + 1 < len(data):
                    raise JournalError(f"{self._path} was damaged at byte {at}: what follows can't be trusted")
                break  # it was being written when the master was killed: nobody had an answer
            number, asked = batch
            if number > self._batch:
                if number != self._batch + 1:
                    raise JournalError(f"{self._path} lacks batch {self._batch + 1}: {number} follows")
                self._batch = number
                requests += asked
            at = end + 1
        return requests, at

    def append(self, requests: list[Request]) -> None:
        """Write a batch down, and wait until the disk has it."""
        self._batch += 1
        body = msgspec.json.encode((self._batch, requests))
        line = b"%08x %s\n" % (zlib.crc32(body), body)
        half = len(line) // 2
        self._file.write(line[:half])
        self._file.flush()
        reach("sharding.writing")
        self._file.write(line[half:])
        self._file.flush()
        os.fsync(self._file.fileno())
        reach("sharding.written")
        self._since += 1

    def compact(self, state: Callable[[], State]) -> None:
        """Keep the state in place of the journal, where that has become long."""
        if self._since < COMPACT:
            return
        reach("sharding.compacting")
        self._place.swap(STATE, msgspec.json.encode(_Kept(self._batch, state())))
        reach("sharding.compacted")
        self._file.truncate(0)
        os.fsync(self._file.fileno())
        self._since = 0

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _opened(line: bytes) -> tuple[int, list[Request]] | None:
    checksum, _, body = line.partition(b" ")
    if checksum != b"%08x" % zlib.crc32(body):
        return None
    number, requests = msgspec.json.decode(body, type=tuple[int, list[Request]])
    return number, requests
