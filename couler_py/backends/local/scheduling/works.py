"""What goes on side by side: the tasks of one graph, or the items of one fan-out, from their beginning to their end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from couler_py.backends.local.context import Halted
from couler_py.backends.local.journal import Journal
from couler_py.backends.local.scheduling.turns import Turns


class Works:
    """Works that have begun. An error of one ends all; one that was halted lets the others go on."""

    def __init__(self, journal: Journal):
        self._changed = asyncio.Event()
        self._turns = Turns(journal, self._changed.set)
        self._active: dict[asyncio.Task[None], str] = {}
        self._halted: Halted | None = None
        self._error: BaseException | None = None

    @property
    def count(self) -> int:
        """How many go on."""
        return len(self._active)

    @property
    def full(self) -> bool:
        """Whether no more may begin now."""
        return self._turns.full

    def begin(self, path: str, work: Coroutine[Any, Any, None]) -> None:
        """Begin the work of a task, which waits for its turn from now on."""
        self._turns.wait(path)
        task = asyncio.create_task(work)
        self._active[task] = path
        task.add_done_callback(self._done)

    async def run(self, advance: Callable[[], None]) -> None:
        """Let `advance` begin what can be begun, at first and whenever something has changed, until all has ended.

        Raises the first error of a work, and `Halted` if one was halted; none goes on then.
        """
        try:
            advance()
            while self._active:
                self._changed.clear()
                await self._changed.wait()
                if self._error is not None:
                    raise self._error
                advance()
        finally:
            for task in self._active:
                task.cancel()
            while self._active:
                await asyncio.wait(self._active)
        if self._error is not None:
            raise self._error
        if self._halted is not None:
            raise self._halted

    def _done(self, task: asyncio.Task[None]) -> None:
        self._turns.end(self._active.pop(task))
        error = None if task.cancelled() else task.exception()
        if isinstance(error, Halted):
            self._halted = error
        elif error is not None and self._error is None:
            self._error = error
        self._changed.set()
