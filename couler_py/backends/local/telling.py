"""The events of a run on their way from the journal to whoever the settings name."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from couler_py.backends.local import journal
from couler_py.events import metrics
from couler_py.events.lineage import Translator
from couler_py.events.model import ENDS, LONGEST_MESSAGE, Artifact, Event, identity
from couler_py.events.outbox import Outbox
from couler_py.events.places import Hook, JsonLines, Lineage, Place
from couler_py.events.teller import Left, Teller
from couler_py.ir.model import Workflow
from couler_py.settings import EventSettings, load
from couler_py.settings.model import EventKind
from couler_py.store import runs
from couler_py.store.home import Home
from couler_py.store.records import RunRecord, TaskRecord
from couler_py.store.secrets import read_key

KINDS: dict[str, EventKind] = {
    "Running": "started",
    "Succeeded": "succeeded",
    "Failed": "failed",
    "Skipped": "skipped",
    "Blocked": "blocked",
    "Stopped": "stopped",
}
"""By the state of a task or run; the other states are told to nobody."""


class Telling:
    """Of one run. Its workers begin with `begin`, when the run does."""

    def __init__(self, workflow: Workflow, home: Home, run: RunRecord, settings: EventSettings):
        self._run = run
        self._settings = settings
        self._outbox = Outbox(home.run(run.id) / "events")
        self._places = places(workflow, home, settings)
        self._teller: Teller | None = None
        # How often the run had ended before: what happens from then on is new, though it has the same names. Between
        # two ends everything happens once, so an engine that takes over says the same again under the same id.
        self._round = sum(not event.task and event.kind in ENDS for event in self._outbox.events)

        # What had ended before and stays: an engine comes past it again, and nothing has happened.
        self._ended = {path: (task.state, task.finished) for path, task in run.tasks.items()}

    def begin(self) -> None:
        """Start the workers, and catch up with what an earlier engine recorded and didn't tell."""
        self._teller = Teller(self._outbox, self._places)
        known = {(event.task, event.kind) for event in self._outbox.events}
        for task in list(self._run.tasks.values()):
            kinds: list[EventKind] = ["started"] if task.started is not None else []
            kinds += [KINDS[task.state]] if task.state in KINDS and task.state != "Running" else []
            for kind in kinds if task.path else ():
                if (task.path, kind) not in known:
                    self._teller.tell(self._of_task(task, kind, runs.now()))

    def observe(self, event: journal.Event) -> None:
        """Tell of a change of a task or of the run. Called in the midst of it, so it only makes a note."""
        if self._teller is None:
            return
        task = event.task
        if task is not None and task.path and task.state in KINDS:
            if self._ended.get(task.path) == (task.state, task.finished):
                return
            self._teller.tell(self._of_task(task, KINDS[task.state], event.time))
        elif event.kind == "run" and self._run.status in KINDS:
            self._teller.tell(self._of_run(KINDS[self._run.status], event.time))

    def close(self, connection: Any) -> None:
        """Deliver what is under way, write the numbers of the run, and say what couldn't be delivered."""
        if self._teller is None:
            return
        for each in (*self._teller.close(), *self._numbers(connection)):
            say(self._run.id, each)

    def _numbers(self, connection: Any) -> Iterable[Left]:
        if self._settings.prometheus:
            found = [attempt for _, attempt in runs.load_attempts(connection, self._run.id)]
            try:
                metrics.write(Path(self._settings.prometheus), self._run, found)
            except OSError as problem:
                yield Left(
                    self._settings.prometheus, 0, 0, f"the numbers of the run can't be written: {problem.strerror}"
                )

    def _of_run(self, kind: EventKind, moment: float) -> Event:
        run = self._run
        whole = run.tasks.get("") if kind == "succeeded" else None
        return Event(
            identity(run.id, "", kind, self._round),
            moment,
            kind,
            run.id,
            run.name,
            message=run.message[:LONGEST_MESSAGE],
            started=run.created,
            finished=run.finished,
            scheduled=run.scheduled,
            artifacts=_artifacts(whole),
        )

    def _of_task(self, task: TaskRecord, kind: EventKind, moment: float) -> Event:
        run = self._run
        return Event(
            identity(run.id, task.path, kind, self._round),
            task.started or moment if kind == "started" else task.finished or moment,
            kind,
            run.id,
            run.name,
            task.path,
            task.template,
            "" if kind == "started" else task.message[:LONGEST_MESSAGE],
            task.attempts,
            bool(task.cached),
            task.started,
            None if kind == "started" else task.finished,
            artifacts=_artifacts(task if kind == "succeeded" else None),
        )


def _artifacts(task: TaskRecord | None) -> tuple[Artifact, ...]:
    result = task.result if task is not None else None
    kept = result.artifacts.items() if result is not None else ()
    return tuple(Artifact(name, ref.digest, ref.size) for name, ref in kept)


def telling(workflow: Workflow, home: Home, run: RunRecord) -> Telling | None:
    """What tells of a run; None where the settings name nobody. Raises `SettingsError`."""
    settings = settings_for(workflow)
    wanted = bool(settings.files or settings.webhooks or settings.prometheus)
    wanted = wanted or bool(settings.openlineage.url or settings.openlineage.file)
    return Telling(workflow, home, run, settings) if wanted else None


def settings_for(workflow: Workflow) -> EventSettings:
    """The settings of the project that a workflow was written in, else of the working folder."""
    file = Path(workflow.source.file) if workflow.source is not None else None
    return load(file.parent if file is not None and file.is_file() else None).events


def places(workflow: Workflow, home: Home, settings: EventSettings) -> list[Place]:
    """Everybody that the settings name."""

    def secret(name: str) -> str:
        first, _, key = name.partition("/")
        return read_key(home, first, key)

    found: list[Place] = [JsonLines(path) for path in settings.files]
    found += [Hook(each, secret) for each in settings.webhooks]
    if settings.openlineage.url or settings.openlineage.file:
        found.append(Lineage(settings, Translator(workflow, settings.openlineage.namespace), secret))
    return found


def say(run: str, left: Left) -> None:
    """Say on stderr what a place doesn't have."""
    parts = []
    if left.waiting:
        parts.append(f"{left.waiting} event{'s' if left.waiting > 1 else ''} wait: `couler events {run} --send`")
    if left.refused:
        parts.append(f"{left.refused} refused")
    reason = f" ({left.reason})" if left.reason else ""
    print(f"events for {left.place}: {', '.join(parts) or 'not told'}{reason}", file=sys.stderr, flush=True)  # noqa: T201
