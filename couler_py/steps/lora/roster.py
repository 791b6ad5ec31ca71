"""The jobs of a training: who there is, how each is doing, and how it ends."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import torch

from couler_py.steps.lora.admission import Need, Waiting, admit
from couler_py.steps.lora.jobs import Job, Policy
from couler_py.steps.lora.measuring import out_of_memory, within_memory
from couler_py.steps.lora.passes import padded
from couler_py.steps.lora.progress import ENDED, Progress, State
from couler_py.steps.lora.tuning import Tuning

if TYPE_CHECKING:
    from pathlib import Path

    from couler_py.steps.lora.data import Encoder
    from couler_py.steps.lora.hosting import Host

HOST = torch.device("cpu")


class Roster(ABC):
    """Jobs that come, go and end, each by itself. `ended` is called with the name of a job when it has ended."""

    def __init__(self, host: Host, policy: Policy, encoder: Encoder, root: str | Path, ended: Callable[[str], None]):
        self.host, self.policy, self.encoder, self.root, self.ended = host, policy, encoder, root, ended
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
        [problem] = self.anywhere([problem])
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

    def run(self, between: Callable[[], None] = lambda: None) -> dict[str, Progress]:
        """Turn until all jobs have ended; `between` is called before each turn, and may submit and cancel."""
        between()
        while self.turn():
            between()
        return self.progress()

    @abstractmethod
    def turn(self) -> bool:
        """Some work on every job that is to be at work; False where there is none left."""

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

    @property
    @abstractmethod
    def _memory(self) -> tuple[float | None, Need]:
        """Bytes for adapters at work and one pass, None for no limit; and what a pass takes of them."""

    def anywhere(self, problems: Sequence[str]) -> list[str]:
        """What is wrong with each of some jobs, nothing where it is empty, in any process that trains them."""
        return list(problems)

    def _admitted(self) -> list[Tuning]:
        """The jobs at work in this turn; who must make room takes what it has to the host's memory."""
        alive = {name: each for name, each in self.tunings.items() if each.progress.state not in ENDED}
        arrivals = {name: number for number, name in enumerate(self.jobs)}
        asked = [
            Waiting(
                name,
                arrivals[name],
                each.job.rows,
                min(self.host.context, padded(each.longest)),
                each.state_bytes,
                each.job.priority,
                each.progress.waited,
            )
            for name, each in alive.items()
        ]
        budget, need = self._memory
        chosen = admit(asked, budget, need, most=self.policy.concurrency, aging=self.policy.aging)
        for name, reason in chosen.refused.items():
            self._end(alive[name], "failed", reason)
        left = [each for name, each in alive.items() if name not in chosen.refused]
        self._placed(left, chosen.running)
        return [alive[name] for name in chosen.running if alive[name].progress.state not in ENDED]

    def _placed(self, left: Sequence[Tuning], running: Sequence[str]) -> None:
        """Those that make room go to the host's memory, then those at work to the base; who finds no room ends."""
        states: dict[str, State] = {each.job.name: "running" if each.job.name in running else "ready" for each in left}
        changed = [each for each in left if each.progress.state != states[each.job.name]]
        changed.sort(key=lambda each: states[each.job.name] == "running")
        problems = []
        for each in changed:
            device = self.host.device if states[each.job.name] == "running" else HOST
            where = f"where it is to be at work, with {each.state_bytes} bytes of adapter and optimizer"
            problems.append(within_memory(partial(each.move_to, device), where))
        for each in left:
            each.progress.state = states[each.job.name]
            each.progress.waited += each.progress.state == "ready"
        for each, problem in zip(changed, self.anywhere(problems) if changed else (), strict=True):
            if problem:
                self._end(each, "failed", problem)

    def _end(self, tuning: Tuning, state: State, reason: str) -> None:
        tuning.progress.state, tuning.progress.reason = state, reason
        tuning.optimizer.zero_grad(set_to_none=True)
        tuning.move_to(HOST)
        self.ended(tuning.job.name)
