"""Jobs for a training that is under way: files in a folder, which it looks into between turns.

A file `NAME.job.json` submits a job, `NAME.cancel` ends one. Files stay where they are, so that a training that goes on
from a checkpoint finds them again; a name counts once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from couler_py.steps.checkpoint.places import Folder
from couler_py.steps.lora.differing import different
from couler_py.steps.lora.jobs import NAME, Job

if TYPE_CHECKING:
    from couler_py.steps.lora.roster import Roster

JOB, CANCEL = ".job.json", ".cancel"


def submit(inbox: str | Path, job: Job) -> None:
    """Put a job into an inbox, whole or not at all."""
    Folder(Path(inbox)).swap(f"{job.name}{JOB}", msgspec.json.encode(job))


def cancel(inbox: str | Path, name: str) -> None:
    """End a job of the training that looks into an inbox. Raises `ValueError` for what can't be a job's name."""
    if not NAME.fullmatch(name):
        raise ValueError(f"no job can be called {name!r}")
    Folder(Path(inbox)).swap(f"{name}{CANCEL}", b"")


class Inbox:
    """What a trainer has been asked by files so far."""

    def __init__(self, folder: str | Path):
        self.folder = Path(folder)
        self.refused: dict[str, str] = {}
        """Files that are no jobs, with the reason."""
        self._known: set[str] = set()

    def deliver(self, trainer: Roster) -> None:
        """Submit and cancel what is new, in the order of names; a cancellation of nobody waits for its job."""
        apply(self.new(trainer.jobs), trainer)

    def new(self, jobs: Mapping[str, Job]) -> list[Job | str]:
        """Jobs to submit and names of jobs to cancel that nobody was told of yet, for a training that has some jobs."""
        if not self.folder.is_dir():
            return []
        names = [name for name in sorted(path.name for path in self.folder.iterdir()) if name not in self._known]
        known, found = dict(jobs), list[Job | str]()
        for name in names:
            if name.endswith(JOB):
                self._known.add(name)
                job = self._read(name, known)
                if job is not None:
                    known[job.name] = job
                    found.append(job)
        for name in names:
            if name.endswith(CANCEL) and name.removesuffix(CANCEL) in known:
                self._known.add(name)
                found.append(name.removesuffix(CANCEL))
        return found

    def _read(self, name: str, known: Mapping[str, Job]) -> Job | None:
        try:
            job = msgspec.json.decode((self.folder / name).read_bytes(), type=Job)
        except (msgspec.DecodeError, OSError) as problem:
            self.refused[name] = str(problem)
            return None
        if job.name != name.removesuffix(JOB):
            self.refused[name] = f"it holds a job called {job.name!r}: a file is named after its job"
            return None
        if job.name not in known:
            return job
        if odd := different(known[job.name], job):
            self.refused[name] = f"a job of this name is here already, and it is another: {odd}"
        return None


def apply(asked: Iterable[Job | str], trainer: Roster) -> None:
    """Submit jobs, and cancel those of the names among them."""
    for each in asked:
        if isinstance(each, Job):
            trainer.submit(each)
        else:
            trainer.cancel(each)
