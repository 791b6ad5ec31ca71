"""The jobs of a training: who there is, how each is doing, and how it ends."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

import torch

from couler_py.steps.lora.jobs import Job
from couler_py.steps.lora.measuring import out_of_memory
from couler_py.steps.lora.tuning import ENDED, Progress, State, Tuning

HOST = torch.device("cpu")


class Roster(ABC):
    """Jobs that come, go and end, each by itself. `ended` is called with the name of a job when it has ended."""

    def __init__(self, ended: Callable[[str], None] = lambda _name: None):
        self.ended = ended
        self.jobs: dict[str, Job] = {}
        self.tunings: dict[str, Tuning] = {}
        self.lost: dict[str, Progress] = {}
        """Jobs that ended before they began: their data or adapter is no good."""
        self.turns = 0

    def submit(self, job: Job) -> None:
        """Take a job, at any time. Data or a reference that is no good ends it at once, with the reason.

        Raises `ValueError` for a name that another job has.
        """
        if job.name in self.jobs:
            raise ValueError(f"a job is called {job.name!r} already: each has a name of its own")
        tuning, problem = None, ""
        try:
            tuning = self._prepared(job)
        except (ValueError, RuntimeError, MemoryError) as found:
            if not isinstance(found, ValueError) and not out_of_memory(found):
                raise
            problem = str(found)
        [problem] = self._anywhere([problem])
        self.jobs[job.name] = job
        if tuning is None or problem:
            self.lost[job.name] = Progress(state="failed", reason=problem)
            self.ended(job.name)
        else:
            self.tunings[job.name] = tuning

    def cancel(self, name: str) -> None:
        """End a job between two turns; what has ended stays as it is. Raises `KeyError` for one that isn't there."""
        if name not in self.jobs:
            raise KeyError(f"no job is called {name!r}")
        if name in self.tunings and self.tunings[name].progress.state not in ENDED:
            self._end(self.tunings[name], "cancelled", "it was cancelled")

    def progress(self) -> dict[str, Progress]:
        """How each job is doing, in the order of arrival."""
        return {name: self.lost.get(name) or self.tunings[name].progress for name in self.jobs}

    @property
    def has_more(self) -> bool:
        """Whether some job has not ended."""
        return any(each.progress.state not in ENDED for each in self.tunings.values())

    @abstractmethod
    def _prepared(self, job: Job) -> Tuning:
        """A job that can begin. Raises `ValueError` with the reason where it can't."""

    def _anywhere(self, problems: Sequence[str]) -> list[str]:
        """What is wrong with each of some jobs, nothing where it is empty, in any process that trains them."""
        return list(problems)

    def _end(self, tuning: Tuning, state: State, reason: str) -> None:
        tuning.progress.state, tuning.progress.reason = state, reason
        tuning.optimizer.zero_grad(set_to_none=True)
        tuning.move_to(HOST)
        self.ended(tuning.job.name)
