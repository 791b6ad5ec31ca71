"""Retries, times and pools of a task, and what of its settings has no word here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from couler_py.backends.airflow.importing import facts
from couler_py.backends.airflow.importing.facts import seconds
from couler_py.ir.policies import Backoff, Lock, RetryPolicy, Semaphore

DEFAULT_POOL = "default_pool"
KEPT = {
    "queue": "which workers run a task",
    "executor": "which workers run a task",
    "executor_config": "how an executor runs a task",
    "run_as_user": "as which user a process of the worker runs",
    "pool_slots": "how many slots of a pool a task takes",
    "max_retry_delay": "the longest delay between attempts",
    "depends_on_past": "whether a task waits for itself in the run before",
    "wait_for_downstream": "whether a task waits for the run before",
    "inlets": "what a task reads, for lineage",
    "sla": "when a task should have ended",
    "email_on_failure": "mail",
    "email_on_retry": "mail",
    "on_failure_callback": "a function that Airflow's worker calls",
    "on_success_callback": "a function that Airflow's worker calls",
    "on_retry_callback": "a function that Airflow's worker calls",
    "on_execute_callback": "a function that Airflow's worker calls",
    "on_skipped_callback": "a function that Airflow's worker calls",
    "pre_execute": "a function that Airflow's worker calls",
    "post_execute": "a function that Airflow's worker calls",
}
"""Settings of any task that have no word here, and what each is."""
WAYS_OUT = {
    "on_failure_callback": "a step by couler.on_failure(task, step), or events of the run (couler.toml)",
    "on_success_callback": "a step that waits for the task, or events of the run (couler.toml)",
    "email_on_failure": "events of the run (couler.toml)",
    "max_retry_delay": "couler.retry(limit, delay=..., factor=...) without a factor",
}


def retry(task: facts.Task) -> RetryPolicy | None:
    """How often a task is tried again, and when."""
    limit = task.policies.get("retries") or 0
    if not limit:
        return None
    delay = seconds(task.policies.get("retry_delay")) or 0.0
    exponential = task.policies.get("retry_exponential_backoff")
    factor = 2.0 if exponential is True else float(exponential or 1)
    return RetryPolicy(int(limit), Backoff(delay, max(factor, 1.0)) if delay else None)


def timeout(task: facts.Task) -> float | None:
    """Seconds that an attempt may take."""
    return seconds(task.policies.get("execution_timeout"))


def locks(task: facts.Task, pools: Mapping[str, int]) -> tuple[Lock, ...]:
    """The pool of a task as a semaphore, where its size is known."""
    name = str(task.policies.get("pool"))
    return (Semaphore(name, limit=pools[name]),) if name in pools else ()


def left_out(task: facts.Task, pools: Mapping[str, int]) -> list[tuple[str, str]]:
    """Settings of a task that have no word here: what is left out, and the way out."""
    found = []
    pool = task.policies.get("pool")
    if pool not in (None, DEFAULT_POOL) and pool not in pools:
        found.append((f"the pool {pool!r} (its size isn't in the file)", f"say it: --pool {pool}=SLOTS"))
    if (task.policies.get("priority_weight") or 1) != 1:
        found.append(("priority_weight", "a workflow has one priority: @couler.workflow(priority=...)"))
    for name, meaning in KEPT.items():
        value = task.given.get(name, task.policies.get(name))
        if value and not (name == "pool_slots" and value == 1):
            found.append((f"{name} ({meaning})", WAYS_OUT.get(name, "")))
    return found


def parallel(task: facts.Task) -> int | None:
    """How many items of a mapped task run at once."""
    given: Any = task.policies.get("max_active_tis_per_dagrun") or task.policies.get("max_active_tis_per_dag")
    return int(given) if given else None
