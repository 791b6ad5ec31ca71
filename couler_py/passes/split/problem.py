"""What is to be split, as plain numbers: the tasks of a graph, their edges, what they weigh, and what a part may."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec


class Problem(msgspec.Struct, frozen=True, gc=False):
    """A graph of tasks 0…n-1 without cycles, and the limits of a part.

    `before` and `after` are the producers and readers of each task. `sizes` are one list for each measure (tasks,
    bytes, …), `limits` the most of each that a part may have, None where it has no bound. What tasks of one kind need
    only once in a part (their template) is `shared` by kind and measure; -1 is no kind. `fixed` is what every part
    has, `entering` what it has for each producer outside, `leaving` for each of its tasks that is read outside.
    `carried` are the bytes that a task hands to each part that reads it, `times` the seconds that it takes.
    """

    names: Sequence[str]
    before: Sequence[Sequence[int]]
    after: Sequence[Sequence[int]]
    sizes: tuple[Sequence[int], ...]
    limits: tuple[int | None, ...]
    kinds: Sequence[int]
    shared: Sequence[tuple[int, ...]]
    fixed: tuple[int, ...]
    entering: tuple[int, ...]
    leaving: tuple[int, ...]
    carried: Sequence[int]
    times: Sequence[float]

    def __len__(self) -> int:
        return len(self.names)

    @property
    def bounded(self) -> tuple[int, ...]:
        """The measures that have a limit."""
        return tuple(index for index, limit in enumerate(self.limits) if limit is not None)

    def too_large(self) -> list[int]:
        """The tasks that are over a limit alone, so that no part can hold them."""
        found: dict[int, None] = {}
        for measure in self.bounded:
            limit = self.limits[measure] or 0
            room = limit - self.fixed[measure]
            for task, size in enumerate(self.sizes[measure]):
                kind = self.kinds[task]
                need = size + (self.shared[kind][measure] if kind >= 0 else 0)
                need += len(self.before[task]) * self.entering[measure]
                need += self.leaving[measure] if self.after[task] else 0
                if need > room:
                    found[task] = None
        return sorted(found)


def plain(
    edges: Iterable[tuple[int, int]],
    count: int,
    most: int,
    *,
    names: Sequence[str] = (),
    times: Sequence[float] = (),
    carried: Sequence[int] = (),
) -> Problem:
    """A problem with one measure, the number of tasks, of which a part may have `most`.

    >>> plain([(0, 1), (1, 2)], 3, 2).after
    [[1], [2], []]
    """
    before: list[list[int]] = [[] for _ in range(count)]
    after: list[list[int]] = [[] for _ in range(count)]
    for producer, reader in edges:
        before[reader].append(producer)
        after[producer].append(reader)
    return Problem(
        names=names or [f"t{index}" for index in range(count)],
        before=before,
        after=after,
        sizes=([1] * count,),
        limits=(most,),
        kinds=[-1] * count,
        shared=[],
        fixed=(0,),
        entering=(0,),
        leaving=(0,),
        carried=carried or [1] * count,
        times=times or [1.0] * count,
    )
