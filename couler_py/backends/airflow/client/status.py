"""What Airflow says of a run, in the IR's words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from couler_py.backends.airflow.client.naming import joined
from couler_py.backends.airflow.client.tree import Place, phase_of, places
from couler_py.backends.base import RunPhase, RunStatus, TaskStatus
from couler_py.backends.rest.request import JSON

STOPPED = "stopped by couler"
"""The note of a run that was stopped: Airflow itself only says that it failed."""

RAN = ("Running", "Suspended", "Succeeded", "Failed", "Stopped")


def run_phase(run: JSON, instances: Sequence[JSON] = ()) -> RunPhase:
    """How a run stands. It is suspended when all that could go on waits for a person or a time."""
    state = run["state"]
    if state == "success":
        return "Succeeded"
    if state == "failed":
        return "Stopped" if run.get("note") == STOPPED else "Failed"
    if state == "queued":
        return "Pending"
    active = [each for each in instances if each.get("state") not in (None, "removed") and not _has_ended(each)]
    return "Suspended" if active and all(phase_of(each) == "Suspended" for each in active) else "Running"


def run_status(run: JSON, tasks: Sequence[TaskStatus] = (), instances: Sequence[JSON] = ()) -> RunStatus:
    """A run with the tasks that are given."""
    note = run.get("note") or ""
    return RunStatus(
        run=joined(run["dag_id"], run["dag_run_id"]),
        workflow=run["dag_id"],
        status=run_phase(run, instances),
        engine="airflow",
        started=instant(run.get("start_date")),
        finished=instant(run.get("end_date")),
        message="" if note.endswith("by couler") else note,
        tasks=tuple(tasks),
        parameters=dict(run.get("conf") or {}),
    )


def task_statuses(
    run: JSON, instances: Sequence[JSON], first_start: Callable[[JSON], float | None]
) -> list[TaskStatus]:
    """The tasks of a run. `first_start` says when the first attempt of a task began, where there were several."""
    stopped = run_phase(run) == "Stopped"
    return [task_status(place, stopped=stopped, first_start=first_start) for place in places(instances)]


def task_status(place: Place, *, stopped: bool, first_start: Callable[[JSON], float | None]) -> TaskStatus:
    """One task of a run."""
    instance, phase = place.instance, place.phase
    if instance is None:
        return _group_status(place, stopped)
    if stopped and _is_left_out(instance):
        return TaskStatus(place.path, "Stopped")
    if phase not in RAN:
        return TaskStatus(place.path, phase)
    started, finished = instant(instance.get("start_date")), instant(instance.get("end_date"))
    if instance["try_number"] > 1:
        started = first_start(instance) or started
    if phase in ("Running", "Suspended"):
        finished = None
    return TaskStatus(
        name=place.path,
        status=phase,
        attempts=max(1, instance["try_number"]),
        seconds=None if started is None or finished is None else finished - started,
        started=started,
        finished=finished,
    )


def _group_status(place: Place, stopped: bool) -> TaskStatus:
    phase = place.phase
    if stopped and phase == "Failed" and place.last is not None and _is_left_out(place.last):
        phase = "Stopped"
        if place.first is not None and _is_left_out(place.first):
            return TaskStatus(place.path, phase)
    if phase not in RAN:
        return TaskStatus(place.path, phase)
    started = instant((place.first or {}).get("start_date"))
    finished = None if phase == "Running" else instant((place.last or {}).get("end_date"))
    seconds = None if started is None or finished is None else finished - started
    return TaskStatus(place.path, phase, int(place.attempted), seconds=seconds, started=started, finished=finished)


def with_outputs(status: RunStatus, outputs: Mapping[str, Any], parameters: Mapping[str, Any]) -> RunStatus:
    """The status with what the run gave, and with the parameters that it had by default."""
    return msgspec.structs.replace(status, outputs=dict(outputs), parameters={**parameters, **status.parameters})


def instant(text: str | None) -> float | None:
    """Seconds since the epoch of a time as Airflow writes it."""
    return datetime.fromisoformat(text).timestamp() if text else None


def _is_left_out(instance: JSON) -> bool:
    """Whether a task failed without a process ever started for it: in a stopped run it was marked so."""
    return instance.get("state") == "failed" and instance.get("pid") is None


def _has_ended(instance: JSON) -> bool:
    return phase_of(instance) in ("Succeeded", "Failed", "Skipped", "Blocked")
