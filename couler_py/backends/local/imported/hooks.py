"""Hooks of imported tasks: that one fails changes nothing, and the one named `exit` waits for the end."""

from __future__ import annotations

import asyncio

from couler_py.backends.local.scheduling.hooks import Watch
from couler_py.backends.local.scope import Scope
from couler_py.ir.model import Hook
from couler_py.store.records import Result

EXIT = ("exit", "onExit")
"""Hooks of the end; the latter is what a task's `onExit` is called."""


class ImportedWatch(Watch):
    """The hooks of one task, or of one item of a fan-out."""

    def due(self, hook: Hook, scope: Scope, result: Result | None) -> bool:
        if hook.name in EXIT and (result is None or result.state not in ("Succeeded", "Failed")):
            return False
        return super().due(hook, scope, result)

    async def ended(self, result: Result) -> Result:
        self._look("Error" if result.errored else result.state, result)
        try:
            await asyncio.gather(*self.running)
        except BaseException:
            await self.end()
            raise
        return result
