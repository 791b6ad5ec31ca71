"""Cells in files of the safetensors format: a rank writes one file, anybody reads a part of it.

The format (https://github.com/huggingface/safetensors): eight bytes with the length of the header, the header as JSON
with the type, shape and bytes of each tensor, then the bytes. A cell's name is that of its tensor and its number.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec

from couler_py.steps.checkpoint.manifest import CheckpointError
from couler_py.steps.checkpoint.places import Bytes, Place
from couler_py.steps.checkpoint.planning import Part, Run

ALIGNED = 8  # what safetensors pads its header to


class Written(msgspec.Struct, frozen=True):
    """What a rank has written: the checksums of its parts, and how long its file and the header in it are."""

    rank: int
    size: int
    start: int
    checksums: tuple[int, ...]


def header(parts: Sequence[Part], dtypes: dict[str, str]) -> bytes:
    """The first bytes of a file with some cells."""
    return head((f"{part.tensor}#{part.number}", dtypes[part.tensor], part.box.shape, part.size) for part in parts)


def head(rows: Iterable[tuple[str, str, Sequence[int], int]], **metadata: str) -> bytes:
    """The first bytes of a file of safetensors: of each tensor its name, type, shape and bytes, in their order."""
    told: dict[str, object] = {"__metadata__": metadata} if metadata else {}
    at = 0
    for name, dtype, shape, size in rows:
        told[name] = {"dtype": dtype, "shape": shape, "data_offsets": (at, at + size)}
        at += size
    text = msgspec.json.encode(told)
    text += b" " * (-len(text) % ALIGNED)
    return len(text).to_bytes(8, "little") + text


def write(
    where: Place,
    path: str,
    rank: int,
    parts: Sequence[Part],
    dtypes: dict[str, str],
    data: Callable[[Part], Bytes],
    reached: Callable[[], None] = lambda: None,
) -> Written:
    """Write the cells of a rank, each read by `data` when its turn comes; `reached` is called in the midst of it."""
    first = header(parts, dtypes)
    checksums: list[int] = []

    def pieces() -> Iterator[Bytes]:
        yield first
        for number, part in enumerate(parts):
            if number == len(parts) // 2:
                reached()
            piece = data(part)
            if len(piece) != part.size:
                raise CheckpointError(f"cell {part.number} of {part.tensor!r} has {len(piece)} bytes, not {part.size}")
            checksums.append(zlib.crc32(piece))
            yield piece

    where.write(path, pieces())
    return Written(rank, len(first) + sum(part.size for part in parts), len(first), tuple(checksums))


def read(where: Place, folder: str, name: str, run: Run) -> Iterator[tuple[int, memoryview]]:
    """The cells of a run, by their place in it. Raises `CheckpointError`, which names the cell, for altered bytes."""
    try:
        data = memoryview(where.read(f"{folder}/{name}", run.offset, run.size))
    except FileNotFoundError as error:
        raise CheckpointError(f"{where.name}/{folder}/{name} is gone") from error
    for number, need in enumerate(run.needs):
        begin = need.offset - run.offset
        piece = data[begin : begin + need.size]
        what = f"cell {need.number} of {need.tensor!r} in {where.name}/{folder}/{name}"
        if len(piece) != need.size:
            raise CheckpointError(f"{what} is cut off: {len(piece)} of {need.size} bytes from byte {need.offset} on")
        if zlib.crc32(piece) != need.checksum:
            raise CheckpointError(f"{what} was altered: bytes {need.offset} to {need.offset + need.size}")
        yield number, piece
