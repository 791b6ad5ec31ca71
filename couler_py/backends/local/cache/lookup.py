"""A step with a cache: what it would make is looked for, and computed by one task at a time.

Of several that want the same at once, in this run or in others, one computes while the rest wait for it, and then
use what it left. Who computes holds a lock (`flock`) of the key's name; it ends with the process that holds it, so
one that was killed keeps nobody waiting. Only steps are waited for, never graphs and loops: the lock is the last that
is taken before processors and memory, so that no two wait for each other.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

from couler_py.backends.local.artifacts import remote
from couler_py.backends.local.cache.keys import parts
from couler_py.backends.local.context import Call, Context
from couler_py.ir.model import Cache, Function, Http, Script
from couler_py.ir.pod import Container
from couler_py.store import cache, runs
from couler_py.store.locks import lock_file, release, try_lock
from couler_py.store.records import Result, TaskRecord

SHORTEST, LONGEST = 0.005, 0.25  # seconds between two looks for whether who computes is done
LONGEST_ID = 200  # bytes of the lock's file that are read: a run's id has at most 100 characters


async def cached(
    context: Context, made: Call, task: TaskRecord, rule: Cache, compute: Callable[[], Awaitable[Result]]
) -> Result:
    """The result of an earlier success, else what `compute` gives, kept for others where it Succeeded."""
    scope = context.scope(made)
    found = parts(context, made, rule.version, None if rule.key is None else scope.text(rule.key))
    key = cache.key(found)
    hit = await _find(context, key, rule)
    if isinstance(hit, cache.Hit):
        return _use(context, made, task, key, hit)
    async with _alone(context, made, task, key) as waited:
        if waited:
            hit = await _find(context, key, rule)
            if isinstance(hit, cache.Hit):
                return _use(context, made, task, key, hit)
        step = made.template.name
        context.journal.looked_up(made.path, cache.Lookup(key, step, runs.now(), hit, found))
        result = await compute()
        if result.state == "Succeeded":
            now = runs.now()
            took = now - (task.started or now)
            entry = cache.Entry(key, now, context.facts.id, made.path, result, step, found, seconds=took)
            context.journal.cached(entry)
        return result


async def _find(context: Context, key: str, rule: Cache) -> cache.Hit | cache.Miss:
    found = cache.find(context.connection, context.home, key, now=runs.now(), max_age=rule.max_age)
    if isinstance(found, cache.Hit) or found.kind != "gone":
        return found
    # What is gone from this machine may be in the store that it was sent to.
    anyway = cache.find(context.connection, context.home, key, now=runs.now(), max_age=rule.max_age, files=False)
    return anyway if isinstance(anyway, cache.Hit) and await remote.held(context, anyway.result) else found


def _use(context: Context, made: Call, task: TaskRecord, key: str, hit: cache.Hit) -> Result:
    task.cached = f"{hit.run}:{hit.path}"
    context.journal.looked_up(made.path, cache.Lookup(key, made.template.name, runs.now(), None))
    return hit.result


@contextlib.asynccontextmanager
async def _alone(context: Context, made: Call, task: TaskRecord, key: str) -> AsyncIterator[bool]:
    """Be the one who computes; gives whether somebody else did before."""
    if not isinstance(made.template.body, Function | Container | Script | Http):
        yield False
        return
    ours = context.computing.setdefault(key, asyncio.Lock())
    waited = ours.locked()
    async with ours:
        path = lock_file("cache", f"{context.home.path}\0{key}")
        handle = try_lock(path)
        if handle is None:
            waited = True
            handle = await _wait(context, made, path)
        try:
            if handle is not None:
                os.ftruncate(handle, 0)  # one that was killed has left its name
                os.pwrite(handle, context.facts.id.encode(), 0)
            yield waited
        finally:
            if handle is not None:
                path.unlink(missing_ok=True)
                release([handle])


async def _wait(context: Context, made: Call, path: Path) -> int | None:
    """Wait for who computes. Gives None where that run is at rest, for so long as it may please a person."""
    pause = SHORTEST
    said = False
    while True:
        handle = try_lock(path)
        if handle is not None:
            return handle
        other = _holder(path)
        if other and _at_rest(context, other):
            return None
        if other and not said:
            said = True
            context.journal.waits(made.path, f"waits for {other}, which computes the same")
            context.journal.event("note", made.path, text=f"{other} computes the same now: waiting for it")
        await asyncio.sleep(pause)
        pause = min(pause * 2, LONGEST)


def _holder(path: Path) -> str:
    try:
        return path.read_bytes()[:LONGEST_ID].decode()
    except FileNotFoundError:
        return ""


def _at_rest(context: Context, run: str) -> bool:
    row = context.connection.execute("SELECT status FROM runs WHERE id=?", (run,)).fetchone()
    return row is not None and row[0] == "Suspended"
