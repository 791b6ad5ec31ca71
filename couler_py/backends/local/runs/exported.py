"""An exported run, read where it lies: what `show`, `logs`, `report` and `diff` ask of a run."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, BinaryIO, NoReturn

import msgspec

from couler_py.backends.base import Bundle, LogLine, NotOffered, RunNotFoundError, RunStatus
from couler_py.backends.local.client import status_of
from couler_py.backends.local.paths import shown
from couler_py.backends.local.runs import reporting
from couler_py.ir.codec import IRError, from_json
from couler_py.ir.model import Workflow
from couler_py.store import exports
from couler_py.store.exports import Exported, ExportError
from couler_py.store.records import AttemptRecord, RunRecord

if TYPE_CHECKING:
    from couler_py.report.facts import RunFacts

LONGEST_LINE = 1 << 20  # bytes; a longer line is cut in pieces
NAMED = 20  # so many tasks are named where one is asked for that isn't there


class ExportedClient:
    """The one run of a folder or archive. Its verbs that change a run raise `NotOffered`.

    A context manager: an archive is unpacked for as long as it is open.
    """

    engine = "exported"

    def __init__(self, path: str | Path):
        self._stack = contextlib.ExitStack()
        if not Path(path).exists():
            raise RunNotFoundError(f"there is no exported run at {path}")
        self._folder = self._stack.enter_context(exports.opened(Path(path)))
        try:
            self._exported = exports.read(self._folder)
        except BaseException:
            self._stack.close()
            raise

    def __enter__(self) -> ExportedClient:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Forget what was unpacked."""
        self._stack.close()

    @property
    def exported(self) -> Exported:
        """What its `run.json` says."""
        return self._exported

    def find(self, run: str) -> str:
        """The id that the run had where it was."""
        return self._exported.run.id

    def record(self, run: str) -> RunRecord:
        """The record of the run."""
        return self._exported.run

    def attempts(self, run: str) -> list[tuple[str, AttemptRecord]]:
        """The attempts of all tasks, by the inner path of the task."""
        return self._exported.attempts

    def workflow(self, run: str) -> Workflow:
        """The workflow that the run was of. Raises `ExportError`."""
        data = exports.content(self._folder, exports.WORKFLOW, exports.LARGEST_RECORD)
        try:
            found = from_json(data)
        except IRError as error:
            raise ExportError(f"{self._folder / exports.WORKFLOW}: {error}") from error
        if not isinstance(found, Workflow):
            raise ExportError(f"{self._folder / exports.WORKFLOW} is no workflow")
        return found

    def status(self, run: str) -> RunStatus:
        """The run as it stood when it was exported."""
        found = status_of(self._exported.run, self.workflow(run), self._exported.metrics)
        return msgspec.structs.replace(found, engine=self.engine)

    def watch(self, run: str) -> Iterator[RunStatus]:
        """Its status, once."""
        yield self.status(run)

    def logs(self, run: str, task: str | None = None, *, follow: bool = False) -> Iterator[LogLine]:
        """What the steps wrote, line by line. Raises `RunNotFoundError` for a task that it doesn't have."""
        names = {shown(path) or each.template for path, each in self._exported.run.tasks.items()}
        if task is not None and task not in names:
            raise RunNotFoundError(
                f"{self._exported.run.id} has no task {task!r}; it has {', '.join(sorted(names)[:20])}"
            )
        for log in self._exported.logs:
            if task is None or log.task == task or log.task.startswith((f"{task}/", f"{task}[", f"{task}#")):
                yield from self._lines(log.place, log.task, log.attempt)

    def _lines(self, place: str, task: str, attempt: int) -> Iterator[LogLine]:
        with exports.reading(self._folder, place) as handle, os.fdopen(os.dup(handle), "rb") as file:
            while line := file.readline(LONGEST_LINE):
                yield LogLine(task, line.decode("utf-8", "replace").rstrip("\r\n"), attempt)

    def report(self, run: str) -> RunFacts:
        """All that its page shows."""
        places = {(log.task, log.attempt): log.place for log in self._exported.logs}

        def log(path: str, attempt: AttemptRecord) -> contextlib.AbstractContextManager[BinaryIO] | None:
            task = self._exported.run.tasks.get(path)
            name = shown(path) or ("" if task is None else task.template)
            place = places.get((name, attempt.number))
            return None if place is None else self._log(place)

        exported = self._exported
        looks = exports.samples(self._folder)
        known = reporting.Known(exported.run, self.workflow(run), exported.attempts, exported.metrics, looks)
        return reporting.page_facts(known, log, engine=self.engine)

    @contextlib.contextmanager
    def _log(self, place: str) -> Iterator[BinaryIO]:
        with exports.reading(self._folder, place) as handle, os.fdopen(os.dup(handle), "rb") as file:
            yield file

    def list(self) -> Iterable[RunStatus]:
        """The one run."""
        return [self.status(self._exported.run.id)]

    def artifacts(self, run: str) -> Mapping[str, str]:
        """The files that came along: `TASK/NAME` to the path."""
        found = {}
        for file in self._exported.files:
            path = exports.place(self._folder, file.place) if file.place else None
            if path is not None and self._inside(file.place):
                found[file.name] = str(path)
        return found

    def _inside(self, place: str) -> bool:
        """Whether a file, or a folder with all in it, is what it seems: no links."""
        path = self._folder.joinpath(*place.split("/"))
        around = [self._folder.joinpath(*place.split("/")[:count]) for count in range(1, place.count("/") + 2)]
        if any(each.is_symlink() for each in around) or not path.exists():
            return False
        return path.is_file() or not any(each.is_symlink() for each in path.rglob("*"))

    # ---- what only a run that is here can do

    def submit(self, bundle: Bundle, *, parameters: Mapping[str, Any] | None = None, **options: Any) -> str:
        self._no()

    def stop(self, run: str) -> None:
        self._no()

    def terminate(self, run: str) -> None:
        self._no()

    def suspend(self, run: str) -> None:
        self._no()

    def resume(self, run: str, *, outputs: Mapping[str, Any] | None = None, task: str | None = None) -> str:
        self._no()

    def retry(self, run: str) -> str:
        self._no()

    def delete(self, run: str) -> None:
        self._no()

    def _no(self) -> NoReturn:
        raise NotOffered("an exported run can be looked at, and no more: nothing in it is executed")
