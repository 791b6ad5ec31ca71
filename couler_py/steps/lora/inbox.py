"""Jobs for a training that is under way: files in a folder, which it looks into between turns.

A file `NAME.job.json` submits a job, `NAME.cancel` ends one. Files stay where they are, so that a training that goes on
from a checkpoint finds them again; a name counts once.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from couler_py.steps.checkpoint.places import Folder
from couler_py.steps.lora.jobs import NAME, Job

if TYPE_CHECKING:
    from couler_py.steps.lora.trainer import Trainer

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

    def deliver(self, trainer: Trainer) -> None:
        """Submit and cancel what is new, in the order of names; a cancellation of nobody waits for its job."""
        if not self.folder.is_dir():
            return
        names = sorted(path.name for path in self.folder.iterdir())
        for name in names:
            if name.endswith(JOB) and name not in self._known:
                self._known.add(name)
                self._submit(trainer, name)
        for name in names:
            if name.endswith(CANCEL) and name not in self._known and name.removesuffix(CANCEL) in trainer.jobs:
                self._known.add(name)
                trainer.cancel(name.removesuffix(CANCEL))

    def _submit(self, trainer: Trainer, name: str) -> None:
        try:
            job = msgspec.json.decode((self.folder / name).read_bytes(), type=Job)
        except (msgspec.DecodeError, OSError) as problem:
            self.refused[name] = str(problem)
            return
        if job.name != name.removesuffix(JOB):
            self.refused[name] = f"it holds a job called {job.name!r}: a file is named after its job"
        elif job.name not in trainer.jobs:
            trainer.submit(job)
