"""An event: what is told, and the identity by which a receiver knows it again."""

from __future__ import annotations

import datetime
import uuid
from typing import Any

import msgspec

from couler_py.settings.model import EventKind

NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "https://couler-py.dev/events")
LONGEST_MESSAGE = 2000
"""Characters of a message that are told."""
ENDS: frozenset[str] = frozenset({"succeeded", "failed", "skipped", "blocked", "stopped"})


class Artifact(msgspec.Struct, frozen=True, omit_defaults=True):
    """A file or folder that a task made: the sha256 of its content, and its size in bytes."""

    name: str
    digest: str
    size: int = 0


class Event(msgspec.Struct, frozen=True, omit_defaults=True):
    """Something that happened to a run, or (`task`) to one task of it. Times are seconds since 1970.

    No parameter and no output is in it, for these can hold anything; a message is as records have it, secrets hidden.
    """

    id: str
    time: float
    kind: EventKind
    run: str
    workflow: str
    task: str = ""
    template: str = ""
    message: str = ""
    attempts: int = 0
    cached: bool = False
    started: float | None = None
    finished: float | None = None
    scheduled: float | None = None
    artifacts: tuple[Artifact, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The event as it is sent: times as RFC 3339, what doesn't apply left out."""
        plain: dict[str, Any] = msgspec.to_builtins(self)
        for name in ("time", "started", "finished", "scheduled"):
            if plain.get(name) is not None:
                plain[name] = timestamp(plain[name])
        return plain


def identity(run: str, task: str, kind: str, ends: int) -> str:
    """The id of an event: the same whenever the same thing is told again, by whichever engine.

    `ends` is how often the run had ended before: a retried task fails anew.

    >>> identity("flow-x", "a", "started", 0) == identity("flow-x", "a", "started", 0)
    True
    """
    return str(uuid.uuid5(NAMESPACE, "\n".join([run, task, kind, str(ends)])))


def timestamp(moment: float) -> str:
    """A time as RFC 3339, in UTC.

    >>> timestamp(0.25)
    '1970-01-01T00:00:00.250Z'
    """
    found = datetime.datetime.fromtimestamp(moment, datetime.UTC)
    return found.isoformat(timespec="milliseconds").replace("+00:00", "Z")
