"""What a checkpoint says about itself: its tensors, where each cell lies, and facts beside them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import msgspec

from couler_py.steps.checkpoint.boxes import Box, Edges, cells

VERSION = 1
MANIFEST = "manifest.json"

WIDTHS = {
    "F64": 8, "F32": 4, "F16": 2, "BF16": 2, "F8_E4M3": 1, "F8_E5M2": 1, "C64": 8,
    "I64": 8, "I32": 4, "I16": 2, "I8": 1, "U64": 8, "U32": 4, "U16": 2, "U8": 1, "BOOL": 1,
}  # fmt: skip
"""Bytes of a number, by the name that safetensors has for its type."""


class CheckpointError(ValueError):
    """What is wrong with a checkpoint, or with what was to be saved or read: which tensor, file and place."""


class Cell(msgspec.Struct, frozen=True, array_like=True):
    """Where the bytes of a cell lie, and their CRC-32."""

    file: int
    offset: int
    checksum: int


class Tensor(msgspec.Struct, frozen=True, omit_defaults=True):
    """A tensor: its type and whole shape, where it is cut, and its cells in the order of `boxes.cells`."""

    dtype: str
    shape: tuple[int, ...]
    edges: Edges
    cells: tuple[Cell, ...] = ()
    same_as: str | None = None
    """The tensor whose memory it shares (tied weights): it has no cells of its own."""

    @property
    def size(self) -> int:
        """Its bytes."""
        return math.prod(self.shape) * WIDTHS[self.dtype]

    def boxes(self) -> list[Box]:
        """The box of each cell."""
        return cells(self.edges)


class File(msgspec.Struct, frozen=True):
    """A file with cells, in the format of safetensors."""

    name: str
    size: int


class Manifest(msgspec.Struct, frozen=True):
    """All of a checkpoint but its numbers. It is written last: a folder that has one is whole."""

    step: int
    tensors: dict[str, Tensor]
    files: tuple[File, ...]
    facts: dict[str, Any] = {}
    """What was saved beside tensors, as JSON: cursors, seeds, settings."""
    version: int = VERSION

    def tensor(self, name: str) -> Tensor:
        """A tensor, with the cells of that which it shares its memory with. Raises `CheckpointError` for none."""
        found = self.tensors.get(name)
        if found is None:
            raise CheckpointError(f"this checkpoint of step {self.step} has no {name!r}; {near(name, self.tensors)}")
        if found.same_as is None:
            return found
        return msgspec.structs.replace(self.tensors[found.same_as], same_as=found.same_as)

    def placed(self) -> Iterator[tuple[str, int, Box, Cell, int]]:
        """Every cell that is stored: its tensor, number, box, place, and bytes."""
        for name, tensor in self.tensors.items():
            for number, (box, cell) in enumerate(zip(tensor.boxes(), tensor.cells, strict=False)):
                yield name, number, box, cell, box.size * WIDTHS[tensor.dtype]


def encode(manifest: Manifest) -> bytes:
    """A manifest as JSON: the same one, the same bytes."""
    return msgspec.json.encode(manifest, order="sorted")


def decode(data: bytes, source: str) -> Manifest:
    """A manifest from JSON; `source` names it in errors.

    Raises `CheckpointError` for what is none, for one of a later version, and for one that contradicts itself.
    """
    try:
        manifest = msgspec.json.decode(data, type=Manifest)
    except msgspec.DecodeError as error:
        raise CheckpointError(f"{source} is no manifest of a checkpoint: {error}") from error
    if manifest.version > VERSION:
        raise CheckpointError(
            f"{source} is of version {manifest.version}, written by a later couler-py: this reads {VERSION}"
        )
    for name, tensor in manifest.tensors.items():
        if problem := _contradiction(manifest, tensor):
            raise CheckpointError(f"{source} contradicts itself about {name!r}: {problem}")
    return manifest


def near(name: str, names: dict[str, Any]) -> str:
    """Which names there are that could have been meant."""
    import difflib

    found = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    return f"it has {', '.join(map(repr, found))}" if found else f"it has {len(names)} others"


def _contradiction(manifest: Manifest, tensor: Tensor) -> str | None:
    if tensor.dtype not in WIDTHS:
        return f"{tensor.dtype!r} is no type of numbers"
    if tensor.same_as is not None:
        other = manifest.tensors.get(tensor.same_as)
        same = (
            other is not None and other.same_as is None and (other.dtype, other.shape) == (tensor.dtype, tensor.shape)
        )
        return None if same else f"it is the same as {tensor.same_as!r}, which is another"
    rows = [(tuple(sorted(set(row))), length) for row, length in zip(tensor.edges, tensor.shape, strict=False)]
    if len(tensor.edges) != len(tensor.shape) or any(row[:1] != (0,) or row[-1] != length for row, length in rows):
        return "its edges don't span its shape"
    if any(tuple(row) != kept for row, (kept, _) in zip(tensor.edges, rows, strict=True)):
        return "its edges are not in order"
    if math.prod(len(row) - 1 for row in tensor.edges) != len(tensor.cells):
        return f"{len(tensor.cells)} cells"
    if any(not 0 <= cell.file < len(manifest.files) or cell.offset < 0 for cell in tensor.cells):
        return "a cell lies in no file"
    return None
