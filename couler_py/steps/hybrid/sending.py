"""What ranks of a pipeline do and send each other in a step, and in which order. No torch here.

Every pair of ranks and direction is a channel in which messages have one order: that of the sender's operations, which
is the receiver's too, or the receiver would take one for another.
"""

from __future__ import annotations

import itertools

from couler_py.steps.hybrid.layout import Section
from couler_py.steps.hybrid.slices import Shape, bounded, explicit
from couler_py.steps.hybrid.timeline import Op

Kind = str
"""F for activations, B for gradients."""


def orders(shape: Shape, live: int | None) -> list[list[Op]]:
    """What each worker of a pipeline does, in its order.

    Raises `ValueError` where micro-batches don't make whole groups, and `DeadlockError` for too few live slices.
    """
    if not shape.is_even:
        raise ValueError(
            f"{shape.micros} micro-batches in {shape.slices} slices and {shape.chunks} chunks don't keep "
            f"{shape.workers} stages busy: take a multiple of {shape.group}"
        )
    return explicit(shape) if live is None else [list(each) for each in bounded(shape, live).orders]


def links(row: tuple[Section, ...]) -> list[tuple[Kind, int, int]]:
    """Who sends to whom in a pipeline, in one order on all ranks: direction, source and target.

    Groups of two sections may differ in size: each rank of one gets its copy from one rank of the other.
    """
    found = []
    for before, after in itertools.pairwise(row):
        found += [("F", source_of(before, place), rank) for place, rank in enumerate(after.ranks)]
        found += [("B", source_of(after, place), rank) for place, rank in enumerate(before.ranks)]
    return [each for each in dict.fromkeys(found) if each[1] != each[2]]


def source_of(section: Section, place: int) -> int:
    """The rank of a section from which the rank at a place of the next or last one gets its copy."""
    return section.ranks[place % len(section.ranks)]


def neighbour(row: tuple[Section, ...], op: Op, step: int) -> Section | None:
    """The section that an operation's result goes to (`step` 1), or that it gets something from (-1)."""
    number = op.stage + (step if op.kind == "F" else -step)
    return row[number] if 0 <= number < len(row) else None


def sender(row: tuple[Section, ...], op: Op, place: int) -> int | None:
    """The rank from which the one at a place of its group gets what an operation needs, itself too; None for none."""
    before = neighbour(row, op, -1)
    return None if before is None else source_of(before, place)


def receivers(row: tuple[Section, ...], op: Op, rank: int) -> list[int]:
    """The ranks to which a rank gives what an operation came to, itself too where it has the next section."""
    after, own = neighbour(row, op, 1), row[op.stage]
    return [each for place, each in enumerate(after.ranks) if source_of(own, place) == rank] if after else []
