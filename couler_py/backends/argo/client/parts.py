"""A run whose parts run as runs of their own, seen and steered as one."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from couler_py.backends.argo.client import logs
from couler_py.backends.argo.client.door import Door, LogOptions
from couler_py.backends.argo.split.parts import CREATING, PARENT, PART, PARTS, label
from couler_py.backends.argo.status import paths, run_phase, run_status, unpacked
from couler_py.backends.base import FINISHED, LogLine, RunStatus, TaskStatus
from couler_py.backends.rest.request import JSON

BETWEEN = 2.0
"""Seconds between two looks at a run and its parts."""


def is_split(workflow: JSON) -> bool:
    """Whether a run has parts that run as runs of their own."""
    return bool(names(workflow))


def names(workflow: JSON) -> list[str]:
    """The parts of a run."""
    return str((workflow["metadata"].get("annotations") or {}).get(PARTS, "")).split()


def runs_of_parts(door: Door, workflow: JSON) -> dict[str, JSON]:
    """By part, its run, where one was started; of a part that is run again, none that was started before that."""
    if not is_split(workflow):
        return {}
    metadata = workflow["metadata"]
    found = door.list("Workflow", metadata["namespace"], f"{PARENT}={metadata['name']}", whole=True)
    by_label = {label(part): part for part in names(workflow)}
    began = {part: str(node.get("startedAt") or "") for part, node in creating(workflow).items()}
    ordered = sorted(found, key=_created)
    runs = {
        by_label[part]: each for each in ordered if (part := each["metadata"].get("labels", {}).get(PART)) in by_label
    }
    return {part: run for part, run in runs.items() if part in began and began[part] <= _created(run)}


def _created(run: JSON) -> str:
    return str(run["metadata"]["creationTimestamp"])


def creating(workflow: JSON) -> dict[str, JSON]:
    """By part, the node that creates its run, where the run that it belongs to has come so far."""
    workflow = unpacked(workflow)
    known = set(names(workflow))
    around = {node["id"]: path for path, _, node in paths(workflow) if path in known}
    return {
        around[node["boundaryID"]]: node
        for node in workflow.get("status", {}).get("nodes", {}).values()
        if node["displayName"] == CREATING and node.get("boundaryID") in around
    }


def to_run_again(workflow: JSON, parts: dict[str, JSON]) -> str:
    """Which nodes a retry runs again although they succeeded, as a selector; empty for none.

    Those that create the runs of parts in which a task failed: a part hands on how its tasks ended, and succeeds. A
    selector knows only "and", so it names the nodes that stay.
    """
    nodes = creating(workflow)
    good = [node["id"] for part, node in nodes.items() if part in parts and not _has_failed(parts[part])]
    if len(good) == len(nodes):
        return ""
    return ",".join([f"displayName={CREATING}", *(f"id!={each}" for each in good)])


def _has_failed(run: JSON) -> bool:
    return run_phase(run) != "Succeeded" or any(task.status == "Failed" for task in run_status(run).tasks)


def as_one(status: RunStatus, parts: dict[str, JSON]) -> RunStatus:
    """The status of a run with the tasks of its parts in it, under the paths that they have on every engine."""
    tasks: list[TaskStatus] = []
    for task in status.tasks:
        tasks.append(task)
        if (run := parts.get(task.name)) is not None:
            tasks += [each for each in run_status(run).tasks if each.name.startswith(f"{task.name}/")]
    return msgspec.structs.replace(status, tasks=tuple(tasks))


def placed(task: str | None, parts: dict[str, JSON]) -> Iterator[tuple[str | None, JSON]]:
    """The runs of parts in which a task is, all for None: the task to ask for (None: all), and the run."""
    for part, run in parts.items():
        if task in (None, part):
            yield None, run
        elif task is not None and task.startswith(f"{part}/"):
            yield task, run


def watched(door: Door, workflow: JSON, run: str) -> Iterator[RunStatus]:
    """The status each time it has changed, in the run or in one of its parts, until the run has ended.

    Parts that were shut down with it may end a little later.
    """
    metadata, last = workflow["metadata"], None
    while True:
        parts = runs_of_parts(door, workflow)
        status = as_one(run_status(workflow, run), parts)
        if status != last:
            last = status
            yield status
        ending = [each for each in parts.values() if each["spec"].get("shutdown") and run_phase(each) not in FINISHED]
        if run_phase(workflow) in FINISHED and not ending:
            return
        door.http.pacing.rest(BETWEEN)
        workflow = unpacked(door.get("Workflow", metadata["namespace"], metadata["name"]))


def lines(door: Door, workflow: JSON, task: str | None, options: LogOptions) -> Iterator[LogLine]:
    """What the pods of all parts printed, part after part, and then those of the run itself."""
    metadata = workflow["metadata"]
    known = dict.fromkeys(names(workflow))
    for inside, run in placed(task, runs_of_parts(door, workflow)):
        yield from logs.lines(door, metadata["namespace"], run["metadata"]["name"], inside, options)
    if task is None or task.partition("/")[0] not in known:
        for line in logs.lines(door, metadata["namespace"], metadata["name"], task, options):
            if line.task not in known:
                yield line
