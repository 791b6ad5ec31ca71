"""Parts of tensors as boxes, and the cells into which a tensor is cut. No torch here."""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Iterable, Iterator, Sequence

import msgspec

WAYS = ((2, 3, 4, 6, 8), (2, 3, 4))
"""Into how many parts the first and the second dimension may be shared without a cell being cut.

Rows are shared by data, tensor and fully sharded parallelism, columns by tensor parallelism.
"""
GRAIN = 1 << 16
"""Tensors of fewer bytes than this are one cell: reading a little too much costs less than another read."""


class Box(msgspec.Struct, frozen=True, order=True):
    """A part of a tensor: where it begins in each dimension, and how long it is there."""

    offset: tuple[int, ...]
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """How many numbers are in it."""
        return math.prod(self.shape)

    def meet(self, other: Box) -> Box | None:
        """What is in both boxes, where that is anything."""
        starts = tuple(map(max, self.offset, other.offset))
        ends = (
            min(a + n, b + m) for a, n, b, m in zip(self.offset, self.shape, other.offset, other.shape, strict=True)
        )
        shape = tuple(end - start for start, end in zip(starts, ends, strict=True))
        return Box(starts, shape) if all(length > 0 for length in shape) else None

    def holds(self, other: Box) -> bool:
        """Whether all of another box is in this one."""
        return all(
            a <= b and b + m <= a + n
            for a, n, b, m in zip(self.offset, self.shape, other.offset, other.shape, strict=True)
        )

    def within(self, outer: Box) -> tuple[slice, ...]:
        """Where this box lies in an array that holds an outer one."""
        return tuple(slice(a - b, a - b + n) for a, b, n in zip(self.offset, outer.offset, self.shape, strict=True))


def whole(shape: Sequence[int]) -> Box:
    """All of a tensor."""
    return Box((0,) * len(shape), tuple(shape))


Edges = tuple[tuple[int, ...], ...]
"""Where the cells of a tensor begin and the last one ends, for each dimension."""


def edges(shape: Sequence[int], width: int, boxes: Iterable[Box] = (), grain: int = GRAIN) -> Edges:
    """Where a tensor is cut: where the usual ways of sharing cut it, and where boxes begin and end.

    `width` is the bytes of a number. With no box, or with those of the usual ways, it depends on the shape alone.
    """
    cuts = [{0, length} for length in shape]
    if math.prod(shape) * width >= grain:
        for length, ways, found in zip(shape, WAYS, cuts, strict=False):
            for parts in ways:
                step = -(-length // parts)  # as torch.chunk and DTensor's Shard cut
                found.update(range(0, length, step) if step else ())
    for box in boxes:
        for start, size, length, found in zip(box.offset, box.shape, shape, cuts, strict=True):
            found.update(at for at in (start, start + size) if 0 <= at <= length)
    return tuple(tuple(sorted(found)) for found in cuts)


def cells(cuts: Edges) -> list[Box]:
    """All cells, the last dimension fastest; a tensor without a number in it has none."""
    spans = [list(itertools.pairwise(row)) for row in cuts]
    return [
        Box(tuple(start for start, _ in each), tuple(end - start for start, end in each))
        for each in itertools.product(*spans)
    ]


def meeting(cuts: Edges, box: Box) -> Iterator[tuple[int, Box]]:
    """The cells that meet a box, by their number among all."""
    if not box.size:
        return
    spans = []
    for row, start, length in zip(cuts, box.offset, box.shape, strict=True):
        first = bisect.bisect_right(row, start) - 1
        last = bisect.bisect_left(row, start + length)
        spans.append(range(first, last))
    counts = [len(row) - 1 for row in cuts]
    for place in itertools.product(*spans):
        number = 0
        for index, count in zip(place, counts, strict=True):
            number = number * count + index
        offset = tuple(row[index] for row, index in zip(cuts, place, strict=True))
        shape = tuple(row[index + 1] - row[index] for row, index in zip(cuts, place, strict=True))
        yield number, Box(offset, shape)
