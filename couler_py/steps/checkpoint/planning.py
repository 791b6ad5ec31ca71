"""Who writes which cell, and who needs which: pure, the same on every rank. No torch here."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import msgspec

from couler_py.steps.checkpoint.boxes import GRAIN, Box, Edges, cells, edges, meeting
from couler_py.steps.checkpoint.manifest import WIDTHS, CheckpointError, Manifest


class Held(msgspec.Struct, frozen=True):
    """What a rank holds of a tensor."""

    dtype: str
    shape: tuple[int, ...]
    """Of the whole tensor."""
    boxes: tuple[Box, ...]
    same_as: str | None = None
    """Another tensor of this rank in the same memory."""


class Part(msgspec.Struct, frozen=True):
    """A cell that a rank writes."""

    tensor: str
    number: int
    box: Box
    size: int


class Layout(msgspec.Struct, frozen=True):
    """How tensors are cut, and which cells each rank writes, in the order of its file."""

    tensors: dict[str, tuple[str, tuple[int, ...], Edges, str | None]]
    """By name: type, shape, edges, and the tensor in whose memory it lies."""
    parts: tuple[tuple[Part, ...], ...]
    """By rank."""

    def dtypes(self) -> dict[str, str]:
        """The type of each tensor's numbers."""
        return {name: dtype for name, (dtype, *_) in self.tensors.items()}


def plan(held: Sequence[Mapping[str, Held]], grain: int = GRAIN) -> Layout:
    """Give each cell to one of the ranks that hold it, the one that has least to write so far.

    `held` is by rank. Raises `CheckpointError` where ranks differ about a tensor, or none holds some of it.
    """
    tensors: dict[str, tuple[str, tuple[int, ...], Edges, str | None]] = {}
    parts: list[list[Part]] = [[] for _ in held]
    load = [0] * len(held)
    names = sorted({name for each in held for name in each})
    for name in names:
        holders = [(rank, each[name]) for rank, each in enumerate(held) if name in each]
        first = holders[0][1]
        for rank, other in holders[1:]:
            if (other.dtype, other.shape, other.same_as) != (first.dtype, first.shape, first.same_as):
                raise CheckpointError(
                    f"{name!r} is {_told(first)} on rank {holders[0][0]} and {_told(other)} on rank {rank}"
                )
        width = WIDTHS[first.dtype]
        boxes = {box for _, each in holders for box in each.boxes if box.size}
        cuts = edges(first.shape, width, sorted(boxes), grain)
        tensors[name] = (first.dtype, first.shape, cuts, first.same_as)
        if first.same_as is not None:
            continue
        owners: defaultdict[int, list[int]] = defaultdict(list)
        for rank, each in holders:
            for number in sorted({number for box in each.boxes for number, _ in meeting(cuts, box)}):
                owners[number].append(rank)
        for number, box in enumerate(cells(cuts)):
            if number not in owners:
                raise CheckpointError(f"no rank holds {_where(box)} of {name!r}, whose shape is {list(first.shape)}")
            rank = min(owners[number], key=lambda rank: (load[rank], rank))
            size = box.size * width
            load[rank] += size
            parts[rank].append(Part(name, number, box, size))
    return Layout(tensors, tuple(map(tuple, parts)))


class Need(msgspec.Struct, frozen=True):
    """A cell that a rank reads, and the boxes of its own that it meets."""

    tensor: str
    number: int
    box: Box
    file: int
    offset: int
    size: int
    checksum: int


class Run(msgspec.Struct, frozen=True):
    """Cells that lie one behind the other in a file: one read."""

    file: int
    offset: int
    size: int
    needs: tuple[Need, ...]


LONGEST = 1 << 26
"""Bytes of one read, so that a large tensor is not in memory twice."""


def reads(manifest: Manifest, wanted: Mapping[str, Sequence[Box]]) -> list[Run]:
    """What to read for some boxes of some tensors: each cell once, neighbours together.

    Raises `CheckpointError` for a tensor that isn't there, or a box that is not within it.
    """
    needs: dict[tuple[int, int], Need] = {}
    for name, boxes in wanted.items():
        tensor = manifest.tensor(name)
        full = Box((0,) * len(tensor.shape), tensor.shape)
        stored = tensor.same_as or name
        for box in boxes:
            if len(box.shape) != len(tensor.shape) or (box.size and not full.holds(box)):
                raise CheckpointError(f"{_where(box)} is not within {name!r}, whose shape is {list(tensor.shape)}")
            for number, cell in meeting(tensor.edges, box):
                at = tensor.cells[number]
                size = cell.size * WIDTHS[tensor.dtype]
                needs[at.file, at.offset] = Need(stored, number, cell, at.file, at.offset, size, at.checksum)
    runs: list[Run] = []
    row: list[Need] = []
    for _, need in sorted(needs.items()):
        joined = row and row[-1].file == need.file and row[-1].offset + row[-1].size == need.offset
        if row and not (joined and need.offset + need.size - row[0].offset <= LONGEST):
            runs.append(_run(row))
            row = []
        row.append(need)
    if row:
        runs.append(_run(row))
    return runs


def _run(row: list[Need]) -> Run:
    last = row[-1]
    return Run(last.file, row[0].offset, last.offset + last.size - row[0].offset, tuple(row))


def _told(held: Held) -> str:
    tied = f", the same as {held.same_as!r}" if held.same_as else ""
    return f"{held.dtype} {list(held.shape)}{tied}"


def _where(box: Box) -> str:
    spans = [f"{start}:{start + length}" for start, length in zip(box.offset, box.shape, strict=True)]
    return f"[{', '.join(spans)}]"
