"""The ledger of a machine: one small file in which the runs of this user write down what their steps use.

Runs find each other by its folder, wherever their homes lie: the folder of locks, or `COULER_LEDGER`. In it:

book         the seats of all runs (see `shares.py`), changed under an exclusive lock
NAME.seat    held (flock) by the engine of a run as long as it lives
NAME.SLOT    held as long as the step that has this slot lives: by its engine and by whoever supervises the step, so
             that what a killed engine's steps use is free when they have ended, and not before
NAME.wake    a pipe on which a run that waits is told that it has got something
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import struct
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from couler_py.store import faults
from couler_py.store.database import StoreError
from couler_py.store.locks import lock_folder, release, try_lock
from couler_py.store.shares import Seats, Table

_HEADER = struct.Struct("!QQ")  # where the book stands in its file, and how long it is
_ROOM = 1 << 15  # bytes that the file has from the beginning: a disk that is full later stops nobody
_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(Seats)


class LedgerError(StoreError):
    """The ledger can't be read or written; the message says why and what to do."""


def ledger_folder() -> Path:
    """The folder in which runs find each other: `$COULER_LEDGER`, else this user's own on this machine.

    Raises `PermissionError` where somebody else has made it.
    """
    given = os.environ.get("COULER_LEDGER")
    folder = Path(given) if given else lock_folder() / "ledger"
    folder.mkdir(mode=0o700, parents=bool(given), exist_ok=True)
    return folder


class Ledger:
    """The book of a folder, opened by one process."""

    def __init__(self, folder: Path):
        self.folder = folder
        self._path = folder / "book"
        self._handle = -1

    @contextlib.contextmanager
    def opened(self) -> Iterator[Table]:
        """The seats as they are now, for this process alone; what was changed is written at the end.

        A process that is killed in between has changed nothing. Raises `LedgerError`.
        """
        try:
            self._lock()
        except OSError as error:
            raise self._failure(error) from error
        try:
            where, seats = self._read()
            yield Table(seats, time.monotonic())  # the same clock for all processes, and nobody sets it back
            self._write(where, seats)
        except OSError as error:
            raise self._failure(error) from error
        finally:
            fcntl.flock(self._handle, fcntl.LOCK_UN)

    def close(self) -> None:
        """Close the file."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1

    def _lock(self) -> None:
        while True:
            if self._handle < 0:
                self._handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            fcntl.flock(self._handle, fcntl.LOCK_EX)
            if os.fstat(self._handle).st_nlink:
                return
            self.close()  # somebody cleaned the folder up: the book that is there now counts

    def _read(self) -> tuple[tuple[int, int], Seats]:
        header = os.pread(self._handle, _HEADER.size, 0)
        if len(header) < _HEADER.size:
            os.pwrite(self._handle, bytes(_ROOM), 0)
            return (0, 0), {}
        offset, length = _HEADER.unpack(header)
        if not length:
            return (0, 0), {}
        try:
            return (offset, length), _decoder.decode(os.pread(self._handle, length, offset))
        except msgspec.DecodeError as error:
            raise LedgerError(f"{self._path} is damaged ({error}): delete it when no run is at work") from error

    def _write(self, where: tuple[int, int], seats: Seats) -> None:
        # Never over the book that counts: it does so until the header, written in one piece, names the new one.
        data = _encoder.encode(seats)
        offset = _HEADER.size
        if offset + len(data) > where[0]:
            offset = max(offset, where[0] + where[1])
        os.pwrite(self._handle, data, offset)
        faults.reach("ledger.written")
        os.pwrite(self._handle, _HEADER.pack(offset, len(data)), 0)
        faults.reach("ledger.kept")

    def _failure(self, error: OSError) -> LedgerError:
        return LedgerError(
            f"what runs share of this machine can't be written to {self._path} ({error}): make room there, or set "
            "COULER_LEDGER to another folder"
        )

    # ---- the files of seats

    def take_seat(self, name: str) -> int:
        """The descriptor that holds a new seat."""
        return self._take(self.folder / f"{name}.seat")

    def take_slot(self, name: str, slot: int) -> int:
        """The descriptor that holds one slot of a seat, for the engine and for who supervises the step."""
        return self._take(self.folder / f"{name}.{slot}")

    def _take(self, path: Path) -> int:
        try:
            handle = try_lock(path)
        except OSError as error:
            raise self._failure(error) from error
        assert handle is not None, f"{path} is held by a stranger"
        return handle

    def listen(self, name: str) -> tuple[int, int]:
        """The pipe of a seat: what to read from, and a writer that keeps it from ending."""
        path = self.folder / f"{name}.wake"
        os.mkfifo(path, 0o600)
        reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        return reader, os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)

    def wake(self, name: str) -> None:
        """Tell a run that it has got something."""
        try:
            handle = os.open(self.folder / f"{name}.wake", os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            return  # it has ended, or was killed: whoever waits next sweeps it away
        try:
            os.write(handle, b"!")
        except BlockingIOError:
            pass  # it has been told often enough
        finally:
            os.close(handle)

    def sweep(self, table: Table, mine: str) -> None:
        """Give back what nobody holds any more: steps that ended after their engine was killed."""
        # Who was killed when it had just come, or just gone, has files and is not in the book.
        known = {*table.seats, *(path.stem for path in self.folder.glob("*.seat"))}
        for name in known - {mine}:
            engine = try_lock(self.folder / f"{name}.seat")
            if engine is None:
                continue
            release([engine])
            if name not in table.seats:
                self.remove(name)
                continue
            seat = table.seats[name]
            seat.want = None
            for slot in list(seat.holds):
                step = try_lock(self.folder / f"{name}.{slot}")
                if step is not None:
                    release([step])
                    table.give_back(name, slot)
            if not seat.holds:
                table.leave(name)
                self.remove(name)

    def remove(self, name: str) -> None:
        """Delete the files of a seat that is over."""
        for path in self.folder.glob(f"{name}.*"):
            path.unlink(missing_ok=True)
