"""Where checkpoints lie: a folder of this machine, or of an object store through fsspec."""

from __future__ import annotations

import contextlib
import os
import shutil
import uuid
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, Protocol

Bytes = bytes | bytearray | memoryview


class Place(Protocol):
    """A folder. Paths within it have slashes, whatever the machine."""

    name: str

    def write(self, path: str, data: Iterable[Bytes]) -> None:
        """Write a new file, and return when it is safe."""

    def swap(self, path: str, data: bytes) -> None:
        """Write a file, or write it anew, at once: whoever reads gets the old one or the new one."""

    def read(self, path: str, start: int = 0, size: int | None = None) -> bytes:
        """Bytes of a file; fewer where it ends. Raises `FileNotFoundError`."""

    def size(self, path: str) -> int:
        """The bytes of a file. Raises `FileNotFoundError`."""

    def list(self, path: str = "") -> list[str]:
        """The names in a folder, in order; none where there is no such folder."""

    def remove(self, path: str) -> None:
        """Take a file or folder away with all that is in it, if it is there."""


def place(where: str | os.PathLike[str]) -> Place:
    """The place that a path or a URL names, as `/checkpoints/run-1` or `s3://bucket/run-1`."""
    name = os.fspath(where)
    if "://" in name and not name.startswith("file://"):
        return Remote(name)
    return Folder(Path(name.removeprefix("file://")))


class Folder:
    """A folder of this machine, or one that it shares with others."""

    def __init__(self, path: Path):
        self._path = path
        self.name = str(path)

    def write(self, path: str, data: Iterable[Bytes]) -> None:
        """Write, and wait until the disk has it."""
        target = self._path / path
        target.parent.mkdir(parents=True, exist_ok=True)
        with open(target, "wb") as file:
            for each in data:
                file.write(each)
            _settle(file)
        _settle_folder(target.parent)

    def swap(self, path: str, data: bytes) -> None:
        """Write under another name, wait until the disk has it, and rename."""
        target = self._path / path
        target.parent.mkdir(parents=True, exist_ok=True)
        other = target.with_name(f".{target.name}.{uuid.uuid4().hex}")
        try:
            with open(other, "wb") as file:
                file.write(data)
                _settle(file)
            other.replace(target)
        except BaseException:
            other.unlink(missing_ok=True)
            raise
        _settle_folder(target.parent)

    def read(self, path: str, start: int = 0, size: int | None = None) -> bytes:
        """Bytes of a file."""
        with open(self._path / path, "rb") as file:
            file.seek(start)
            return file.read(-1 if size is None else size)

    def size(self, path: str) -> int:
        """The bytes of a file."""
        return (self._path / path).stat().st_size

    def list(self, path: str = "") -> list[str]:
        """The names in a folder."""
        try:
            return sorted(each.name for each in (self._path / path).iterdir())
        except FileNotFoundError:
            return []

    def remove(self, path: str) -> None:
        """Take a file or folder away."""
        target = self._path / path
        if target.is_dir() and not target.is_symlink():
            with contextlib.suppress(FileNotFoundError):  # somebody else takes it away too
                shutil.rmtree(target)
        else:
            target.unlink(missing_ok=True)


class Remote:
    """A folder of an object store: what is written is there at once and whole, or not at all."""

    def __init__(self, url: str):
        from fsspec.core import url_to_fs

        self.name = url
        self._files, self._root = url_to_fs(url)

    def _at(self, path: str) -> str:
        return f"{self._root.rstrip('/')}/{path}" if path else self._root

    def write(self, path: str, data: Iterable[Bytes]) -> None:
        """Send a file in parts."""
        with self._files.open(self._at(path), "wb") as file:
            for each in data:
                file.write(each)

    def swap(self, path: str, data: bytes) -> None:
        """Send a small file, which replaces the one that was there."""
        self._files.pipe_file(self._at(path), data)

    def read(self, path: str, start: int = 0, size: int | None = None) -> bytes:
        """Bytes of a file."""
        if size == 0:
            return b""
        found: bytes = self._files.cat_file(self._at(path), start, None if size is None else start + size)
        return found

    def size(self, path: str) -> int:
        """The bytes of a file."""
        self._files.invalidate_cache()
        return int(self._files.size(self._at(path)))

    def list(self, path: str = "") -> list[str]:
        """The names in a folder."""
        self._files.invalidate_cache()
        try:
            found: list[dict[str, Any]] = self._files.ls(self._at(path), detail=True)
        except FileNotFoundError:
            return []
        names = {each["name"].rstrip("/").rsplit("/", 1)[-1] for each in found}
        return sorted(names - {self._at(path).rstrip("/").rsplit("/", 1)[-1]})

    def remove(self, path: str) -> None:
        """Take a file or folder away."""
        self._files.invalidate_cache()
        with contextlib.suppress(FileNotFoundError):
            self._files.rm(self._at(path), recursive=True)


def _settle(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())


def _settle_folder(path: Path) -> None:
    """Have the disk know what is in a folder, where the system lets one ask."""
    with _opened(path) as handle:
        if handle is not None:
            os.fsync(handle)


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[int | None]:
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
    except PermissionError:
        yield None
        return
    try:
        yield handle
    finally:
        os.close(handle)
