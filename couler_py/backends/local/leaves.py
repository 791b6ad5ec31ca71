"""Steps that are processes: Python functions, and the commands of containers and scripts.

What an attempt needs becomes one request to the warden; what it left becomes a result.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from couler_py.backends.local import (
    attempts,
    declared,
    environment,
    forks,
    packages,
    programs,
    remote,
    volumes,
    waiting,
)
from couler_py.backends.local.containers import orphans
from couler_py.backends.local.containers import request as in_containers
from couler_py.backends.local.containers.group import READY
from couler_py.backends.local.context import VALUE_LIMIT, Attempt, Call, Context
from couler_py.backends.local.holding import holding
from couler_py.backends.local.machine import asked
from couler_py.backends.local.processes import MARK
from couler_py.backends.local.results import read_result
from couler_py.backends.local.scope import TaskFailure
from couler_py.backends.local.wardens import Record, WardenLostError
from couler_py.ir.model import Function, Script
from couler_py.ir.pod import Container
from couler_py.store import artifacts, runs
from couler_py.store.records import AttemptRecord, Result


async def run(context: Context, made: Call, number: int, held: list[int]) -> Attempt:
    """Run one attempt of a step to its end, or take over what an earlier engine began of it."""
    key = attempts.key_of(made.path)
    earlier = [each for each in context.attempt_folders.get(key, []) if attempts.number_of(each) == number]
    identity = made_digest(context, made)
    for folder in reversed(earlier):
        await _finish(context, made, folder)
        found = attempts.record(folder)
        if found is not None and found.get("digest") == identity:
            context.journal.began(made.path, found["started"])
            return await _attempt(context, made, number, folder, found)
    execution = 1 + max((int(each.name.partition("-")[2]) for each in earlier), default=-1)
    folder = context.folder / "attempts" / key / f"{number}-{execution}"
    context.journal.waits(made.path, waiting.SUSPENDED if context.gate.suspended else "")
    await context.gate.enter()
    if any(slots.locked() for slots in made.slots):
        context.journal.waits(made.path, waiting.BOUND)
    async with contextlib.AsyncExitStack() as stack:
        for slots in made.slots:
            await stack.enter_async_context(slots)
        await remote.brought(context, made.artifacts)
        share = asked(made.template)
        if share.gpus > context.machine.total.gpus:
            raise TaskFailure(f"it asks for {share.gpus} GPUs, and this machine has {context.machine.total.gpus}")
        context.journal.waits(made.path, waiting.for_share(share))
        holds = await stack.enter_async_context(contextlib.AsyncExitStack())
        grant = await holds.enter_async_context(context.machine.use(share))
        # Asked again: the run may have been stopped while this waited.
        await context.gate.enter()
        request = await _request(context, made, number, folder, grant.gpus)
        request["digest"] = identity
        paths = await holds.enter_async_context(holding(request))

        def kept() -> contextlib.AsyncExitStack:
            """What a daemon holds until it ends: its paths, and what it asked for."""
            context.machine.stay(grant, asked(made.template, processors=0.0))
            return holds.pop_all()

        return await _supervised(context, made, number, folder, request, [*held, *paths, *grant.locks], kept)


def made_digest(context: Context, made: Call) -> str:
    """The identity of the call that an attempt is of."""
    from couler_py.backends.local.calls import call_digest

    return call_digest(context, made)


async def _finish(context: Context, made: Call, folder: Path) -> None:
    """See an attempt of an earlier engine to its end: wait for a living warden, end what has lost its own."""
    context.taken_over.add(folder)
    if not attempts.claim(folder):
        context.journal.began(made.path)
        context.journal.event("note", made.path, text="still runs since before this engine: waiting for it")
        await attempts.see_to_the_end(folder, lambda: context.kill)
    attempts.end_orphan(folder)


async def _supervised(
    context: Context,
    made: Call,
    number: int,
    folder: Path,
    request: dict[str, Any],
    held: list[int],
    kept: Callable[[], contextlib.AsyncExitStack],
) -> Attempt:
    folder.mkdir(parents=True)
    began = runs.now()
    execution = int(folder.name.partition("-")[2])
    relative = str(folder.relative_to(context.folder))
    context.journal.began(made.path, began)
    context.journal.attempt(made.path, execution, AttemptRecord(number, "Running", started=began, folder=relative))
    context.running[made.path] = request["id"]
    work = context.wardens.run(request, held)
    if made.template.daemon:
        return await _daemon(context, made, folder, work, request["id"], kept)
    try:
        found = await _through(context, work, request["id"], folder)
    except asyncio.CancelledError:
        state = AttemptRecord(number, "Stopped", started=began, finished=runs.now(), folder=relative)
        context.journal.attempt(made.path, execution, state)
        raise
    finally:
        del context.running[made.path]
        await _without_containers(context, made.path, folder)
    if found is None:
        attempts.end_orphan(folder)
        message = "its warden ended without a record: killed, out of memory or disk space"
        state = AttemptRecord(number, "Failed", message, None, began, runs.now(), relative)
        context.journal.attempt(made.path, execution, state)
        return Attempt(Result("Failed", message=message), "lost")
    return await _attempt(context, made, number, folder, found)


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


async def _without_containers(context: Context, path: str, folder: Path) -> None:
    """Take away what a conductor that was killed has left; what can't be is said, and tried again by who resumes."""
    if context.options.runtime == "process":
        return
    try:
        await asyncio.to_thread(orphans.remove, folder)
    except orphans.OrphanError as error:
        context.journal.event("note", path, text=str(error))


class Daemon:
    """A step that serves others while their graph runs."""

    def __init__(self, context: Context, name: str, path: str, folder: Path, work: asyncio.Future[Record]):
        self._context, self._name, self._path, self._folder, self._work = context, name, path, folder, work
        self.holds = contextlib.AsyncExitStack()

    async def end(self) -> None:
        """End it with its graph."""
        async with self.holds:
            self._context.wardens.end(self._name, kill=self._context.kill)
            try:
                await self._work
            except WardenLostError:
                await attempts.end(self._folder, lambda: self._context.kill)
            self._context.running.pop(self._path, None)
            await _without_containers(self._context, self._path, self._folder)


async def _daemon(
    context: Context,
    made: Call,
    folder: Path,
    work: asyncio.Future[Record],
    name: str,
    kept: Callable[[], contextlib.AsyncExitStack],
) -> Attempt:
    """A daemon counts as Succeeded once its process has started, or its container serves."""
    daemon = Daemon(context, name, made.path, folder, work)
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
            return await _attempt(context, made, attempts.number_of(folder), folder, found)
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


async def _attempt(context: Context, made: Call, number: int, folder: Path, found: dict[str, Any]) -> Attempt:
    """An attempt from its record, written to the journal."""
    try:
        result = await read_result(context, made, folder, found)
    except TaskFailure as failure:
        result = Result("Failed", message=str(failure), errored=context.imported)
    execution = int(folder.name.partition("-")[2])
    state = AttemptRecord(
        number,
        result.state,
        result.message,
        found["exit"],
        found["started"],
        found["finished"],
        str(folder.relative_to(context.folder)),
        found.get("cpu"),
        found.get("memory"),
    )
    context.journal.attempt(made.path, execution, state)
    return Attempt(result, found["reason"], found["exit"])


# ---- the request


async def _request(context: Context, made: Call, number: int, folder: Path, gpus: tuple[str, ...]) -> dict[str, Any]:
    """All that the warden needs to know. Raises `TaskFailure`."""
    request = _blank(context, made, folder)
    if context.options.runtime != "process":
        await in_containers.complete(context, made, number, folder, gpus, request)
        return request
    body = made.template.body
    assert isinstance(body, Function | Container | Script)
    scope = context.scope(made, attempt=number)
    surroundings = environment.of_body(context, scope, body, number)
    work = folder / "work"
    request["env"] |= surroundings.variables
    request["declared"] = surroundings.declared
    request["redact"] += surroundings.secrets
    request["directory"] = str(work)
    request["make"] += [str(work), str(folder / "outputs")]
    request["clean"] += [str(work), str(folder / "inputs")]
    if gpus:
        request["env"]["CUDA_VISIBLE_DEVICES"] = ",".join(gpus)
    volumes.mount(context, made, body, scope, request)
    if isinstance(body, Function):
        await _function(context, made, body, folder, request)
        own = request.pop("declared")
        if forks.can_be_forked(context, own, request):
            forks.complete(context, request)
    else:
        declared.complete(context, made, body, scope, folder, request)
    return request


def _blank(context: Context, made: Call, folder: Path) -> dict[str, Any]:
    """What every request holds."""
    return {
        "id": f"{folder.parent.name}/{folder.name}",
        "folder": str(folder),
        "artifacts": str(context.home.artifacts),
        "env": context.ambient | {MARK: str(folder)},
        "timeout": made.template.timeout,
        "grace": context.options.grace,
        "redact": [],
        "stdout": None,
        "make": [],
        "clear": [],
        "files": [],
        "inputs": [],
        "links": [],
        "outputs": [],
        "clean": [],
        "limit": VALUE_LIMIT,
        "fsync": context.options.durability == "power",
        "salvage": context.imported,
        "lock_paths": [],
        "shared_paths": [],
        "fresh_paths": [],
        "folders_of": [],
        "bare": [],
    }


async def _function(context: Context, made: Call, body: Function, folder: Path, request: dict[str, Any]) -> None:
    python = await packages.interpreter(context, body)
    request["command"] = [python, "-P", str(programs.program(context, made.template))]
    request["env"] |= environment.function_inputs(made) | {
        "COULER_RUNNER": programs.runner(),
        "COULER_INPUTS": str(folder / "inputs"),
        "COULER_OUTPUTS": str(folder / "outputs"),
        "COULER_LIMIT": str(VALUE_LIMIT),
        "PYTHONUNBUFFERED": "1",
    }
    plain = context.read_as_text.get(made.template.name)
    if plain:  # a value that no engine could give a container fails here too, so that all mean the same
        request["env"]["COULER_PLAIN"] = ",".join(plain)
    exact = context.taken_apart.get(made.template.name)
    if exact:  # likewise a number that another engine would round
        request["env"]["COULER_EXACT"] = ",".join(exact)
    include = await programs.includes(context, body)
    if include:
        request["env"]["COULER_INCLUDE"] = include
    for wanted in made.template.inputs.artifacts:
        if wanted.name in made.artifacts:
            ref = artifacts.reference(made.artifacts[wanted.name])
            request["inputs"].append({"ref": ref, "path": str(folder / "inputs" / wanted.name), "mode": wanted.mode})
    for output in made.template.outputs.parameters:
        path = str(folder / "outputs" / output.name)
        request["outputs"].append({"name": output.name, "kind": "parameter", "path": path})
    for left in made.template.outputs.artifacts:
        path = str(folder / "outputs" / left.name)
        request["outputs"].append({"name": left.name, "kind": "artifact", "path": path, "optional": left.optional})


def which(command: str, path: str | None) -> str:
    """The program that a container's command names, on this machine; `python` is the one that runs this."""
    if os.sep not in command and shutil.which(command, path=path) is None and command in ("python", "python3"):
        return sys.executable
    return command
