"""How much of a wide graph or fan-out is begun at once: no more than can soon have its turn.

A task that waits for its turn holds memory. Of a hundred thousand that could start, a few hundred do; each that gets
its turn, or ends, lets another one in. Tasks that run, or wait for a person, don't count: nothing waits for a place
here that only a task without a place could give.
"""

from __future__ import annotations

from collections.abc import Callable

from couler_py.backends.local.journal import Journal

MOST = 500
"""Tasks of one graph, or items of one fan-out, that wait for their turn at once."""


class Turns:
    """The tasks of one graph, or the items of one fan-out, that wait for their turn."""

    def __init__(self, journal: Journal, moved: Callable[[], None]):
        self._turns = journal.turns
        self._moved = moved
        self._count = 0

    @property
    def full(self) -> bool:
        """Whether no more may begin to wait."""
        return self._count >= MOST

    def wait(self, path: str) -> None:
        """A task begins to wait."""
        self._count += 1
        self._turns[path] = self._come

    def end(self, path: str) -> None:
        """A task has ended, whether or not its turn had come."""
        if self._turns.pop(path, None) is not None:
            self._come()

    def _come(self) -> None:
        was_full = self.full
        self._count -= 1
        if was_full:
            self._moved()
