"""Who made an artifact of a run, and how it is made anew."""

from __future__ import annotations

from couler_py.backends.local.context import Context
from couler_py.backends.local.paths import shown


def made_anew(context: Context, digest: str) -> str:
    """How to go on without an artifact of this run: the task that made it can make it anew."""
    run = context.facts.id
    for path, task in context.journal.all_tasks().items():
        if task.kind in ("map", "graph", "loop") or task.result is None:
            continue
        if any(made.digest == digest for made in task.result.artifacts.values()):
            return f"{shown(path)} made it: `couler retry {run} --from {shown(path)}` makes it anew"
    return f"the tasks that made it have to run again: couler retry {run} --from TASK"
