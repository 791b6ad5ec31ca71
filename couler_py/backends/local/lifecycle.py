"""Runs from the outside: start one, go on with one, run what failed again, ask a running one to end."""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import hashlib
import math
import re
import sqlite3
import threading
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, get_args

import msgspec
from msgspec import UNSET

from couler_py.backends.interrupts import HEED
from couler_py.backends.local import control
from couler_py.backends.local.artifacts import remote
from couler_py.backends.local.containers.runtimes import Kind, working
from couler_py.backends.local.context import Context, Options
from couler_py.backends.local.journal import Journal, Observer
from couler_py.backends.local.machine.capacity import available, devices
from couler_py.backends.local.machine.grants import Machine
from couler_py.backends.local.scheduling.calls import call
from couler_py.backends.local.scheduling.engine import Engine
from couler_py.backends.local.scheduling.tasks import default
from couler_py.backends.local.scope import Facts, Scope, TaskFailure, bind
from couler_py.backends.local.steps import attempts
from couler_py.backends.local.steps.config import config_maps
from couler_py.backends.local.support import findings
from couler_py.backends.local.telling import Telling, telling
from couler_py.ir import wire
from couler_py.ir.codec import to_json
from couler_py.ir.diagnostics import CoulerError, Diagnostic, DiagnosticError
from couler_py.ir.model import Document, Workflow
from couler_py.passes.portable import portable
from couler_py.store import faults, runs
from couler_py.store.database import Durability, connect, failure
from couler_py.store.home import Home, filesystem, is_network, open_home
from couler_py.store.locks import release, tidy
from couler_py.store.records import ENDED, RunRecord
from couler_py.store.remote import Remote

_RUN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
"""A run's name is the name of its folder."""


class RunBusyError(CoulerError):
    """Another process works on the run."""


class Prepared(msgspec.Struct):
    """A run that is in the store and can be driven. `diagnostics` are the findings that didn't stop it."""

    engine: Engine
    run: RunRecord
    diagnostics: tuple[Diagnostic, ...]
    lock: int
    telling: Telling | None = None

    async def drive(self) -> RunRecord:
        """Work on it until it has ended. Raises `StoreError`."""
        if self.telling is not None:
            self.telling.begin()
        try:
            return await self.engine.drive()
        finally:
            if self.telling is not None:
                self.telling.close(self.engine.context.connection)
            release([self.lock, *self.engine.context.held])
            self.engine.context.connection.close()
            self.engine.context.machine.close()
            with contextlib.suppress(PermissionError):  # somebody else's folder: whoever needed a lock has said so
                tidy()
            if self.engine.context.remote is not None:
                self.engine.context.remote.close()


def prepare(
    workflow: Workflow | Document,
    parameters: Mapping[str, Any] | None = None,
    *,
    home: str | Path | None = None,
    observers: Iterable[Observer] = (),
    scheduled_time: datetime.datetime | float | None = None,
    durability: Durability = "process",
    grace: float = 5.0,
    name: str | None = None,
    runtime: Kind = "process",
    network: str = "",
    allow_host: bool = False,
    artifacts: str | None = None,
) -> Prepared:
    """Put a new run into the store. `grace` is in seconds: from asking a step to end to killing it.

    A `scheduled_time` without a time zone is in UTC. With the `runtime` podman or docker, steps run in containers: on
    the `network` of that name, else on the runtime's own; `allow_host` gives them what they ask for of this machine.
    `artifacts` is the address or path of a store that what tasks make goes to, "" for none; else the settings say it.

    Raises `DiagnosticError` for what this machine can't do, all of it at once, `ValueError` for wrong
    parameters and options, `StoreError`, `RemoteError` for a store of artifacts that can't be used.
    """
    _check_options(name, durability, grace)
    workflow, said = portable(workflow, keep="argo")
    place = open_home(home)
    options = Options(durability, grace, config_maps(place), runtime, network, allow_host, remote.address(artifacts))
    if runtime != "process":
        working(runtime)
    found = [*said, *findings(workflow, place, options, available())]
    if any(each.severity == "error" for each in found):
        raise DiagnosticError(found)
    values = run_parameters(workflow, parameters or {}, options)
    connection = connect(place, durability)
    with contextlib.ExitStack() as undone:
        undone.callback(connection.close)
        opened = remote.opened(options.artifacts, place)
        if opened is not None:
            undone.callback(opened.close)
        if name is not None and runs.exists(connection, name):
            raise ValueError(f"there is a run {name!r} already: choose another name, or couler delete {name}")
        now = runs.now()
        run = RunRecord(
            name or runs.new_id(connection, workflow.name),
            workflow.name,
            "Running",
            values,
            _seconds(scheduled_time, now),
            now,
            msgspec.to_builtins(options),
        )
        lock = control.lock_engine(place, run.id)
        if lock is None:
            raise RunBusyError(control.who_works(place, run.id))
        undone.callback(release, [lock])
        text = to_json(workflow)
        run.workflow = hashlib.sha256(text.encode()).hexdigest()
        try:
            runs.begin(connection, run, run.workflow, text)
        except sqlite3.Error as error:
            raise failure(error, place) from error
        faults.reach("run.begun")
        undone.pop_all()
    if is_network(filesystem(place.path)):
        found.append(
            Diagnostic("CLR611", "note", f"{place.path} is on a network file system: the store uses a rollback journal")
        )
    return with_engine(workflow, place, connection, run, options, observers, tuple(found), lock, opened)


def _check_options(name: str | None, durability: str, grace: object) -> None:
    if name is not None and not _RUN_NAME.fullmatch(name):
        raise ValueError(
            f"{name!r} can't be the name of a run: it is letters, digits, '-', '_' and '.', begins with a letter or "
            "digit, and has at most 100 characters"
        )
    if durability not in get_args(Durability):
        raise ValueError(f"durability is one of {', '.join(get_args(Durability))}, not {durability!r}")
    if isinstance(grace, bool) or not isinstance(grace, int | float) or not 0 <= grace < math.inf:
        raise ValueError(f"grace is a number of seconds, not {grace!r}")


def with_engine(
    workflow: Workflow,
    home: Home,
    connection: Any,
    run: RunRecord,
    options: Options,
    observers: Iterable[Observer],
    found: tuple[Diagnostic, ...],
    lock: int,
    opened: Remote | None,
    spent: float = 0.0,
) -> Prepared:
    """The engine of a run that is in the store, and what it knows of it already."""
    known = {path: task for path, task in run.tasks.items() if task.state in ENDED or task.started is not None}
    told = telling(workflow, home, run)
    journal = Journal(connection, home, run, (*observers, told.observe) if told is not None else observers)
    facts = Facts(run.id, run.name, run.scheduled, run.created, run.parameters)
    machine = Machine(available(), devices(), run.id)
    context = Context(workflow, home, connection, journal, facts, options, machine, known, call)
    context.remote = opened
    context.attempt_folders = attempts.folders(context.folder)
    for folder in (each for found in context.attempt_folders.values() for each in found):
        if attempts.record(folder) is None and attempts.claim(folder):
            attempts.end_orphan(folder)
    return Prepared(Engine(context, run, spent), run, found, lock, told)


def run_parameters(workflow: Workflow, given: Mapping[str, Any], options: Options) -> dict[str, Any]:
    """The parameters of a run as values. Text given for one that isn't a string is read as JSON.

    Raises `ValueError` for a name that the workflow doesn't have, a missing value and a wrong type.
    """
    names = {parameter.name for parameter in workflow.parameters}
    unknown = sorted(set(given) - names)
    if unknown:
        raise ValueError(
            f"{workflow.name} has no parameter {unknown[0]!r}; it has {', '.join(sorted(names)) or 'none'}"
        )
    values: dict[str, Any] = {}
    scope = Scope(Facts("", workflow.name, 0.0, 0.0, {}))
    for parameter in workflow.parameters:
        try:
            if parameter.name in given:
                values[parameter.name] = bind(parameter, wire.finite(given[parameter.name]))
            elif parameter.value_from is not None:
                values[parameter.name] = default(_Only(options), scope, parameter, f"the parameter {parameter.name!r}")  # type: ignore[arg-type]
            elif parameter.default is UNSET:
                raise ValueError(f"the parameter {parameter.name!r} of {workflow.name} was not given")
            else:
                values[parameter.name] = bind(parameter, parameter.default)
        except TaskFailure as failure:
            raise ValueError(str(failure).replace("the input", "the parameter")) from None
    return values


class _Only(msgspec.Struct):
    options: Options
    imported: bool = False


def _seconds(moment: datetime.datetime | float | None, now: float) -> float:
    if moment is None:
        return now
    if isinstance(moment, datetime.datetime):
        return (moment if moment.tzinfo else moment.replace(tzinfo=datetime.UTC)).timestamp()
    return moment


def run_to_end(prepared: Prepared) -> RunRecord:
    """Drive a run in this thread, or, where an event loop runs here already (Jupyter), in one of its own.

    Ctrl-C ends the steps and leaves a run that can be resumed; a second one kills them.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(prepared.drive())
    return InThread(prepared).wait()


class InThread:
    """A run that is driven in a thread of its own."""

    def __init__(self, prepared: Prepared):
        self.prepared = prepared
        self._error: BaseException | None = None
        # Not by joining the thread: Python takes it for ended where Ctrl-C interrupts that (bpo-45274).
        self._ended = threading.Event()
        threading.Thread(target=self._work, name=f"couler {prepared.run.id}").start()

    def _work(self) -> None:
        try:
            asyncio.run(self.prepared.drive())
        except BaseException as error:  # handed to who waits
            self._error = error
        finally:
            self._ended.set()

    def look(self, seconds: float) -> bool:
        """Wait for the end, at most so long; whether it has come. Raises what ended the engine."""
        if not self._ended.wait(seconds):
            return False
        if self._error is not None:
            raise self._error
        return True

    def wait(self) -> RunRecord:
        """Wait for the end. Ctrl-C ends the run, a second one kills its steps."""
        while True:
            try:
                if self.look(HEED):
                    return self.prepared.run
            except KeyboardInterrupt:
                if self._ended.is_set():
                    raise
                self.prepared.engine.interrupt()
