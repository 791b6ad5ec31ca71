"""Steps that serve others while their graph runs."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable
from pathlib import Path

from couler_py.backends.local.containers.group import READY
from couler_py.backends.local.context import Attempt, Call, Context
from couler_py.backends.local.runs.logbounds import shorten
from couler_py.backends.local.steps import attempts
from couler_py.backends.local.warden.wardens import Record, WardenLostError
from couler_py.store.records import Result


class Daemon:
    """A step that serves others while their graph runs."""

    def __init__(self, context: Context, path: str, folder: Path, work: asyncio.Future[Record]):
        self._context, self._path, self._folder, self._work = context, path, folder, work
        self.holds = contextlib.AsyncExitStack()

    async def end(self) -> None:
        """End it with its graph."""
        from couler_py.backends.local.steps.leaves import without_containers

        async with self.holds:
            self._context.wardens.end(self._folder.name, kill=self._context.kill)
            try:
                await self._work
            except WardenLostError:
                await attempts.end(self._folder, lambda: self._context.kill)
            self._context.running.pop(self._path, None)
            shorten(self._folder / "log", self._context.log_limit)
            await without_containers(self._context, self._path, self._folder)


async def serve(
    context: Context,
    made: Call,
    folder: Path,
    work: asyncio.Future[Record],
    kept: Callable[[], contextlib.AsyncExitStack],
) -> Attempt:
    """A daemon counts as Succeeded once its process has started, or its container serves."""
    from couler_py.backends.local.steps.leaves import ended

    daemon = Daemon(context, made.path, folder, work)
    try:
        while not work.done() and not _serves(context, made.path, folder):
            await asyncio.sleep(0.005)
    except asyncio.CancelledError:
        await daemon.end()
        raise
    if work.done():
        found = attempts.record(folder)
        context.running.pop(made.path, None)
        if found is not None:
            return await ended(context, made, folder, found)
        shorten(folder / "log", context.log_limit)
        return Attempt(Result("Failed", message="the daemon ended before it served anybody"), "lost")
    daemon.holds = kept()
    context.daemons.setdefault(made.path, []).append(daemon)
    return Attempt(Result("Succeeded"))


def _serves(context: Context, path: str, folder: Path) -> bool:
    if context.options.runtime == "process":
        return attempts.processes(folder) is not None
    try:
        context.addresses[path] = json.loads((folder / READY).read_text(encoding="utf-8"))["address"]
    except FileNotFoundError:
        return False
    return True
