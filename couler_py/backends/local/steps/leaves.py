"""Steps that are processes: Python functions, and the commands of containers and scripts.

What an attempt needs becomes one request to the warden; what it left becomes a result.
"""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path
from typing import Any

from couler_py.backends.local.artifacts import remote
from couler_py.backends.local.containers import orphans
from couler_py.backends.local.context import Attempt, Call, Context
from couler_py.backends.local.machine.capacity import asked
from couler_py.backends.local.runs.logbounds import shorten
from couler_py.backends.local.scheduling import waiting
from couler_py.backends.local.scope import TaskFailure
from couler_py.backends.local.steps import attempts, daemons
from couler_py.backends.local.steps.holding import holding
from couler_py.backends.local.steps.requests import request_of
from couler_py.backends.local.steps.results import read_result
from couler_py.backends.local.warden.wardens import Record, WardenLostError
from couler_py.store import faults, runs
from couler_py.store.records import AttemptRecord, Result


async def run(context: Context, made: Call, number: int, held: list[int]) -> Attempt:
    """Run one attempt of a step to its end, or take over what an earlier engine began of it."""
    key = attempts.key_of(made.path)
    earlier = [each for each in context.attempt_folders.get(key, []) if attempts.number_of(each) == number]
    for folder in reversed(earlier):
        await _finish(context, made, folder)
        found = attempts.record(folder)
        if found is not None and found.get("digest") == made.digest:
            context.journal.began(made.path, found["started"])
            return await ended(context, made, folder, found)
    execution = 1 + max(map(attempts.execution_of, earlier), default=-1)
    folder = context.attempts / attempts.name_of(key, number, execution)
    context.journal.waits(made.path, waiting.SUSPENDED if context.gate.suspended else "")
    await context.gate.enter()
    if any(slots.locked() for slots in made.slots):
        context.journal.waits(made.path, waiting.BOUND)
    async with contextlib.AsyncExitStack() as stack:
        for slots in made.slots:
            await stack.enter_async_context(slots)
        await remote.brought(context, made.artifacts)
        share = context.shares.get(made.template.name)
        if share is None:
            share = context.shares[made.template.name] = asked(made.template)
        if share.gpus > context.machine.total.gpus:
            raise TaskFailure(
                f"it asks for {waiting.count(share.gpus, 'GPU')}, and this machine has {context.machine.total.gpus}"
            )
        # Made before it has its share, so that a share which is free is used at once.
        request = None if share.gpus else await request_of(context, made, number, folder, ())
        context.journal.waits(made.path, waiting.for_share(share))
        holds = await stack.enter_async_context(contextlib.AsyncExitStack())
        grant = await holds.enter_async_context(
            context.machine.use(share, lambda runs: context.journal.waits(made.path, waiting.for_share(share, runs)))
        )
        # Asked again: the run may have been stopped while this waited.
        await context.gate.enter()
        if request is None:
            request = await request_of(context, made, number, folder, grant.gpus)
        request["digest"] = made.digest
        paths = await holds.enter_async_context(holding(request))

        def kept() -> contextlib.AsyncExitStack:
            """What a daemon holds until it ends: its paths, and what it asked for."""
            context.machine.stay(grant, asked(made.template, processors=0.0))
            return holds.pop_all()

        work = _begin(context, made, folder, request, [*held, *paths, *grant.locks])
        if made.template.daemon:
            return await daemons.serve(context, made, folder, work, kept)
        return await _supervised(context, made, folder, work)


async def _finish(context: Context, made: Call, folder: Path) -> None:
    """See an attempt of an earlier engine to its end: wait for a living warden, end what has lost its own."""
    context.taken_over.add(folder)
    if not attempts.claim(folder):
        context.journal.began(made.path)
        context.journal.event("note", made.path, text="still runs since before this engine: waiting for it")
        await attempts.see_to_the_end(folder, lambda: context.kill)
    attempts.end_orphan(folder)


def _begin(
    context: Context, made: Call, folder: Path, request: dict[str, Any], held: list[int]
) -> asyncio.Future[Record]:
    """Hand an attempt to the warden."""
    folder.mkdir()
    faults.reach("attempt.folder")
    context.journal.began(made.path)
    state = AttemptRecord(attempts.number_of(folder), "Running", started=runs.now(), folder=attempts.relative(folder))
    context.journal.attempt(made.path, attempts.execution_of(folder), state)
    if request["redact"]:
        context.hidden[folder.name] = [form.encode("utf-8", "surrogateescape") for form in request["redact"]]
    context.running[made.path] = request["id"]
    return context.wardens.run(request, held)


async def _supervised(context: Context, made: Call, folder: Path, work: asyncio.Future[Record]) -> Attempt:
    began = runs.now()
    try:
        found = await _through(context, work, context.running[made.path], folder)
        faults.reach("attempt.reported")
    except asyncio.CancelledError:
        _unrecorded(context, made, folder, "Stopped", "", began)
        raise
    finally:
        context.hidden.pop(context.running.pop(made.path), None)
        await without_containers(context, made.path, folder)
    if found is None:
        attempts.end_orphan(folder)
        message = "its warden ended without a record: killed, out of memory or disk space"
        _unrecorded(context, made, folder, "Failed", message, began)
        return Attempt(Result("Failed", message=message), "lost")
    return await ended(context, made, folder, found)


def _unrecorded(context: Context, made: Call, folder: Path, state: str, message: str, began: float) -> None:
    """Note an attempt that has left no record."""
    shorten(folder / "log", context.log_limit)
    number, place = attempts.number_of(folder), attempts.relative(folder)
    record = AttemptRecord(number, state, message, None, began, runs.now(), place)
    context.journal.attempt(made.path, attempts.execution_of(folder), record)


async def _through(context: Context, work: asyncio.Future[Record], name: str, folder: Path) -> Record:
    """Wait for an attempt; when cancelled, end it and wait for that, so that nothing is left behind."""
    try:
        return await asyncio.shield(work)
    except WardenLostError:
        await attempts.see_to_the_end(folder, lambda: context.kill)
        return attempts.record(folder)
    except asyncio.CancelledError:
        context.wardens.end(name, kill=context.kill)
        try:
            while not work.done():
                with contextlib.suppress(asyncio.CancelledError):
                    await asyncio.shield(work)
                if context.kill:
                    context.wardens.end(name, kill=True)
        except WardenLostError:
            await attempts.end(folder, lambda: context.kill)
        raise


async def without_containers(context: Context, path: str, folder: Path) -> None:
    """Take away what a conductor that was killed has left; what can't be is said, and tried again by who resumes."""
    if context.options.runtime == "process":
        return
    try:
        await asyncio.to_thread(orphans.remove, folder)
    except orphans.OrphanError as error:
        context.journal.event("note", path, text=str(error))


async def ended(context: Context, made: Call, folder: Path, found: dict[str, Any]) -> Attempt:
    """An attempt from its record, written to the journal."""
    shorten(folder / "log", context.log_limit)  # it may have been too short for anybody to look at while it ran
    try:
        result = await read_result(context, made, folder, found)
    except TaskFailure as failure:
        result = Result("Failed", message=str(failure), errored=context.imported)
    used = found if context.options.runtime == "process" else _contained(context, folder)
    state = AttemptRecord(
        attempts.number_of(folder),
        result.state,
        result.message,
        found["exit"],
        found["started"],
        found["finished"],
        attempts.relative(folder),
        used.get("cpu"),
        used.get("memory"),
    )
    context.journal.attempt(made.path, attempts.execution_of(folder), state)
    return Attempt(result, found["reason"], found["exit"])


def _contained(context: Context, folder: Path) -> dict[str, float]:
    """What the containers of an attempt were seen to use: its record knows only of the runtime's clients."""
    seen = context.contained.pop(attempts.relative(folder), None)
    return {} if seen is None else seen._asdict()
