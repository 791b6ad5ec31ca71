"""Memory that outlives the process that trains: two slots for the state of a rank, in a file that has no name.

As nobody can find the file but who has it open, nothing is left of it when all have ended, whatever ended them.
A slot says "writing" before it is touched and "whole" after: one that a process was killed in is never read, and the
other is as it was.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import tempfile
from pathlib import Path
from typing import Any

import msgspec

from couler_py.steps.checkpoint.manifest import CheckpointError

ALIGNED = 64
"""Where each cell begins, in bytes: any type of numbers may be read there."""
ABOUT = 1 << 20
"""Bytes that a slot has for what it says about itself, facts included."""
SLOTS = 2

SHARED = Path("/dev/shm")  # noqa: S108 (files without a name, which nobody else can open)

EMPTY, WRITING, WHOLE = b"empty---", b"writing-", b"whole---"


class About(msgspec.Struct, frozen=True):
    """What is in a slot."""

    step: int
    folder: str
    """Where it belongs on disk."""
    layout: str
    """Which layout its cells are of, as a digest."""
    facts: dict[str, Any] = {}


class Memory:
    """Two slots of the same size, shared with whoever gets its descriptor."""

    def __init__(self, descriptor: int):
        size = os.fstat(descriptor).st_size
        self.descriptor, self.room = descriptor, size // SLOTS - ABOUT
        self._map = mmap.mmap(descriptor, size)

    @classmethod
    def create(cls, room: int) -> Memory:
        """New memory. Raises `CheckpointError` where the machine hasn't so much shared memory left."""
        room = -(-room // mmap.PAGESIZE) * mmap.PAGESIZE
        size = SLOTS * (ABOUT + room)
        folder = shared_memory()
        left = os.statvfs(folder)
        if left.f_bavail * left.f_frsize < size:
            raise CheckpointError(
                f"{folder} has {left.f_bavail * left.f_frsize:,} bytes left, and two copies of this rank's state "
                f"take {size:,}: give the container more (in Kubernetes an emptyDir of medium Memory at /dev/shm)"
            )
        with tempfile.TemporaryFile(dir=folder) as file:
            if hasattr(os, "posix_fallocate"):  # memory that is short is told here, and pages are made once
                os.posix_fallocate(file.fileno(), 0, size)
            else:
                os.ftruncate(file.fileno(), size)
            memory = cls(os.dup(file.fileno()))
        for slot in range(SLOTS):
            memory._mark(slot, EMPTY)
        return memory

    def begin(self, slot: int) -> memoryview:
        """Take a slot to write into; what was in it is gone."""
        self._mark(slot, WRITING)
        return self.view(slot)

    def finish(self, slot: int, about: About) -> None:
        """Say that a slot is whole. Raises `CheckpointError` for facts that don't fit."""
        told = msgspec.json.encode(about)
        if len(told) > ABOUT - 16:
            raise CheckpointError(f"the facts of step {about.step} take {len(told):,} bytes: {ABOUT:,} is the most")
        start = self._start(slot)
        self._map[start + 8 : start + 16] = len(told).to_bytes(8, "little")
        self._map[start + 16 : start + 16 + len(told)] = told
        self._mark(slot, WHOLE)

    def about(self, slot: int) -> About | None:
        """What is in a slot; None where it is empty, or was never finished."""
        start = self._start(slot)
        if self._map[start : start + 8] != WHOLE:
            return None
        length = int.from_bytes(self._map[start + 8 : start + 16], "little")
        return msgspec.json.decode(self._map[start + 16 : start + 16 + length], type=About)

    def newest(self) -> list[int]:
        """The slots that are whole, newest step first."""
        found = [(about.step, slot) for slot in range(SLOTS) if (about := self.about(slot)) is not None]
        return [slot for _, slot in sorted(found, reverse=True)]

    def view(self, slot: int) -> memoryview:
        """The room of a slot."""
        start = self._start(slot) + ABOUT
        return memoryview(self._map)[start : start + self.room]

    def close(self) -> None:
        """Let go of it. Whoever else has it still has it."""
        with contextlib.suppress(BufferError):  # where a view of it lives on, the map lives with it
            self._map.close()
        os.close(self.descriptor)

    def _start(self, slot: int) -> int:
        return slot * (ABOUT + self.room)

    def _mark(self, slot: int, state: bytes) -> None:
        start = self._start(slot)
        self._map[start : start + 8] = state


def places(sizes: list[int]) -> tuple[list[int], int]:
    """Where cells of some sizes lie in a slot, and the room that they take."""
    starts, at = [], 0
    for size in sizes:
        starts.append(at)
        at += -(-size // ALIGNED) * ALIGNED
    return starts, at


def shared_memory() -> str:
    """The folder whose files are memory; the one for temporary files where there is none (macOS)."""
    return str(SHARED) if SHARED.is_dir() else tempfile.gettempdir()
