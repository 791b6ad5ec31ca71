"""What every engine offers: emission (`Backend`), and runs that can be watched and steered (`Client`).

A run is named the same everywhere: `ID` on the local engine, `ENGINE:NAMESPACE/NAME` on others.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, runtime_checkable

import msgspec

from couler_py.ir.diagnostics import CoulerError, Diagnostic
from couler_py.ir.model import Document, Source, Workflow

if TYPE_CHECKING:
    from couler_py.report.facts import RunFacts
    from couler_py.store.records import AttemptRecord, RunRecord

OnUnsupported: TypeAlias = Literal["error", "warn", "emulate"]
RunPhase: TypeAlias = Literal["Pending", "Running", "Suspended", "Stopped", "Succeeded", "Failed"]
TaskPhase: TypeAlias = Literal[
    "Pending", "Running", "Suspended", "Stopped", "Succeeded", "Failed", "Skipped", "Blocked"
]

FINISHED: frozenset[str] = frozenset({"Stopped", "Succeeded", "Failed"})


class UnknownEngineError(CoulerError):
    """An engine that no installed package provides."""


class OptionError(CoulerError, TypeError):
    """An option that the engine doesn't know, or a value that it can't have; the message says which there are."""


class RunNotFoundError(CoulerError):
    """No run of that name is known."""


class EngineUnreachableError(CoulerError):
    """The engine doesn't answer, or doesn't let us in; the message names the address."""


class NotOffered(CoulerError):  # noqa: N818 - reads as what it says
    """The engine has no such operation; the message says what to do instead."""


# ---- emission


class Bundle(msgspec.Struct, frozen=True):
    """What a workflow compiles to.

    `files` maps relative paths to text, the main file first; `documents` are the parsed documents of
    the main file where it is YAML or JSON; `diagnostics` are the findings that did not stop it.
    `blobs` holds binary files that belong to it (archives of the user's own modules).
    """

    engine: str
    files: dict[str, str]
    documents: tuple[Any, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    blobs: dict[str, bytes] = {}

    @property
    def text(self) -> str:
        """The text of the main file."""
        return next(iter(self.files.values()))

    def write(self, folder: str | Path) -> tuple[Path, ...]:
        """Write all files below a folder, which is made where it is missing. Gives their paths, the main one first."""
        root = Path(folder)
        contents = {name: text.encode() for name, text in self.files.items()} | self.blobs
        written = []
        for name, content in contents.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            written.append(path)
        return tuple(written)


class Support(msgspec.Struct, frozen=True):
    """One row of an engine's support table: how a feature of the IR is said there.

    `level` is native, lowered (by the rewrite that `by` names), emulated, or never (`by` says why).
    """

    feature: str
    level: Literal["native", "lowered", "emulated", "never"]
    by: str = ""


class Backend(Protocol):
    """An engine. One instance an engine, made by the entry point `couler.backends`.

    One with an attribute `namespaced` that is true is compiled for with the option `namespace` of the settings.
    """

    name: str
    versions: tuple[str, ...]
    suffix: str

    def support(self) -> tuple[Support, ...]:
        """The support table: a row for every feature of `couler_py.backends.features.FEATURES`."""
        ...

    def compile(self, workflow: Workflow, *, version: str | None = None, **options: Any) -> Bundle:
        """Emit a checked workflow.

        Raises `DiagnosticError` with every place that the engine can't do, and `OptionError` for an
        option that it doesn't know.
        """
        ...

    def client(self, **options: Any) -> Client:
        """A connection to the engine. Raises `NotOffered` where the engine has none."""
        ...


@runtime_checkable
class DocumentBackend(Protocol):
    """An engine that has documents of its own, which the IR can hold (`couler_py.ir.Document`)."""

    def compile_document(self, document: Document, *, version: str | None = None, **options: Any) -> Bundle:
        """Emit a document around a checked workflow, as `Backend.compile` does."""
        ...


# ---- runs


class TaskStatus(msgspec.Struct, frozen=True):
    """One task of a run.

    `name` is the path of task names from the entrypoint, joined by "/", with "[3]" for the item of a
    fan-out and "#2" for the second iteration of a loop; handlers of the run are inside "onExit". Of what is inside a
    graph that was retried, the last attempt is shown. `seconds` is wall-clock time from the start of the first
    attempt to the end of the last.
    `metrics` are what the step logged so far, by name: (step, value) pairs in order. `cached_from` is who made the
    result of a task that was `cached`, as `RUN/TASK`, where the engine says so.
    """

    name: str
    status: TaskPhase
    attempts: int = 0
    seconds: float | None = None
    message: str = ""
    display: str = ""
    cached: bool = False
    started: float | None = None
    finished: float | None = None
    source: Source | None = None
    metrics: dict[str, tuple[tuple[float, float], ...]] = {}
    cached_from: str = ""
    kind: str = ""
    template: str = ""


class RunStatus(msgspec.Struct, frozen=True):
    """A run as it stands. `started` and `finished` are seconds since the epoch.

    `paused` are the seconds between them in which nobody worked on it: it had been stopped, or its engine killed.
    `outputs` holds decoded values; an artifact is its path or URI.
    """

    run: str
    workflow: str
    status: RunPhase
    engine: str = "local"
    started: float | None = None
    finished: float | None = None
    message: str = ""
    tasks: tuple[TaskStatus, ...] = ()
    outputs: dict[str, Any] = {}
    parameters: dict[str, Any] = {}
    paused: float = 0.0

    def seconds(self, now: float) -> float | None:
        """How long it has been worked on; None where it hasn't begun."""
        return None if self.started is None else max(0.0, (self.finished or now) - self.started - self.paused)

    def as_json(self) -> dict[str, Any]:
        """The shape that `couler run --json` prints."""
        return {
            "run": self.run,
            "status": self.status,
            "tasks": {
                task.name: {
                    "status": task.status,
                    "attempts": task.attempts,
                    "seconds": None if task.seconds is None else round(task.seconds, 3),
                    **({"cached": task.cached_from or True} if task.cached else {}),
                }
                for task in self.tasks
            },
            "outputs": self.outputs,
        }


class Expected(msgspec.Struct, frozen=True):
    """The steps that a run will have, as far as that is known before: how many of each template.

    `unknown` says that there may be more: items of lists that a step makes, iterations, branches.
    """

    steps: dict[str, int] = {}
    unknown: bool = False

    @property
    def count(self) -> int:
        """How many there are in all."""
        return sum(self.steps.values())


class Change(msgspec.Struct, frozen=True):
    """What is new in a run that somebody watches: the run without its tasks, and the tasks that are new or other.

    With `anew`, tasks told of before are forgotten. `used` are the processors and the bytes of memory that its steps
    use now, `processors` those of the machine.
    """

    run: RunStatus
    tasks: tuple[TaskStatus, ...] = ()
    anew: bool = False
    used: tuple[float, int] | None = None
    processors: float | None = None
    expected: Expected | None = None


class LogLine(msgspec.Struct, frozen=True):
    """A line that a step wrote, without its newline."""

    task: str
    text: str
    attempt: int = 0


class Client(Protocol):
    """Steers runs on one engine. Every method raises `RunNotFoundError` for a run that isn't known."""

    engine: str

    def submit(self, bundle: Bundle, *, parameters: Mapping[str, Any] | None = None, **options: Any) -> str:
        """Start a run and give its full name.

        The local engine works in a thread of this process until the run has ended; the others are elsewhere.
        Raises `OptionError` for an option that the engine doesn't know.
        """
        ...

    def status(self, run: str) -> RunStatus: ...

    def watch(self, run: str) -> Iterator[RunStatus]:
        """The status each time it changes, until the run has ended."""
        ...

    def logs(self, run: str, task: str | None = None, *, follow: bool = False) -> Iterator[LogLine]: ...

    def stop(self, run: str) -> None:
        """Let running steps end, start no others, run exit handlers."""
        ...

    def terminate(self, run: str) -> None:
        """End everything now, without exit handlers."""
        ...

    def suspend(self, run: str) -> None: ...

    def resume(self, run: str, *, outputs: Mapping[str, Any] | None = None, task: str | None = None) -> str:
        """Go on with what was stopped from outside: an approval (with its outputs), a suspended run, a dead engine."""
        ...

    def retry(self, run: str) -> str:
        """Run failed tasks again and keep those that succeeded."""
        ...

    def delete(self, run: str) -> None: ...

    def list(self) -> Iterable[RunStatus]:
        """The runs of this engine, newest first, without their tasks."""
        ...

    def artifacts(self, run: str) -> Mapping[str, str]:
        """The output artifacts of a run: `TASK/NAME` to path or URI."""
        ...


@runtime_checkable
class ClusterClient(Client, Protocol):
    """What engines offer besides whose runs are objects of a cluster, as Argo's are."""

    @property
    def planned(self) -> Sequence[Any]:
        """What a client that only rehearses (`dry_run=True`) would have sent: each with `shown()`, secrets hidden."""
        ...

    def document(self, run: str) -> dict[str, Any]:
        """The object of a run as the cluster has it."""
        ...

    def documents(self, run: str) -> Sequence[dict[str, Any]]:
        """The object of a run and, where it runs in parts, those of the runs of its parts."""
        ...

    def retry(self, run: str, *, parameters: Mapping[str, str] | None = None) -> str:
        """Run failed tasks again and keep those that succeeded; `parameters` are other values, as they are typed."""
        ...

    def resubmit(self, run: str, *, memoized: bool = False, parameters: Mapping[str, str] | None = None) -> str:
        """Start a new run like this one; `memoized` keeps what succeeded in it, `parameters` are as for `retry`."""
        ...

    def download(self, run: str, folder: str | Path, names: Iterable[str] = ()) -> Mapping[str, Sequence[Path]]:
        """Fetch artifacts of a run below a folder: all, or those named. Gives the files by `TASK/NAME`."""
        ...


@runtime_checkable
class Scheduling(Client, Protocol):
    """What engines offer besides that keep workflows and start them by the clock, as Airflow does."""

    def deploy(self, bundle: Bundle, folder: str | Path, *, seconds: float, pools: Mapping[str, int] = {}) -> Any:
        """Put a workflow where the engine reads it, and wait until it has; make the pools that it needs."""
        ...

    def differs(self, bundle: Bundle) -> bool:
        """Whether the engine has another version of the workflow than this."""
        ...

    def attempt_logs(self, run: str) -> Iterable[tuple[str, str]]:
        """By the path of its task, all that was logged in each attempt that has begun."""
        ...

    def pause(self, name: str) -> None:
        """Start no runs of a workflow, and nothing more of those that there are."""
        ...

    def unpause(self, name: str) -> None:
        """Go on with a workflow that was paused."""
        ...

    def rerun(self, run: str, *, parameters: Mapping[str, str] = {}) -> str:
        """Start a new run like an old one; `parameters` are other values, as they are typed."""
        ...


class Instant(msgspec.Struct, frozen=True):
    """One instant of a schedule (seconds since the epoch), and its run: "" where there is none yet."""

    at: float
    run: str = ""
    status: RunPhase = "Pending"


@runtime_checkable
class Backfilling(Client, Protocol):
    """What engines offer besides that run the past instants of a schedule."""

    def backfill(
        self, bundle: Bundle, begin: float, end: float, *, parallel: int = 1, again: bool = False, **options: Any
    ) -> Iterator[Sequence[Instant]]:
        """Run the instants of a span, both ends included, that haven't; with `again`, those too that failed.

        Gives the instants each time that something has changed, until all that were started have ended. At most
        `parallel` run at once. Further options are those of `submit`.
        """
        ...


@runtime_checkable
class Reporting(Protocol):
    """What engines offer besides that know more of a run than its status: attempts, logs, what was used."""

    def report(self, run: str) -> RunFacts:
        """All that a run's page shows."""
        ...


@runtime_checkable
class Detailed(Protocol):
    """What engines offer besides that keep the whole record of a run: those of this machine."""

    def find(self, run: str) -> str:
        """The full name of the run that is meant, by the beginning of it or by how long ago it was begun."""
        ...

    def record(self, run: str) -> RunRecord:
        """All that is recorded of a run and its tasks."""
        ...

    def attempts(self, run: str) -> list[tuple[str, AttemptRecord]]:
        """The attempts of all tasks, by the inner path of the task."""
        ...

    def workflow(self, run: str) -> Workflow:
        """The workflow that a run is of."""
        ...


@runtime_checkable
class Changing(Protocol):
    """What engines offer besides that tell what has changed in a run, so that watching a large one costs little."""

    def changes(self, run: str) -> Generator[Change, None, None]:
        """What is new, each time that there is, and now and then without, until the run has ended."""
        ...


# ---- finding engines


@functools.cache
def installed() -> dict[str, str]:
    """The engines that are installed: name to the module that provides it, sorted by name."""
    return {entry.name: entry.value for entry in sorted(entry_points(group="couler.backends"), key=lambda e: e.name)}


def parse_target(target: str) -> tuple[str, str | None]:
    """An engine name with an optional version, as "argo@3.5", taken apart."""
    name, _, version = target.partition("@")
    return name, version or None


@functools.cache
def backend(name: str) -> Backend:
    """The engine of that name. Only its own module is imported.

    Raises `UnknownEngineError`, naming the engines that are installed.
    """
    module = installed().get(name)
    if module is None:
        raise UnknownEngineError(f"there is no engine {name!r}; installed are {', '.join(installed()) or 'none'}")
    made: Backend = importlib.import_module(module.partition(":")[0]).BACKEND
    return made
