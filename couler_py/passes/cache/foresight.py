"""Our policy: keep what is expected to save most, by what is known of the rounds to come."""

from __future__ import annotations

from collections.abc import Sequence

from couler_py.passes.cache.improving import planned
from couler_py.passes.cache.shelf import Expected, Kept, Shelf


class Foresight:
    """Plans what to hold through the rounds that are known, or expected, and keeps what the plan holds now.

    What a graph or a sweep will ask for is known from it. What the next run of a workflow asks for is expected from
    its earlier runs (`forecast.py`). The plan counts measured seconds, with those of what would have to be made again
    besides, against bytes and the time for which they are held (`planning.py`, `improving.py`): in the spirit of
    GreedyDual-Size, for cost and size, and of Belady's MIN, for the next use. Without any expectation it keeps what
    costs most for its bytes.
    """

    name = "foresight"
    bounded = True

    def __init__(self) -> None:
        self._coming: list[Expected] = []
        self._plan: list[frozenset[str]] = []

    def used(self, shelf: Shelf, kept: Kept) -> None:
        """What was used is known from the rounds."""

    def offered(self, shelf: Shelf, made: Sequence[Kept]) -> None:
        """Keep what the plan holds; where room is left, what costs most for each byte."""
        there = shelf.held | {each.artifact.key: each for each in made}
        keep = self._now(shelf, there)
        shelf.held.clear()
        shelf.held.update((key, there[key]) for key in sorted(keep))
        self._fill(shelf, there)

    def _now(self, shelf: Shelf, there: dict[str, Kept]) -> frozenset[str]:
        future = list(shelf.future)
        if self._plan and len(self._coming) == len(future) + 1 and self._coming[1:] == future:
            self._coming, self._plan = future, self._plan[1:]
        else:
            self._coming, self._plan = future, planned(shelf.artifacts, there, future, shelf.budget)
        return self._plan[0] & there.keys() if self._plan else frozenset()

    def _fill(self, shelf: Shelf, there: dict[str, Kept]) -> None:
        left = shelf.budget - shelf.size
        for each in sorted(there.values(), key=_density):
            if each.artifact.key not in shelf.held and each.artifact.size <= left:
                shelf.held[each.artifact.key] = each
                left -= each.artifact.size


def _density(kept: Kept) -> tuple[float, str]:
    return -kept.artifact.seconds / max(1, kept.artifact.size), kept.artifact.key
