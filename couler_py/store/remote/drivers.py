"""What every kind of store can do, and which driver does it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import msgspec

from couler_py.store.remote.location import SCHEMES, Location
from couler_py.store.remote.problems import RemoteError
from couler_py.store.remote.work import Work


class Blob(msgspec.Struct, frozen=True):
    """A file of this machine that is put into a store: its path, the sha256 of its content, its size in bytes."""

    path: Path
    digest: str
    size: int


class Entry(msgspec.Struct, frozen=True):
    """An object of a store: its name below the store's place, its size in bytes, when it was written (since 1970)."""

    name: str
    size: int
    written: float


class Driver(Protocol):
    """A store. Names are below its place. Errors are those of the library beneath, read by `problems.read`."""

    def entry(self, name: str) -> Entry | None:
        """An object's facts; None where there is none."""
        ...

    def read(self, name: str, start: int, end: int) -> bytes:
        """The bytes of an object from `start` up to `end`, or its own end."""
        ...

    def write(self, name: str, data: bytes) -> None:
        """Make a small object, whole or not at all, in the place of an earlier one."""
        ...

    def upload(self, name: str, blob: Blob, work: Work) -> None:
        """Make an object of a file, whole or not at all. Raises `DamagedError` for content that isn't the digest's."""
        ...

    def entries(self, prefix: str) -> Iterator[Entry]:
        """The objects whose names begin so."""
        ...

    def delete(self, name: str) -> None:
        """Delete an object; nothing where there is none."""
        ...

    def tidy(self, before: float) -> None:
        """Drop what uploads that were cut off before then have left. Seconds since 1970."""
        ...


def driver_of(location: Location, work: Work) -> Driver:
    """The driver of a store. Raises `RemoteError` where its library is missing."""
    try:
        if location.scheme == "file":
            from couler_py.store.remote.folder import Folder

            return Folder(location)
        if location.scheme == "s3":
            from couler_py.store.remote.s3 import S3

            return S3(location, work)
        from couler_py.store.remote.general import General

        return General(location, work)
    except ImportError as error:
        extra = SCHEMES[location.scheme]
        raise RemoteError(
            f"{location}: the driver for {location.scheme}:// is missing ({error.name}): "
            f"pip install 'couler-py[{extra}]'"
        ) from error
