"""The numbers of a run as Prometheus reads them: the text format 0.0.4, for the textfile collector of node_exporter."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from couler_py.store.records import AttemptRecord, RunRecord

STATES = ("Succeeded", "Failed", "Skipped", "Blocked", "Stopped", "Pending", "Running", "Suspended")


def text(run: RunRecord, attempts: Sequence[AttemptRecord]) -> str:
    """The numbers of a run, in base units (seconds, bytes), labelled with the workflow.

    The id of a run is a label of `couler_run_info` alone: as a label of each number it would make a series a run.
    """
    tasks = [task for path, task in run.tasks.items() if path] or list(run.tasks.values())
    states: Counter[str] = Counter(task.state for task in tasks)
    workflow = {"workflow": run.name}
    lines: list[str] = []

    def add(name: str, help_: str, samples: Iterable[tuple[Mapping[str, str], float]]) -> None:
        lines.extend((f"# HELP {name} {help_}", f"# TYPE {name} gauge"))
        lines.extend(f"{name}{_labels({**workflow, **labels})} {_number(value)}" for labels, value in samples)

    add("couler_run_info", "The last run of the workflow.", [({"run": run.id, "status": run.status}, 1)])
    add("couler_run_success", "Whether the run succeeded.", [({}, run.status == "Succeeded")])
    add("couler_run_start_time_seconds", "When the run began, since the epoch.", [({}, run.created)])
    if run.finished is not None:
        add("couler_run_end_time_seconds", "When the run ended, since the epoch.", [({}, run.finished)])
    add("couler_run_duration_seconds", "How long the run was worked on.", [({}, run.seconds)])
    add(
        "couler_run_tasks",
        "Tasks by the state that they are in.",
        [({"state": each.lower()}, states[each]) for each in STATES],
    )
    add(
        "couler_run_cached_tasks",
        "Tasks whose results were there already.",
        [({}, sum(bool(task.cached) for task in tasks))],
    )
    add("couler_run_attempts", "Attempts of all tasks.", [({}, len(attempts))])
    add("couler_run_task_seconds", "Seconds of all tasks together.", [({}, sum(task.seconds for task in tasks))])
    cpu = [each.cpu for each in attempts if each.cpu is not None]
    memory = [each.memory for each in attempts if each.memory is not None]
    if cpu:
        add("couler_run_cpu_seconds", "Processor time of all attempts.", [({}, sum(cpu))])
    if memory:
        add("couler_run_max_memory_bytes", "The most memory that one attempt used.", [({}, max(memory))])
    return "\n".join(lines) + "\n"


def write(folder: Path, run: RunRecord, attempts: Sequence[AttemptRecord]) -> Path:
    """Write the numbers of a workflow's last run to `couler-WORKFLOW.prom`, whole or not at all. Raises `OSError`."""
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"couler-{re.sub('[^A-Za-z0-9_.-]', '_', run.name)[:100]}.prom"
    temporary = target.with_suffix(f".{os.getpid()}.tmp")  # the collector reads *.prom alone
    temporary.write_text(text(run, attempts), encoding="utf-8")
    temporary.chmod(0o644)  # another user reads it
    temporary.rename(target)
    return target


def _labels(labels: Mapping[str, str]) -> str:
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items()) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _number(value: float) -> str:
    return repr(int(value)) if float(value).is_integer() else repr(float(value))
