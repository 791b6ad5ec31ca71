"""Short words that cases are written with."""

from __future__ import annotations

from typing import Any

from couler_py.ir.meaning import State
from tests.conformance.case import Case


def done(*names: str) -> dict[str, State]:
    """All of these tasks Succeeded."""
    return dict.fromkeys(names, "Succeeded")


def written(
    subject: str, workflow: Any, tasks: dict[str, State], outputs: dict[str, Any] | None = None, **more: Any
) -> Case:
    """A case of a `@workflow`, named after it."""
    name = f"{subject}-{workflow.name.replace('_', '-')}"
    return Case(name, workflow.build, tasks, outputs=outputs or {}, **more)
