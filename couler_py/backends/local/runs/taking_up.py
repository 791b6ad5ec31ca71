"""A run taken up again: to go on with it, to run what failed again, to go on with other code."""

from __future__ import annotations

import contextlib
import hashlib
import sqlite3
from collections.abc import Collection, Iterable
from pathlib import Path

import msgspec

from couler_py.backends.base import RunNotFoundError
from couler_py.backends.local import control
from couler_py.backends.local.artifacts import remote
from couler_py.backends.local.containers.runtimes import working
from couler_py.backends.local.context import Options
from couler_py.backends.local.journal import Observer
from couler_py.backends.local.lifecycle import Prepared, RunBusyError, run_parameters, with_engine
from couler_py.backends.local.machine.capacity import available
from couler_py.backends.local.paths import shown
from couler_py.backends.local.runs import again
from couler_py.backends.local.steps import attempts
from couler_py.backends.local.steps.config import config_maps
from couler_py.backends.local.support import findings
from couler_py.ir.codec import to_json
from couler_py.ir.diagnostics import Diagnostic, DiagnosticError
from couler_py.ir.model import Document, Workflow
from couler_py.passes.portable import portable
from couler_py.store import cache, content, runs
from couler_py.store.database import connect
from couler_py.store.home import Home, open_home
from couler_py.store.locks import release
from couler_py.store.records import RunRecord

NAMED = 5  # so many changed steps are named


def prepare_again(
    run_id: str,
    *,
    home: str | Path | None = None,
    observers: Iterable[Observer] = (),
    failed_too: bool = False,
    start: Collection[str] = (),
    only: Collection[str] = (),
    workflow: Workflow | Document | None = None,
) -> Prepared:
    """Take a run up again, to go on with it, or (`failed_too`) to run what failed in it again.

    With `failed_too`, `start` are tasks that run again, too, whatever became of them, and all that follows them;
    `only` are those, and what follows them, that run again alone. `workflow` is what the run goes on with, in the
    place of its own: what changed in it runs again with all that follows.

    Its deadline goes on where it stood, for the time in which no engine worked doesn't count; with `failed_too`
    it starts anew.

    Raises `RunNotFoundError`, also for a task that the run doesn't have, `RunBusyError` where another process works
    on it, `StoreError`, `RemoteError`; for another workflow what `prepare` raises.
    """
    place = open_home(home)
    connection = connect(place)
    with contextlib.ExitStack() as undone:
        undone.callback(connection.close)
        _load(connection, run_id, tasks=False)
        lock = control.lock_engine(place, run_id)
        if lock is None:
            raise RunBusyError(control.who_works(place, run_id))
        undone.callback(release, [lock])
        try:
            run = _load(connection, run_id)
        except RunNotFoundError:  # deleted before it was ours, and the folder is that of our lock
            content.remove(str(place.run(run_id)))
            raise
        options = msgspec.convert(run.options, Options)
        options.config_maps = config_maps(place) | options.config_maps
        if options.durability == "power":
            connection.execute("PRAGMA synchronous=FULL")
        if options.runtime != "process":
            working(options.runtime)
        opened = remote.opened(options.artifacts, place)
        if opened is not None:
            undone.callback(opened.close)
        own = runs.workflow(connection, run.workflow)
        chosen = again.choose(own, run.tasks, start, only) if failed_too else again.Choice()
        said: list[Diagnostic] = []
        if workflow is not None:
            own, chosen, said = _other_workflow(place, run, options, own, workflow)
        # Forgotten first: who is killed in between goes on with the old workflow, and nothing is taken for done.
        _forget(connection, place, run, chosen)
        if workflow is not None:
            _change(connection, run, own)
        control.drop(place.run(run_id) / "requests", ("stop", "terminate", "suspend"))
        undone.pop_all()
    spent = 0.0 if failed_too else run.seconds
    return with_engine(own, place, connection, run, options, observers, tuple(said), lock, opened, spent)


def _load(connection: sqlite3.Connection, run_id: str, *, tasks: bool = True) -> RunRecord:
    """A run. Raises `RunNotFoundError`."""
    try:
        return runs.load(connection, run_id, tasks=tasks)
    except runs.RunMissingError as error:
        raise RunNotFoundError(str(error)) from None


def _other_workflow(
    home: Home, run: RunRecord, options: Options, own: Workflow, given: Workflow | Document
) -> tuple[Workflow, again.Choice, list[Diagnostic]]:
    """Put another workflow in the place of a run's own. Gives it, what runs again by that, and the findings."""
    other, said = portable(given, keep="argo")
    if other.name != own.name:
        raise ValueError(f"{run.id} is a run of {own.name!r}, and this is {other.name!r}")
    found = [*said, *findings(other, home, options, available())]
    if any(each.severity == "error" for each in found):
        raise DiagnosticError(found)
    names = {parameter.name for parameter in other.parameters}
    kept = {name: value for name, value in run.parameters.items() if name in names}
    chosen, steps = again.changed(own, other, run.tasks)
    run.parameters = run_parameters(other, kept, options)
    what = f"changed: {', '.join(sorted(steps)[:NAMED])}" if steps else "no step has changed"
    found.append(Diagnostic("CLR612", "note", f"goes on with the workflow as it is now; {what}"))
    return other, chosen, found


def _change(connection: sqlite3.Connection, run: RunRecord, workflow: Workflow) -> None:
    text = to_json(workflow)
    run.workflow = hashlib.sha256(text.encode()).hexdigest()
    runs.change_workflow(connection, run, text)


def _forget(connection: sqlite3.Connection, home: Home, run: RunRecord, chosen: again.Choice) -> None:
    """Forget what is to be worked on again; also the handlers of a run that had ended or was stopped."""
    forgotten = []
    asked = []
    for path, task in run.tasks.items():
        handler = path.startswith("!") and run.status != "Running"
        if handler or chosen.holds(path, task):
            forgotten.append(path)
            if chosen.anew and chosen.chosen(shown(path)):
                asked.append(path)
    if not forgotten:
        return
    # What is asked to be made anew is not taken from the cache.
    cache.forget(connection, cache.keys_of(connection, run.id, asked))
    folders = attempts.folders(home.run(run.id))
    for path in forgotten:
        del run.tasks[path]
        for folder in folders.get(attempts.key_of(path), []):
            if remote.unsent(folder) and path not in asked:
                continue  # it needn't run again to be sent
            if attempts.claim(folder) and (folder / "record").exists():
                (folder / "record").rename(folder / "record.old")
    runs.forget_tasks(connection, run.id, forgotten)
