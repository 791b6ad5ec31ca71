"""A store in a folder: of this machine, or of a disk that many machines mount."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterable, Iterator
from pathlib import Path

from couler_py.store import faults
from couler_py.store.remote.drivers import Blob, Entry
from couler_py.store.remote.location import Location
from couler_py.store.remote.reading import pieces
from couler_py.store.remote.work import Work

PARTIAL = "partial"
"""The folder of files that are being written. They get their names when they are whole."""


class Folder:
    """Objects are files, renamed into place when they are whole and on the disk."""

    def __init__(self, location: Location):
        self._root = Path(location.prefix)

    def entry(self, name: str) -> Entry | None:
        try:
            facts = (self._root / name).stat()
        except FileNotFoundError:
            return None
        return Entry(name, facts.st_size, facts.st_mtime)

    def read(self, name: str, start: int, end: int) -> bytes:
        with (self._root / name).open("rb") as file:
            file.seek(start)
            return file.read(end - start)

    def write(self, name: str, data: bytes) -> None:
        self._write(name, [data])

    def upload(self, name: str, blob: Blob, work: Work) -> None:
        self._write(name, pieces(blob, work))

    def entries(self, prefix: str) -> Iterator[Entry]:
        top = prefix.rpartition("/")[0]
        for folder, _, files in os.walk(self._root / top):
            for file in files:
                name = (Path(folder) / file).relative_to(self._root).as_posix()
                found = self.entry(name) if name.startswith(prefix) else None
                if found is not None:
                    yield found

    def delete(self, name: str) -> None:
        (self._root / name).unlink(missing_ok=True)

    def tidy(self, before: float) -> None:
        for found in list(self.entries(f"{PARTIAL}/")):
            if found.written < before:
                self.delete(found.name)

    def _write(self, name: str, data: Iterable[bytes]) -> None:
        partial = self._root / PARTIAL / secrets.token_hex(16)
        partial.parent.mkdir(parents=True, exist_ok=True)
        try:
            with partial.open("xb") as file:
                for piece in data:
                    file.write(piece)
                faults.reach("upload.begun")
                file.flush()
                os.fsync(file.fileno())
            target = self._root / name
            target.parent.mkdir(parents=True, exist_ok=True)
            partial.rename(target)
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                partial.unlink()
            raise
