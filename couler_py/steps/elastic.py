"""The same global batch whatever the number of processes: what each of them has to do of a step of training.

A job that was planned with N processes does N micro-batches a step. With n of them alive, process r does N // n, and
one more where r < N mod n (DLRover, docs/design/dlrover-overview.md, "fixed global batch"); gradients are summed over
all micro-batches, so that a step is the same step with fewer processes, and takes longer.
"""

from __future__ import annotations

import os


def planned() -> int:
    """The processes that the job was planned with, as its launcher says; without one, those that there are.

    >>> planned()
    1
    """
    return int(os.environ.get("COULER_PLANNED_WORLD") or os.environ.get("WORLD_SIZE") or 1)


def microbatches(planned: int, rank: int, world: int) -> range:
    """The micro-batches of a step that a process does: of all `planned`, each is some process's, and one's alone.

    Raises `ValueError` for a process that isn't among `world`.

    >>> [list(microbatches(4, rank, 3)) for rank in range(3)]
    [[0, 1], [2], [3]]
    """
    if not 0 <= rank < world:
        raise ValueError(f"there is no rank {rank} among {world} processes")
    each, more = divmod(planned, world)
    first = rank * each + min(rank, more)
    return range(first, first + each + (rank < more))
