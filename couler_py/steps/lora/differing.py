"""What tells two jobs of one name apart."""

from __future__ import annotations

from typing import Any

import msgspec

from couler_py.steps.lora.jobs import Job

FREE = ("priority", "data.path", "adapter.start", "objective.reference")
"""What of a job doesn't say what it learns: its place in the queue, and where files lie."""


def different(one: Job, other: Job) -> str:
    """What the second job says otherwise than the first, apart from priority and where files lie; or nothing."""
    before, after = (_flat(msgspec.to_builtins(job)) for job in (one, other))
    for name in sorted(before.keys() | after.keys()):
        if name not in FREE and before.get(name) != after.get(name):
            return f"{name} is {after.get(name)!r} and was {before.get(name)!r}"
    return ""


def _flat(told: Any, place: str = "") -> dict[str, Any]:
    if not isinstance(told, dict):
        return {place: told}
    return {
        key: value for name, each in told.items() for key, value in _flat(each, f"{place}.{name}".strip(".")).items()
    }
