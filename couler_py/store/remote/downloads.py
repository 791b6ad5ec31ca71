"""A blob, brought from a store into the artifacts of a home: streamed, checked, gone on with where it was cut off."""

from __future__ import annotations

import contextlib
import errno
import hashlib
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path

from couler_py.store import content
from couler_py.store.locks import release, try_lock
from couler_py.store.remote.drivers import Driver
from couler_py.store.remote.location import Location, blob_name
from couler_py.store.remote.problems import DamagedError, MissingError, RemoteError
from couler_py.store.remote.work import Work

PIECE = 8 << 20
"""Bytes that are asked for at once."""
WINDOW = 3
"""Pieces of one file that are under way at once."""


def download(driver: Driver, location: Location, digest: str, size: int, root: Path, work: Work) -> None:
    """Bring a blob of `size` bytes to where `content.blob_path` says.

    What a download that was cut off has left is gone on with. Raises `MissingError`, `DamagedError` where the store's
    object isn't what the digest says, `RemoteError`, `Halted`.
    """
    name = blob_name(digest)
    folder = root / "tmp"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    partial = folder / f"fetch-{digest}"
    while (held := try_lock(partial)) is None:  # another process brings it
        work.check()
        work.halt.wait(0.1)
    try:
        target = Path(content.blob_path(str(root), digest))
        if here(target, size):
            partial.unlink()
            return
        began_at = min(partial.stat().st_size, size)
        whole = _complete(driver, location, digest, size, partial, began_at, work)
        if not whole and began_at:  # what was there of an earlier download may be what is wrong
            whole = _complete(driver, location, digest, size, partial, 0, work)
        if not whole:
            partial.unlink()
            raise DamagedError(f"{location.url(name)} was altered: its content is not what its name says")
        _settle(partial, target)
    except MissingError:
        partial.unlink(missing_ok=True)
        raise
    except DamagedError:
        raise
    except RemoteError:
        # Of an object that is shorter than it was, pieces can't be had.
        found = work.patiently(lambda: driver.entry(name), location.url(name))
        if found is None or found.size == size:
            raise
        partial.unlink(missing_ok=True)
        raise DamagedError(
            f"{location.url(name)} was altered: it has {found.size} bytes, and what its name says has {size}"
        ) from None
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            with contextlib.suppress(OSError):
                partial.unlink()
            raise RemoteError(f"{root} has no room for the {size} bytes of {location.url(name)}: make room") from error
        raise
    finally:
        release([held])


def here(target: Path, size: int) -> bool:
    """Whether a blob is at its place, and as long as it should be."""
    try:
        return target.stat().st_size == size
    except FileNotFoundError:
        return False


def _settle(partial: Path, target: Path) -> None:
    partial.chmod(0o444)
    target.parent.mkdir(parents=True, exist_ok=True)
    partial.rename(target)


def _complete(
    driver: Driver, location: Location, digest: str, size: int, partial: Path, start: int, work: Work
) -> bool:
    """Fill the file from `start` on, and say whether it is what the digest says."""
    seen = hashlib.sha256()
    name, url = blob_name(digest), location.url(blob_name(digest))
    with partial.open("r+b") as file:
        left = start
        while left and (piece := file.read(min(left, 1 << 20))):
            work.check()
            seen.update(piece)
            left -= len(piece)
        file.truncate(start)
        file.seek(start)
        for data in _pieces(driver, name, url, start, size, work):
            seen.update(data)
            file.write(data)
        file.flush()
    return seen.hexdigest() == digest


def _pieces(driver: Driver, name: str, url: str, start: int, size: int, work: Work) -> Iterator[bytes]:
    """The pieces of an object in their order, the next ones under way already."""

    def read(start: int, end: int) -> bytes:
        data = driver.read(name, start, end)
        if len(data) != end - start:
            raise ConnectionError(f"{len(data)} bytes came where {end - start} were asked for")
        return data

    def patiently(start: int, end: int) -> bytes:
        return work.patiently(lambda: read(start, end), url)

    bounds = deque((at, min(at + PIECE, size)) for at in range(start, size, PIECE))
    running: deque[Future[bytes]] = deque()
    try:
        while bounds or running:
            while bounds and len(running) < WINDOW:
                running.append(work.parts.submit(patiently, *bounds.popleft()))
            yield running.popleft().result()
    finally:
        for future in running:
            future.cancel()
