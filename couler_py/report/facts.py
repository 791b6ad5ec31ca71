"""What a run's page is made from: plain data, whatever engine the run was on. Times are seconds since 1970."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec

Series: TypeAlias = tuple[tuple[float, float], ...]
"""(step, value) pairs in order."""

URGENT = ("Failed", "Running", "Suspended", "Stopped", "Blocked", "Pending", "Succeeded", "Skipped")
"""The states of tasks, those first that somebody who looks at a run asks about first."""


class Look(NamedTuple):
    """What an attempt used at one moment: processor seconds so far, and bytes of memory."""

    time: float
    cpu: float
    memory: int


class Log(msgspec.Struct, frozen=True):
    """The end of what an attempt wrote; `left_out` bytes came before."""

    text: str
    left_out: int = 0


class AttemptFacts(msgspec.Struct, frozen=True):
    """One try of a task. `cpu` is in seconds, `memory` the most bytes that it used; None where nobody measured."""

    number: int
    state: str
    started: float | None = None
    finished: float | None = None
    message: str = ""
    exit_code: int | None = None
    cpu: float | None = None
    memory: int | None = None
    looks: tuple[Look, ...] = ()
    log: Log | None = None


class TaskFacts(msgspec.Struct, frozen=True):
    """One task of a run. `attempts` says how many there were, `tries` what is known of each.

    `kind` is that of its template's body ("graph", "function"); `ready` is when it began to wait for its turn;
    `cached` names whose result it took ("RUN/TASK", or just "yes"); `metrics` are what it logged, by name.
    """

    name: str
    status: str
    attempts: int = 0
    seconds: float | None = None
    started: float | None = None
    finished: float | None = None
    message: str = ""
    cached: str = ""
    metrics: dict[str, Series] = {}
    kind: str = ""
    ready: float | None = None
    tries: tuple[AttemptFacts, ...] = ()
    outputs: dict[str, Any] = {}
    source: str = ""


class Area(msgspec.Struct, frozen=True):
    """Where a box is in a picture, in its pixels, and the path of the task that it stands for."""

    path: str
    label: str
    left: float
    top: float
    width: float
    height: float


class Picture(msgspec.Struct, frozen=True):
    """A picture as SVG text, its size in pixels, and its boxes."""

    svg: str
    width: float
    height: float
    areas: tuple[Area, ...] = ()


class RunFacts(msgspec.Struct, frozen=True):
    """A run. `seen` is when it was looked at, where it hasn't ended; in `paused` seconds nobody worked on it."""

    run: str
    workflow: str
    status: str
    engine: str = "local"
    started: float | None = None
    finished: float | None = None
    message: str = ""
    parameters: dict[str, Any] = {}
    outputs: dict[str, Any] = {}
    tasks: tuple[TaskFacts, ...] = ()
    seen: float | None = None
    picture: Picture | None = None
    where: str = ""
    paused: float = 0.0

    @property
    def end(self) -> float | None:
        """The end of what can be shown of it."""
        known = [each.finished or each.started for each in self.tasks]
        return self.finished or self.seen or max((each for each in known if each is not None), default=self.started)


class Attachment(msgspec.Struct, frozen=True):
    """An artifact of a run: its name (`TASK/NAME`), where it is, and its content where the page shows it."""

    name: str
    place: str
    media_type: str | None = None
    content: bytes = b""
    size: int | None = None


Shown: TypeAlias = Literal["image", "html", "table", "text"]
