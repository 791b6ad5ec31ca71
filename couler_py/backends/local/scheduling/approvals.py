"""Whether the values that somebody gives to a waiting task are those that it asks for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from couler_py.backends.local.paths import shown
from couler_py.ir.types import mismatch
from couler_py.store import runs
from couler_py.store.database import connect
from couler_py.store.home import Home
from couler_py.store.records import RunRecord


def check_outputs(home: Home, record: RunRecord, task: str | None, outputs: Mapping[str, Any]) -> None:
    """Raises `ValueError` for a task that doesn't wait, and for outputs that it doesn't have or of a wrong type."""
    waiting = {shown(path): each for path, each in record.tasks.items() if each.state in ("Suspended", "Stopped")}
    if task is not None and task not in waiting:
        known = [path for path, each in waiting.items() if each.kind == "suspend"]
        raise ValueError(f"{task!r} doesn't wait in {record.id}; waiting are {', '.join(known) or 'none'}")
    chosen = [waiting[task]] if task is not None else [each for each in waiting.values() if each.kind == "suspend"]
    if not chosen:
        return
    connection = connect(home)
    try:
        workflow = runs.workflow(connection, record.workflow)
    finally:
        connection.close()
    templates = {template.name: template for template in workflow.templates}
    template = templates.get(chosen[0].template)
    if template is None:
        return
    known_outputs = {output.name: output for output in template.outputs.parameters}
    for name, value in outputs.items():
        if name not in known_outputs:
            raise ValueError(
                f"{shown(chosen[0].path)} takes no output {name!r}; it takes {', '.join(known_outputs) or 'none'}"
            )
        problem = mismatch(known_outputs[name].type, value)
        if problem is not None:
            raise ValueError(f"the output {name!r}: {problem}")
