"""Named locks: mutexes and semaphores, held across all runs of this user on this machine."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

from couler_py.backends.local.context import Context
from couler_py.backends.local.scope import Scope, TaskFailure
from couler_py.ir.model import Lock, Semaphore
from couler_py.store.locks import release, try_slot

SHORTEST, LONGEST = 0.005, 0.25  # seconds between two tries for a lock that somebody else holds


@contextlib.asynccontextmanager
async def holding(context: Context, locks: tuple[Lock, ...], scope: Scope) -> AsyncIterator[list[int]]:
    """Wait for some locks and hold them; gives the descriptors that do.

    Taken in the order of their names, so that two tasks never wait for each other.
    """
    if not locks:
        yield []
        return
    wanted = sorted((_name(lock, scope), _slots(context, lock, scope)) for lock in locks)
    held: list[int] = []
    try:
        for (kind, name), slots in wanted:
            held.append(await _wait(kind, name, slots))
        yield held
    finally:
        release(held)


def _name(lock: Lock, scope: Scope) -> tuple[str, str]:
    if isinstance(lock, Semaphore):
        reference = lock.config_map
        name = (
            scope.text(lock.name) if reference is None else f"{scope.text(reference.name)}/{scope.text(reference.key)}"
        )
        return "semaphore", f"{lock.namespace}/{name}"
    return "mutex", f"{lock.namespace}/{scope.text(lock.name)}"


def _slots(context: Context, lock: Lock, scope: Scope) -> int:
    if not isinstance(lock, Semaphore):
        return 1
    if lock.limit is not None:
        return lock.limit
    if lock.config_map is None:
        raise TaskFailure(f"the semaphore {scope.text(lock.name)!r} has no limit")
    name, key = scope.text(lock.config_map.name), scope.text(lock.config_map.key)
    text = context.options.config_maps.get(name, {}).get(key)
    if text is None or not text.strip().isdigit():
        raise TaskFailure(
            f"the semaphore's limit stands in the ConfigMap {name!r}, key {key!r}, which this machine doesn't have: "
            f'write it into {context.home.path / "config.toml"} as [local.config_maps.{name}] {key} = "1"'
        )
    return int(text)


async def _wait(kind: str, name: str, slots: int) -> int:
    pause = SHORTEST
    while True:
        handle = try_slot(kind, name, slots)
        if handle is not None:
            return handle
        await asyncio.sleep(pause)
        pause = min(pause * 2, LONGEST)
