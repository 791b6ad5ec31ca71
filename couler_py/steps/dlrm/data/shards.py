"""Encoded rows in files that training reads: column blocks in the format of safetensors, and an index.

Why not Parquet: a worker reads its rows many times, in any order, on few cores. These blocks are read as they lie, with
no decoding, from any row on; every framework can read them, and nothing has to be installed. What they cost is room:
4 bytes a feature. Their bytes are a function of the rows alone.
"""

from __future__ import annotations

import hashlib
import os
import threading
import zlib
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from couler_py.steps.checkpoint.files import head
from couler_py.steps.checkpoint.places import Folder
from couler_py.steps.dlrm.data.encoding import Table
from couler_py.steps.dlrm.data.rows import Array
from couler_py.steps.dlrm.data.schema import Schema

INDEX = "index.json"
VERSION = 1
OPEN = 64  # files that a reader keeps open


class Batch(NamedTuple):
    """Some rows, encoded."""

    label: Array
    """Shape (n,), type float32: 0 or 1."""
    dense: Array
    """Shape (n, d), type float32."""
    sparse: Array
    """Shape (n, s), type int32: places in the tables, which `Index.tables` describes in the same order."""
    rows: Array
    """Shape (n,), type int64: their numbers in the dataset, by which it is known who has seen what."""


class File(msgspec.Struct, frozen=True):
    """A shard's file: its rows, bytes, the bytes before its first column, and the CRC-32 of all of it."""

    name: str
    rows: int
    size: int
    start: int
    checksum: int


def identity(folder: str | Path) -> str:
    """Sixteen hex digits that are those of no other shards: of the SHA-256 of the index, which has all checksums.

    Raises `FileNotFoundError` where a folder is none of shards.
    """
    return hashlib.sha256((Path(folder) / INDEX).read_bytes()).hexdigest()[:16]


class Index(msgspec.Struct, frozen=True):
    """What is in a folder of shards. It is written last: a folder without one is not whole."""

    rows: int
    rows_per_file: int
    schema: Schema
    tables: tuple[Table, ...]
    """One for each sparse column, in their order."""
    files: tuple[File, ...]
    version: int = VERSION


def _layout(count: int, dense: int, sparse: int) -> list[tuple[str, str, tuple[int, ...], int]]:
    """The columns of a file in their order: names, types, shapes, bytes. Wide ones come first, so that they align."""
    return [
        ("dense", "F32", (count, dense), 4 * count * dense),
        ("sparse", "I32", (count, sparse), 4 * count * sparse),
        ("label", "U8", (count,), count),
    ]


def _bytes(array: Any) -> memoryview:
    return memoryview(array).cast("B") if array.size else memoryview(b"")


class Writer:
    """Writes rows as they come, a file whenever there are enough. `close` makes the folder whole."""

    def __init__(self, folder: Path, schema: Schema, tables: tuple[Table, ...], rows_per_file: int):
        if rows_per_file < 1:
            raise ValueError(f"{rows_per_file} rows in a file: there is at least 1")
        self._place = Folder(folder)
        self._place.remove(INDEX)
        self._schema, self._tables, self._most = schema, tables, rows_per_file
        self._parts: list[tuple[Array, Array, Array]] = []
        self._held = 0
        self._files: list[File] = []

    def add(self, label: Array, dense: Array, sparse: Array) -> None:
        """Add rows: label uint8, dense float32, sparse int32."""
        begin = 0
        while begin < len(label):
            end = min(len(label), begin + self._most - self._held)
            self._parts.append((label[begin:end], dense[begin:end], sparse[begin:end]))
            self._held += end - begin
            begin = end
            if self._held == self._most:
                self._flush()

    def _flush(self) -> None:
        label, dense, sparse = (np.concatenate(each) for each in zip(*self._parts, strict=True))
        first = head(_layout(len(label), dense.shape[1], sparse.shape[1]))
        pieces: list[bytes | memoryview] = [first]
        pieces += [_bytes(each) for each in (dense.astype("<f4"), sparse.astype("<i4"), label)]
        checksum = 0
        for piece in pieces:
            checksum = zlib.crc32(piece, checksum)
        name = f"shard-{len(self._files):05}.safetensors"
        self._place.write(name, pieces)
        size = sum(len(piece) for piece in pieces)
        self._files.append(File(name, len(label), size, len(first), checksum))
        self._parts, self._held = [], 0

    def close(self) -> Index:
        """Write what is left, and the index. Raises `ValueError` where there is no row."""
        if self._held:
            self._flush()
        if not self._files:
            raise ValueError("there is no row to write")
        rows = sum(each.rows for each in self._files)
        index = Index(rows, self._most, self._schema, self._tables, tuple(self._files))
        self._place.swap(INDEX, msgspec.json.format(msgspec.json.encode(index), indent=1))
        return index


class Dataset:
    """A folder of shards, for reading; threads may share it.

    Raises `FileNotFoundError` where a folder has no index, and `ValueError` where a file is not as long as it says.
    """

    def __init__(self, folder: str | Path):
        self._folder = Path(folder)
        path = self._folder / INDEX
        if not path.exists():
            raise FileNotFoundError(f"{folder} has no {INDEX}: it is no folder of shards, or is not whole")
        try:
            self.index = msgspec.json.decode(path.read_bytes(), type=Index)
        except msgspec.DecodeError as error:
            raise ValueError(f"{path} is no index of shards: {error}") from error
        if self.index.version > VERSION:
            raise ValueError(f"{path} is of version {self.index.version}, from a later couler-py: this reads {VERSION}")
        for each in self.index.files:
            size = (self._folder / each.name).stat().st_size
            if size != each.size:
                raise ValueError(f"{self._folder / each.name} has {size} bytes, not {each.size}: cut off?")
        self._handles: dict[int, int] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        """How many rows there are."""
        return self.index.rows

    def __enter__(self) -> Dataset:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def take(self, start: int, stop: int) -> Batch:
        """The rows from one number up to another. Raises `IndexError` for rows that there are not.

        Bytes are copied from the files, not mapped, so that memory holds no more than what was asked for.
        """
        if not 0 <= start <= stop <= len(self):
            raise IndexError(f"rows {start} to {stop}: there are {len(self)}")
        count, schema = stop - start, self.index.schema
        label: Array = np.empty(count, np.uint8)
        dense: Array = np.empty((count, len(schema.dense)), "<f4")
        sparse: Array = np.empty((count, len(schema.sparse)), "<i4")
        at = start
        while at < stop:
            number, within = divmod(at, self.index.rows_per_file)
            file = self.index.files[number]
            upto = min(stop, number * self.index.rows_per_file + file.rows)
            mine = slice(at - start, upto - start)
            offset = file.start
            for into in (dense, sparse, label):
                width = into.itemsize * (into.shape[1] if into.ndim > 1 else 1)
                self._fill(number, offset + within * width, into[mine])
                offset += file.rows * width
            at = upto
        return Batch(label.astype(np.float32), dense, sparse, np.arange(start, stop))

    def verify(self) -> None:
        """Read all files. Raises `ValueError`, naming the file, for bytes that were altered."""
        for file in self.index.files:
            checksum = 0
            with open(self._folder / file.name, "rb") as opened:
                while piece := opened.read(1 << 20):
                    checksum = zlib.crc32(piece, checksum)
            if checksum != file.checksum:
                raise ValueError(f"{self._folder / file.name} was altered: its checksum is another")

    def close(self) -> None:
        """Close the files."""
        with self._lock:
            handles, self._handles = self._handles, {}
        for handle in handles.values():
            os.close(handle)

    def _fill(self, number: int, offset: int, into: Array) -> None:
        rest = _bytes(into)
        while rest:
            with self._lock:  # a handle that another thread closes could be anybody's file by then
                done = os.preadv(self._handle(number), [rest], offset)
            if not done:
                raise ValueError(f"{self._folder / self.index.files[number].name} is cut off at byte {offset}")
            rest, offset = rest[done:], offset + done

    def _handle(self, number: int) -> int:
        if number not in self._handles:
            if len(self._handles) >= OPEN:
                os.close(self._handles.pop(next(iter(self._handles))))
            self._handles[number] = os.open(self._folder / self.index.files[number].name, os.O_RDONLY)
        return self._handles[number]
