"""Which jobs share a pass: padding all of them to one length costs time, and so does a pass more."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec


class Shape(msgspec.Struct, frozen=True):
    """What a job brings to a pass."""

    rows: int
    length: int


def groups(shapes: Sequence[Shape], fits: Callable[[int, int], bool], overhead: int) -> list[list[int]]:
    """Numbers of shapes in groups, each a pass, so that tokens with padding and `overhead` for each pass are fewest.

    In some best grouping each group is an interval of the shapes sorted by length: a job always goes well with the
    shortest group that is as long as itself. So a dynamic program over the sorted shapes finds it. `fits` says whether
    a pass of so many rows of a length may be made; then the best of intervals is what is found. A single shape always
    may. All groups together are one turn, so no job is passed over for its length.

    >>> groups([Shape(4, 64), Shape(4, 8), Shape(4, 56)], lambda rows, length: True, overhead=100)
    [[1], [0, 2]]
    """
    order = sorted(range(len(shapes)), key=lambda number: (shapes[number].length, number))
    best: list[tuple[int, int]] = [(0, 0)]
    for end in range(1, len(order) + 1):
        length, rows = shapes[order[end - 1]].length, 0
        choices = []
        for begin in range(end - 1, -1, -1):
            rows += shapes[order[begin]].rows
            if begin < end - 1 and not fits(rows, length):
                break
            choices.append((best[begin][0] + rows * length + overhead, begin))
        best.append(min(choices))
    made: list[list[int]] = []
    end = len(order)
    while end:
        begin = best[end][1]
        made.append(sorted(order[begin:end]))
        end = begin
    return made[::-1]
