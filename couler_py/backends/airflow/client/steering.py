"""Stopping runs, and running again what failed. Airflow has words only for whole runs and for single tasks."""

from __future__ import annotations

import graphlib
from collections.abc import Iterable, Mapping, Set
from typing import Any

from couler_py.backends.airflow.client.server import Server
from couler_py.backends.airflow.client.status import STOPPED, run_phase
from couler_py.backends.airflow.client.tree import FINISH
from couler_py.backends.airflow.names import HANDLERS, RESULT
from couler_py.backends.base import FINISHED, NotOffered
from couler_py.backends.rest.request import JSON

AGAIN = "retried by couler"
WAITING = (None, "scheduled", "queued", "up_for_retry", "up_for_reschedule", "deferred", "awaiting_input")
"""States of tasks of which nothing runs."""

MOST = 500
"""So many tasks are changed by one call."""


def stop(server: Server, dag: str, run: str) -> None:
    """Let running steps end and start no others; the run's last task and its handlers run.

    What hasn't begun is marked as failed, after all that it waits for: where Airflow marks a task, it forgets the
    failures of those behind it. Each call is for tasks of which none waits for another, as Airflow keeps to no order.
    """
    instances = [each for each in server.instances(dag, run) if _can_stop(each)]
    server.patch_run(dag, run, note=STOPPED)
    for level in _levels(server.tasks(dag), {each["task_id"] for each in instances}):
        entities = [
            {"task_id": each["task_id"], "map_index": each["map_index"], "new_state": "failed"}
            for each in instances
            if each["task_id"] in level
        ]
        for begin in range(0, len(entities), MOST):
            server.set_states(dag, run, entities[begin : begin + MOST])


def terminate(server: Server, dag: str, run: str) -> None:
    """End everything now. Airflow kills what runs, and skips all else."""
    server.patch_run(dag, run, state="failed", note=STOPPED)


def retry(server: Server, dag: str, run: str) -> None:
    """Run what failed again, with all that follows it; of a run that was stopped, also what was left out.

    Raises `NotOffered` where the run goes on.
    """
    now = server.run(dag, run)
    phase = run_phase(now)
    if phase not in FINISHED:
        raise NotOffered(f"airflow:{dag}/{run} has not ended yet")
    states = ("failed", "upstream_failed", *(("skipped",) if phase == "Stopped" else ()))
    failed = [each for each in server.instances(dag, run) if each.get("state") in states]
    if failed:
        server.clear(dag, run, [_named(each) for each in failed], AGAIN)


def approve(server: Server, dag: str, run: str, instances: Mapping[str, JSON], outputs: Mapping[str, Any]) -> int:
    """Answer what a run asks people, by path; gives how many questions there were.

    Raises `NotOffered` for an output that isn't asked for, or one that is missing.
    """
    asked = {
        (each["task_instance"]["task_id"], each["task_instance"]["map_index"]): each
        for each in server.questions(dag, run)
    }
    meant = [asked[key] for each in instances.values() if (key := (each["task_id"], each["map_index"])) in asked]
    for each in meant:
        wanted = each.get("params") or {}
        if unknown := sorted(set(outputs) - set(wanted)):
            raise NotOffered(f"what waits has no output {unknown[0]!r}; its outputs are {', '.join(wanted) or 'none'}")
        defaults = {name: param.get("value") for name, param in wanted.items()}
        missing = [name for name, value in defaults.items() if value is None and name not in outputs]
        if missing:
            raise NotOffered(
                f"what waits needs a value for its output {missing[0]!r}: `couler resume RUN --output "
                f"{missing[0]}=VALUE`"
            )
        server.answer(each["task_instance"], each["options"][:1], {**defaults, **outputs})
    return len(meant)


def _can_stop(instance: JSON) -> bool:
    name = instance["task_id"]
    ours = name in (RESULT, FINISH) or name.startswith(f"{HANDLERS}.")
    return not ours and instance.get("state") in WAITING


def _named(instance: JSON) -> Any:
    index = instance["map_index"]
    return instance["task_id"] if index < 0 else [instance["task_id"], index]


def _levels(tasks: Iterable[JSON], chosen: Set[str]) -> list[set[str]]:
    """The chosen tasks, of which none waits for another of its level, and each stands behind all that it waits for."""
    behind = {each["task_id"]: each.get("downstream_task_ids") or () for each in tasks}
    levels: list[set[str]] = []
    depths = dict.fromkeys(behind, 0)
    for name in reversed(tuple(graphlib.TopologicalSorter(behind).static_order())):
        depth = depths.get(name, 0)
        if name in chosen:
            levels += [set() for _ in range(depth + 1 - len(levels))]
            levels[depth].add(name)
            depth += 1
        for each in behind.get(name, ()):
            depths[each] = max(depths.get(each, 0), depth)
    return levels
