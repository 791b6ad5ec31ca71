"""A large file, put into a bucket in parts. What was cut off goes on with the first part that is missing.

The id of an upload stands in a small file of the home as long as it isn't complete. Who goes on with it asks the
server which parts it has, and sends those whose MD5 isn't that of the file's.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
import os
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from pathlib import Path
from typing import Protocol

import msgspec

from couler_py.store import faults
from couler_py.store.locks import release, try_lock
from couler_py.store.remote.drivers import Blob, Entry
from couler_py.store.remote.problems import DamagedError, MissingError, RemoteError
from couler_py.store.remote.reading import pieces
from couler_py.store.remote.work import Work

MIB = 1 << 20
SMALLEST = 8 * MIB
"""Bytes of a part, and the largest file that is put as one. S3 takes no parts under 5 MiB."""
USUAL_PARTS, USUAL_LARGEST = 1000, 64 * MIB
"""Some servers (Swift, as it is set up) take no more parts than 1,000."""
MOST_PARTS = 10_000
"""S3's limit ("Amazon S3 multipart upload limits")."""
WINDOW = 3
"""Parts of one file that are under way at once, besides the one that is being read."""


class Part(msgspec.Struct, frozen=True):
    """A part that the server has: its size in bytes, and its tag, the MD5 in quotes."""

    size: int
    tag: str


class Upload(msgspec.Struct):
    """An upload that isn't complete: where to, its id at the server, the size of its parts in bytes."""

    url: str
    id: str
    part: int


class Parts(Protocol):
    """A store that takes parts."""

    def begin(self, name: str) -> str: ...
    def part(self, name: str, upload: str, number: int, data: bytes) -> str: ...
    def parts(self, name: str, upload: str) -> dict[int, Part]: ...
    def complete(self, name: str, upload: str, tags: list[str]) -> None: ...
    def abort(self, name: str, upload: str) -> None: ...
    def entry(self, name: str) -> Entry | None: ...


def part_size(size: int) -> int:
    """How long the parts of a file of `size` bytes are: whole MiB, so few parts that servers take them.

    >>> part_size(100 * MIB) // MIB, part_size(20_000 * MIB) // MIB, part_size(5_000_000 * MIB) // MIB
    (8, 20, 500)
    """
    usual = min(USUAL_LARGEST, _mib(size / USUAL_PARTS))
    return max(SMALLEST, usual, _mib(size / MOST_PARTS))


def _mib(size: float) -> int:
    return math.ceil(size / MIB) * MIB


def upload(store: Parts, name: str, blob: Blob, work: Work, url: str) -> None:
    """Put a file, going on with an upload of this home that was cut off.

    Raises `DamagedError`, `RemoteError`, `Halted`; the upload can be gone on with after the last two.
    """
    with _record(work, url) as path:
        known = _recorded(path, url)
        if known is None or not _gone_on_with(store, name, blob, work, known):
            begun = Upload(url, work.patiently(lambda: store.begin(name), url), part_size(blob.size))
            path.write_bytes(msgspec.json.encode(begun))
            if not _sent(store, name, blob, work, begun, {}):
                path.write_bytes(b"")
                raise RemoteError(f"{url}: the store lost the parts of the file while they were sent; try again")
        path.unlink(missing_ok=True)


def _gone_on_with(store: Parts, name: str, blob: Blob, work: Work, known: Upload) -> bool:
    """Send what an earlier upload didn't; False where the server has forgotten it."""
    try:
        there = work.patiently(lambda: store.parts(name, known.id), known.url)
    except MissingError:
        return False
    return _sent(store, name, blob, work, known, there)


@contextlib.contextmanager
def _record(work: Work, url: str) -> Iterator[Path]:
    """The file that an upload is recorded in, held: another process of this home that sends the same is waited for."""
    work.records.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = work.records / hashlib.sha256(url.encode()).hexdigest()
    while (held := try_lock(path)) is None:
        work.check()
        work.halt.wait(0.1)
    try:
        yield path
    finally:
        with contextlib.suppress(FileNotFoundError):
            if path.stat().st_size == 0:
                path.unlink()
        release([held])


def _recorded(path: Path, url: str) -> Upload | None:
    try:
        found = msgspec.json.decode(path.read_bytes(), type=Upload)
    except msgspec.MsgspecError:  # just made, or cut off while it was written
        return None
    return found if found.url == url and found.part >= SMALLEST else None


def _sent(store: Parts, name: str, blob: Blob, work: Work, begun: Upload, there: dict[int, Part]) -> bool:
    """Send what is missing, and complete it; False where the server doesn't know the upload any more."""
    url, identity = begun.url, begun.id
    tags: dict[int, str] = {}
    running: dict[Future[str], int] = {}

    def collect(most: int) -> None:
        while len(running) > most:
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                tags[running.pop(future)] = future.result()

    try:
        for number, data in enumerate(pieces(blob, work, begun.part), 1):
            known = there.get(number)
            if known is not None and known.size == len(data) and known.tag.strip('"') == _md5(data):
                tags[number] = known.tag
                continue
            collect(WINDOW - 1)
            running[work.parts.submit(_part, store, name, identity, number, data, work, url)] = number
        collect(0)
        ordered = [tags[number] for number in sorted(tags)]
        faults.reach("upload.begun")
        work.patiently(lambda: store.complete(name, identity, ordered), url)
    except MissingError:  # completed by another, or dropped by the server
        return _whole(store, name, blob, work, url)
    except DamagedError:
        with contextlib.suppress(RemoteError):  # the damage is what counts
            work.patiently(lambda: store.abort(name, identity), url)
        raise
    except RemoteError:
        if _whole(store, name, blob, work, url):
            return True
        raise
    finally:
        for future in running:
            future.cancel()
        wait(running)
    return True


def _whole(store: Parts, name: str, blob: Blob, work: Work, url: str) -> bool:
    found = work.patiently(lambda: store.entry(name), url)
    return found is not None and found.size == blob.size


def _part(store: Parts, name: str, upload: str, number: int, data: bytes, work: Work, url: str) -> str:
    return work.patiently(lambda: store.part(name, upload, number, data), url)


def _md5(data: bytes) -> str:
    return hashlib.md5(data, usedforsecurity=False).hexdigest()


def forget(records: Path, before: float) -> None:
    """Delete records of uploads that nobody went on with since then (seconds since 1970)."""
    with contextlib.suppress(FileNotFoundError):
        for entry in os.scandir(records):
            held = try_lock(Path(entry.path)) if entry.stat().st_mtime < before else None
            if held is not None:
                Path(entry.path).unlink(missing_ok=True)
                release([held])
