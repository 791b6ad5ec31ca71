"""Files of this machine, read piece by piece and checked on the way."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from couler_py.store.remote.drivers import Blob
from couler_py.store.remote.problems import DamagedError
from couler_py.store.remote.work import Work

PIECE = 1 << 20


def pieces(blob: Blob, work: Work, size: int = PIECE) -> Iterator[bytes]:
    """The content of a file in pieces of `size` bytes; the last one comes only when all of it is what the digest says.

    Raises `DamagedError` where it is not, `Halted`.
    """
    seen = hashlib.sha256()
    waiting: bytes | None = None
    with blob.path.open("rb") as file:
        while piece := file.read(size):
            work.check()
            seen.update(piece)
            if waiting is not None:
                yield waiting
            waiting = piece
    if seen.hexdigest() != blob.digest:
        raise DamagedError(f"{blob.path} is damaged: its content is not what its name says, so it isn't sent")
    if waiting is not None:
        yield waiting


def check(blob: Blob, work: Work) -> None:
    """Read a file to see whether it is what its digest says. Raises `DamagedError`, `Halted`."""
    for _ in pieces(blob, work):
        pass
