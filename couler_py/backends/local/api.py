"""Functions for who runs workflows on this machine without the rest of the package."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from couler_py.backends.base import LogLine, RunNotFoundError
from couler_py.backends.local import control
from couler_py.backends.local.lifecycle import RunBusyError, prepare, run_to_end
from couler_py.backends.local.runs import logfiles
from couler_py.backends.local.runs.taking_up import prepare_again
from couler_py.backends.local.scheduling.approvals import check_outputs
from couler_py.ir.model import Document, Workflow
from couler_py.store import runs
from couler_py.store.database import connect
from couler_py.store.home import Home, open_home
from couler_py.store.records import RunRecord


def execute(workflow: Workflow | Document, parameters: Mapping[str, Any] | None = None, **options: Any) -> RunRecord:
    """Run a workflow to its end and give its record. Options are those of `lifecycle.prepare`.

    Works inside a running event loop too, in a thread of its own.
    Raises `DiagnosticError`, `ValueError` for wrong parameters, `StoreError`.
    """
    return run_to_end(prepare(workflow, parameters, **options))


async def execute_async(
    workflow: Workflow | Document, parameters: Mapping[str, Any] | None = None, **options: Any
) -> RunRecord:
    """Like `execute`, inside the running event loop."""
    return await prepare(workflow, parameters, **options).drive()


def resume(
    run_id: str,
    *,
    home: str | Path | None = None,
    task: str | None = None,
    outputs: Mapping[str, Any] | None = None,
    **options: Any,
) -> RunRecord:
    """Go on with what was stopped from outside, and give the record.

    Where the run's engine is alive, its waiting task (`task`, else any) is approved, or a suspended
    run goes on; the record is then the one of this moment. Else the run is driven from here to its end;
    one that has ended stays as it is. `outputs` are the values that an approval gives.
    Raises `RunNotFoundError`, `ValueError` for outputs that the waiting task doesn't have.
    """
    record, alive = ask_to_go_on(run_id, home=home, task=task, outputs=outputs)
    if alive or record.status in ("Succeeded", "Failed"):
        return record
    return run_to_end(prepare_again(run_id, home=home, **options))


def ask_to_go_on(
    run_id: str, *, home: str | Path | None, task: str | None, outputs: Mapping[str, Any] | None
) -> tuple[RunRecord, bool]:
    """Leave an approval, and have a living engine go on; gives the record of this moment and whether there is one.

    A dead engine's waiting tasks are approved by name or with outputs only: who takes a run up again has not yet
    said yes to what it waits for. Raises as `resume`.
    """
    place = open_home(home)
    record = load(run_id, home=home)
    alive = control.has_engine(place, run_id)
    waits = any(each.state == "Suspended" for each in record.tasks.values())
    if outputs or task is not None or (alive and waits):
        check_outputs(place, record, task, outputs or {})
        control.ask(place, run_id, control.Request("approve", task, dict(outputs or {})))
    if alive:
        control.ask(place, run_id, control.Request("resume"))
    return record, alive


def retry(run_id: str, *, home: str | Path | None = None, **options: Any) -> RunRecord:
    """Run what failed in a run again, keep what Succeeded, and give the record.

    Further options are those of `taking_up.prepare_again`: `start` and `only` name tasks that run again whatever
    became of them, `workflow` is what the run goes on with.
    Raises `RunNotFoundError`, `RunBusyError`.
    """
    record = load(run_id, home=home)
    if record.status == "Succeeded" and not any(options.get(name) for name in ("start", "only", "workflow")):
        return record
    return run_to_end(prepare_again(run_id, home=home, failed_too=True, **options))


def stop(run_id: str, *, home: str | Path | None = None, terminate: bool = False) -> None:
    """Ask the engine of a run, in whatever process it works, to start nothing more; with `terminate`, to end its steps.

    Raises `RunNotFoundError`. A run that nobody works on is stopped already.
    """
    place = open_home(home)
    load(run_id, home=home)
    if control.has_engine(place, run_id):
        control.ask(place, run_id, control.Request("terminate" if terminate else "stop"))


def load(run_id: str, *, home: str | Path | None = None, tasks: bool = True) -> RunRecord:
    """The record of a run as it stands. Raises `RunNotFoundError`."""
    place = open_home(home)
    record = _read(place, run_id, tasks)
    if record.status in ("Running", "Suspended") and not control.has_engine(place, run_id):
        record = _read(place, run_id, tasks)  # the engine may have ended it in between
        if record.status in ("Running", "Suspended"):
            record.status = "Stopped"
            record.message = record.message or "its engine was killed; `couler resume` goes on with it"
    return record


def _read(place: Home, run_id: str, tasks: bool) -> RunRecord:
    connection = connect(place)
    try:
        return runs.load(connection, run_id, tasks=tasks)
    except runs.RunMissingError as error:
        raise RunNotFoundError(str(error)) from None
    finally:
        connection.close()


def run_list(*, home: str | Path | None = None) -> list[RunRecord]:
    """All runs, newest first, without their tasks."""
    place = open_home(home)
    connection = connect(place)
    try:
        found = runs.list_runs(connection)
    finally:
        connection.close()
    for record in found:
        if record.status in ("Running", "Suspended") and not control.has_engine(place, record.id):
            record.status = "Stopped"
    return found


def logs(
    run_id: str, task: str | None = None, *, home: str | Path | None = None, follow: bool = False
) -> Iterator[LogLine]:
    """What the steps of a run wrote, or one of them; with `follow`, on and on until the run has ended.

    Raises `RunNotFoundError`, also for a task that the run doesn't have.
    """
    load(run_id, home=home, tasks=False)
    return logfiles.lines(open_home(home), run_id, task, follow=follow)


__all__ = ["RunBusyError", "execute", "execute_async", "load", "logs", "resume", "retry", "run_list", "stop"]
