"""What is remembered of a run: its tasks and their attempts, as read from and written to the store."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import msgspec

from couler_py.ir.meaning import State

RunStatus: TypeAlias = Literal["Running", "Suspended", "Succeeded", "Failed", "Stopped"]
TaskState: TypeAlias = Literal[
    "Pending", "Running", "Suspended", "Succeeded", "Failed", "Skipped", "Blocked", "Stopped"
]
LEAST_PAUSE = 5.0  # seconds: longer than it takes to set up an engine, and than it is between two notes of its time
ENDED: frozenset[str] = frozenset({"Succeeded", "Failed", "Skipped", "Blocked"})


class ArtifactRef(msgspec.Struct, frozen=True):
    """A file or folder in the store, by the sha256 of its content; `size` is in bytes, of a folder in all.

    The digest of a folder is that of its list of entries (see `couler_py.store.content`). `suffix` is that of
    the file's name where it was made (".html"), so that people can open their copy.
    """

    kind: Literal["file", "folder"]
    digest: str
    size: int = 0
    executable: bool = False
    suffix: str = ""


class Result(msgspec.Struct, frozen=True):
    """How a task ended. Only a Succeeded one has outputs; under Argo's rules also a Failed one, those it left.

    `parameters` are values (non-finite floats as such). `items` are those of a fan-out that Succeeded. `errored`
    tells a failure that isn't the work's own, and that Argo calls Error; `exit_code` is that of a process.
    """

    state: State
    parameters: dict[str, Any] = {}
    artifacts: dict[str, ArtifactRef] = {}
    items: list[Any] | None = None
    message: str = ""
    errored: bool = False
    exit_code: int | None = None


class AttemptRecord(msgspec.Struct, frozen=True):
    """One try of a task. Times are seconds since 1970.

    `cpu` are the seconds of processors that its processes used, `memory` is the most bytes that one of them had in
    memory (getrusage(2): who was killed or never waited for by its parent isn't counted); None where none ended.
    """

    number: int
    state: str
    message: str = ""
    exit_code: int | None = None
    started: float | None = None
    finished: float | None = None
    folder: str = ""
    cpu: float | None = None
    memory: float | None = None


class TaskRecord(msgspec.Struct):
    """What became of one task. `path` is its name, with those of the graphs around it: `graph/map[3]/task`.

    A Pending one waits for its turn: for processors, memory, GPUs, a lock, a bound on parallelism, a suspended
    run; its `message` says for what. `ready` is when it began to wait for that, all that comes before it having
    ended; `started` is the start of its first attempt, without the wait before.
    """

    path: str
    kind: str
    template: str
    state: TaskState
    message: str = ""
    digest: str = ""
    attempts: int = 0
    item: Any = msgspec.UNSET
    item_index: int | None = None
    cached: str = ""
    started: float | None = None
    finished: float | None = None
    result: Result | None = None
    ready: float | None = None

    @property
    def seconds(self) -> float:
        """How long it took; 0 for what never started or still runs."""
        if self.started is None or self.finished is None:
            return 0.0
        return self.finished - self.started


class RunRecord(msgspec.Struct):
    """What became of a run. `parameters` are values; times are seconds since 1970; `seconds` leaves pauses out."""

    id: str
    name: str
    status: RunStatus
    parameters: dict[str, Any]
    scheduled: float
    created: float
    options: dict[str, Any] = {}
    workflow: str = ""
    message: str = ""
    finished: float | None = None
    seconds: float = 0.0
    outputs: dict[str, Any] = {}
    published: dict[str, Any] = {}
    tasks: dict[str, TaskRecord] = {}

    def paused(self, now: float) -> float:
        """The seconds between its beginning and its end, or now, in which no engine worked on it.

        Less than `LEAST_PAUSE` is none.
        """
        if not self.seconds:
            return 0.0
        found = (self.finished or now) - self.created - self.seconds
        return found if found >= LEAST_PAUSE else 0.0
