"""The local engine as every engine is steered: see `couler_py.backends.base.Client`."""

from __future__ import annotations

import time
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from couler_py.backends.base import (
    FINISHED,
    Bundle,
    Change,
    Instant,
    LogLine,
    OptionError,
    RunNotFoundError,
    RunStatus,
)
from couler_py.backends.local import api, control
from couler_py.backends.local.artifacts import remote
from couler_py.backends.local.cache.why import Why, explain
from couler_py.backends.local.containers.runtimes import Kind, choose
from couler_py.backends.local.context import Options
from couler_py.backends.local.lifecycle import InThread, Prepared, prepare
from couler_py.backends.local.paths import last_attempts, shown
from couler_py.backends.local.runs import backfill, exporting, garbage, naming, watching
from couler_py.backends.local.runs.taking_up import prepare_again
from couler_py.backends.local.steps import attempts
from couler_py.ir.codec import from_json
from couler_py.ir.diagnostics import Diagnostic
from couler_py.ir.model import Document, Workflow
from couler_py.store import artifacts, runs
from couler_py.store.database import connect
from couler_py.store.home import home_path, open_home
from couler_py.store.records import AttemptRecord, RunRecord
from couler_py.store.secrets import write_secret

if TYPE_CHECKING:
    from couler_py.report.facts import RunFacts

Metrics: TypeAlias = dict[str, dict[str, tuple[tuple[float, float], ...]]]

OPTIONS = frozenset({"scheduled_time", "durability", "grace", "name", "runtime", "network", "allow_host", "artifacts"})
"""The options of a run."""

LONGEST_NAME = 255  # bytes of a file's name, on most file systems


class LocalClient:
    """Runs of one home. Those that this client started work in threads of this process."""

    engine = "local"

    def __init__(self, home: str | Path | None = None):
        self._home = home_path(home)
        self._ours: dict[str, InThread] = {}
        self._workflows: dict[str, Workflow] = {}
        self._findings: dict[str, tuple[Diagnostic, ...]] = {}

    def submit(self, bundle: Bundle, *, parameters: Mapping[str, Any] | None = None, **options: Any) -> str:
        """Start a run in a thread of this process. Options are those of `lifecycle.prepare`.

        Without a `runtime` its steps run in containers: a bundle doesn't say who wrote what is in it.
        Raises `OptionError` for other options.
        """
        unknown = [name for name in options if name not in OPTIONS]
        if unknown:
            raise OptionError(f"local: there is no option {unknown[0]!r}; there are {', '.join(sorted(OPTIONS))}")
        workflow = from_json(bundle.text)
        options["runtime"] = self.choose_runtime(options.get("runtime"), None, trusted=False)
        return self._start(prepare(workflow, parameters, home=self._home, **options))

    def choose_runtime(self, asked: str | None, setting: str | None, *, trusted: bool) -> Kind:
        """What steps run in: see `containers.runtimes.choose`."""
        return choose(asked, setting, trusted=trusted)

    def keep_secret(self, name: str, data: Mapping[str, str], namespace: str = "") -> None:
        """Keep a secret on this machine, where there are no namespaces."""
        write_secret(open_home(self._home), name, data)

    def _start(self, prepared: Prepared) -> str:
        self._workflows[prepared.run.id] = prepared.engine.context.workflow
        self._findings[prepared.run.id] = prepared.diagnostics
        self._ours[prepared.run.id] = InThread(prepared)
        return prepared.run.id

    def status(self, run: str) -> RunStatus:
        """The run as it stands."""
        ours = self._ours.get(run)
        if ours is None:
            record = api.load(run, home=self._home)
        elif ours.look(0.0):
            record = self._ours.pop(run).prepared.run
        else:
            now = ours.prepared.run
            record = msgspec.structs.replace(now, tasks=dict(now.tasks))  # the engine goes on writing in its thread
        if run not in self._workflows:
            self._workflows[run] = self.workflow(run)
        return status_of(record, self._workflows[run], self._metrics(run))

    def watch(self, run: str) -> Iterator[RunStatus]:
        """The status each time it changes, until the run has ended. Ctrl-C ends a run of this process."""
        last = None
        while True:
            try:
                spent = time.thread_time()
                found = self.status(run)
                if found != last:
                    yield found
                    last = found
                if found.status in FINISHED and run not in self._ours:
                    return
                pause = watching.pause(time.thread_time() - spent)
                if run in self._ours:
                    self._ours[run].look(pause)
                else:
                    time.sleep(pause)
            except KeyboardInterrupt:
                if run not in self._ours:
                    raise
                self._ours[run].prepared.engine.interrupt()

    def changes(self, run: str) -> Generator[Change, None, None]:
        """What is new in a run, until it has ended. Ctrl-C ends a run of this process."""
        workflow = self._workflows.get(run) or self.workflow(run)
        yield from watching.changes(open_home(self._home), run, workflow, self._ours.get(run))
        self._ours.pop(run, None)

    def workflow(self, run: str) -> Workflow:
        """The workflow that a run is of. Raises `RunNotFoundError`."""
        record = api.load(run, home=self._home, tasks=False)
        connection = connect(open_home(self._home))
        try:
            return runs.workflow(connection, record.workflow)
        finally:
            connection.close()

    def _metrics(self, run: str) -> Metrics:
        connection = connect(open_home(self._home))
        try:
            return runs.metrics(connection, run)
        finally:
            connection.close()

    def report(self, run: str) -> RunFacts:
        """All that is known of a run, for its page."""
        from couler_py.backends.local.runs import reporting

        home = open_home(self._home)
        record = api.load(run, home=self._home)
        connection = connect(home)
        try:
            return reporting.facts(connection, home.run(record.id), record)
        finally:
            connection.close()

    def logs(self, run: str, task: str | None = None, *, follow: bool = False) -> Iterator[LogLine]:
        """What the steps wrote, line by line."""
        return api.logs(run, task, home=self._home, follow=follow)

    def stop(self, run: str) -> None:
        """Let running steps end, start no others, run exit handlers."""
        api.stop(run, home=self._home)

    def terminate(self, run: str) -> None:
        """End everything now, without exit handlers."""
        api.stop(run, home=self._home, terminate=True)

    @property
    def own(self) -> Collection[str]:
        """The runs that work in this process, begun by this client."""
        return self._ours.keys()

    def interrupt(self) -> None:
        """What Ctrl-C does to the runs of this client: their steps are asked to end, the second time killed."""
        for ours in list(self._ours.values()):
            ours.prepared.engine.interrupt()

    def suspend(self, run: str) -> None:
        """Let running steps end and start no others until the run is resumed."""
        api.load(run, home=self._home, tasks=False)
        control.ask(open_home(self._home), run, control.Request("suspend"))

    def resume(self, run: str, *, outputs: Mapping[str, Any] | None = None, task: str | None = None) -> str:
        """Go on with what was stopped from outside; a run without an engine works in this process from here on."""
        record, alive = api.ask_to_go_on(run, home=self._home, task=task, outputs=outputs)
        if not alive and record.status == "Stopped":
            self._start(prepare_again(run, home=self._home))
        return run

    def retry(
        self,
        run: str,
        *,
        start: Collection[str] = (),
        only: Collection[str] = (),
        workflow: Workflow | Document | None = None,
    ) -> str:
        """Run failed tasks again and keep those that succeeded, in this process.

        `start` are tasks from which on everything runs again, besides what failed; `only` those that run again with
        all that follows them, and nothing else. `workflow` is the workflow as it is now: what changed in it runs again
        with all that follows.
        """
        status = api.load(run, home=self._home, tasks=False).status
        if status != "Succeeded" or start or only or workflow is not None:
            again = prepare_again(run, home=self._home, failed_too=True, start=start, only=only, workflow=workflow)
            self._start(again)
        return run

    def rerun(self, run: str, *, parameters: Mapping[str, Any] | None = None) -> str:
        """Start a new run of the same workflow in this process; `parameters` take the place of those of old."""
        record = api.load(run, home=self._home, tasks=False)
        values = record.parameters | dict(parameters or {})
        options = msgspec.convert(record.options, Options)
        return self._start(
            prepare(
                self.workflow(run),
                values,
                home=self._home,
                durability=options.durability,
                grace=options.grace,
                runtime=options.runtime,
                network=options.network,
                allow_host=options.allow_host,
                artifacts=options.artifacts,
            )
        )

    def backfill(
        self,
        bundle: Bundle,
        begin: float,
        end: float,
        *,
        parallel: int = 1,
        again: bool = False,
        parameters: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> Generator[Sequence[Instant], None, None]:
        """Run the instants of a schedule from `begin` to `end` that haven't; with `again`, those too that failed.

        A run that was stopped goes on. Gives all instants each time that one has changed. Further options are those
        of `submit`. Raises `ValueError` for a workflow without a schedule.
        """
        workflow = from_json(bundle.text)
        named = workflow.workflow if isinstance(workflow, Document) else workflow

        def start(client: LocalClient, name: str, at: datetime) -> None:
            client.submit(bundle, parameters=parameters, scheduled_time=at, name=name, **options)

        before = [each for each in api.run_list(home=self._home) if each.name == named.name]
        wanted = backfill.wanted(named, before, begin, end, again=again)
        yield from backfill.Backfill(named.name, before, lambda: LocalClient(self._home), start).drive(wanted, parallel)

    def record(self, run: str) -> RunRecord:
        """All that is recorded of a run and its tasks."""
        return api.load(run, home=self._home)

    def attempts(self, run: str) -> list[tuple[str, AttemptRecord]]:
        """The attempts of all tasks, by the inner path of the task."""
        connection = connect(open_home(self._home))
        try:
            return runs.load_attempts(connection, run)
        finally:
            connection.close()

    def why(self, run: str, task: str) -> Why:
        """Why a task was computed, and not taken from the cache. Raises `RunNotFoundError`."""
        return explain(run, task, home=self._home)

    def export(
        self, run: str, target: str | Path, *, files: exporting.Files = "small", source: str = "", page: str = ""
    ) -> exporting.Written:
        """Write a run as a folder or archive (`.tar.gz`): see `exporting.write`."""
        return exporting.write(
            run, self.workflow(run), Path(target), home=self._home, files=files, source=source, page=page
        )

    def find(self, run: str) -> str:
        """The id of the run that is meant: see `naming.find`. Raises `RunNotFoundError`."""
        return naming.find(open_home(self._home), run)

    def findings(self, run: str) -> tuple[Diagnostic, ...]:
        """What was found when this client started a run, and didn't stop it."""
        return self._findings.get(run, ())

    def delete(self, run: str) -> None:
        """Forget a run with its logs, and the files that nothing else needs. Raises `RunBusyError` while it goes."""
        garbage.delete(run, home=self._home)

    def list(self) -> Iterable[RunStatus]:
        """The runs, newest first, without their tasks."""
        return [status_of(record, None) for record in api.run_list(home=self._home)]

    def artifacts(self, run: str) -> Mapping[str, str]:
        """The output artifacts of a run: `TASK/NAME` to the path of a copy.

        What is missing on this machine comes from the store of the run. Raises `RemoteError` where it can't.
        """
        home = open_home(self._home)
        record = api.load(run, home=self._home)
        made = [ref for task in record.tasks.values() if task.result for ref in task.result.artifacts.values()]
        remote.present(home, record.options.get("artifacts", ""), made)
        found = {}
        for path, task in last_attempts(record.tasks).items():
            for name, ref in (task.result.artifacts if task.result is not None else {}).items():
                folder = home.run(run) / "artifacts" / runs_folder(path)
                full = f"{shown(path)}/{name}" if path else name
                found[full] = str(artifacts.visible(home, ref, folder, name))
        return found


def runs_folder(path: str) -> str:
    """A task's path as the name of one folder, by its hash where it would be too long for one."""
    name = path.replace("/", "%2F") or "%"
    return name if len(name.encode()) <= LONGEST_NAME else attempts.key_of(path)


def status_of(record: RunRecord, workflow: Workflow | None, metrics: Metrics | None = None) -> RunStatus:
    """A record in the words that all engines share. `metrics` are by the path of a task."""
    shape = watching.Shape(workflow)
    tasks = tuple(
        shape.task(path, task, (metrics or {}).get(path, {}))
        for path, task in last_attempts(record.tasks).items()
        if shape.shows(path, task)
    )
    entry = record.tasks.get("")
    message = record.message or (entry.message if entry is not None else "")
    return msgspec.structs.replace(watching.head(record), message=message, tasks=tasks)


__all__ = ["LocalClient", "RunNotFoundError", "status_of"]
