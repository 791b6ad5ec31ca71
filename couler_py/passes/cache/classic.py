"""The policies that everybody knows: none, all, FIFO, LRU, LFU, GreedyDual-Size-Frequency."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from couler_py.passes.cache.shelf import Kept, Shelf

Score = Callable[[Kept], float]


def make_room(shelf: Shelf, new: Kept, score: Score, *, drop_new: bool = False) -> list[Kept]:
    """Take the new one in, and let go what scores least until all fits; with `drop_new` that may be the new one itself.

    Gives what went, in order. One that is larger than the whole budget isn't taken in.
    """
    if new.artifact.size > shelf.budget:
        return [new]
    shelf.held[new.artifact.key] = new
    gone = []
    left = shelf.size
    while left > shelf.budget:
        others = [each for each in shelf.held.values() if drop_new or each is not new]
        least = min(others, key=lambda each: (score(each), each.entered, each.artifact.key))
        del shelf.held[least.artifact.key]
        left -= least.artifact.size
        gone.append(least)
    return gone


class Nothing:
    """Keeps nothing."""

    name = "none"
    bounded = True

    def used(self, shelf: Shelf, kept: Kept) -> None:
        """Never happens."""

    def offered(self, shelf: Shelf, made: Sequence[Kept]) -> None:
        """Let all go."""
        shelf.held.clear()


class Everything:
    """Keeps everything, whatever the budget: what it saves is the most that can be saved."""

    name = "all"
    bounded = False

    def used(self, shelf: Shelf, kept: Kept) -> None:
        """Changes nothing."""

    def offered(self, shelf: Shelf, made: Sequence[Kept]) -> None:
        """Take all in."""
        shelf.held.update((each.artifact.key, each) for each in made)


class Fifo:
    """First in, first out."""

    name = "fifo"
    bounded = True

    def used(self, shelf: Shelf, kept: Kept) -> None:
        """Changes nothing."""

    def offered(self, shelf: Shelf, made: Sequence[Kept]) -> None:
        """Let go what came first."""
        for each in made:
            make_room(shelf, each, lambda kept: kept.entered)


class Lru:
    """What was used least recently goes."""

    name = "lru"
    bounded = True

    def used(self, shelf: Shelf, kept: Kept) -> None:
        """The moment of its use is noted by who asks."""

    def offered(self, shelf: Shelf, made: Sequence[Kept]) -> None:
        """Let go what nobody used for longest."""
        for each in made:
            make_room(shelf, each, lambda kept: kept.used)


class Lfu:
    """What was used least often goes; among equals, what was used least recently."""

    name = "lfu"
    bounded = True

    def used(self, shelf: Shelf, kept: Kept) -> None:
        """Uses are counted by who asks."""

    def offered(self, shelf: Shelf, made: Sequence[Kept]) -> None:
        """Let go what was used least often."""
        for each in made:
            latest = max((kept.used for kept in (*shelf.held.values(), each)), default=0.0) + 1
            make_room(shelf, each, lambda kept, latest=latest: kept.uses + kept.used / latest)  # type: ignore[misc]


class GreedyDual:
    """GreedyDual-Size-Frequency: the rank of an artifact is L + uses · seconds / bytes.

    L is the rank of what was let go last, so that what isn't used any more grows old (Cherkasova, "Improving WWW
    proxies performance with Greedy-Dual-Size-Frequency caching policy", HP Labs HPL-98-69R1, 1998).
    """

    name = "gdsf"
    bounded = True

    def used(self, shelf: Shelf, kept: Kept) -> None:
        """Rank it anew."""
        kept.rank = self._rank(shelf, kept)

    def offered(self, shelf: Shelf, made: Sequence[Kept]) -> None:
        """Let go what ranks least, maybe the new one."""
        for each in made:
            each.rank = self._rank(shelf, each)
            gone = make_room(shelf, each, lambda kept: kept.rank, drop_new=True)
            shelf.age = max([shelf.age, *(kept.rank for kept in gone if kept.artifact.size <= shelf.budget)])

    def _rank(self, shelf: Shelf, kept: Kept) -> float:
        return shelf.age + kept.uses * kept.artifact.seconds / max(1, kept.artifact.size)
