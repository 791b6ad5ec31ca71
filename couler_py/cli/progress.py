"""A run as changes tell of it: each task as last heard of, counted by state, and how long it may still take.

Each change costs time in proportion to what has changed, however large the run is.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator

import msgspec

from couler_py.backends.base import Change, Expected, RunStatus, TaskStatus

ENDED = frozenset({"Stopped", "Succeeded", "Failed", "Skipped", "Blocked"})
GROUPS = frozenset({"graph", "loop", "map"})
URGENT = ("Failed", "Running", "Suspended", "Stopped", "Blocked", "Pending", "Succeeded", "Skipped")

MANY, SOME, LONG = 10, 3, 5.0
"""Steps that must have ended before anything is said of the rest; of each kind; and seconds."""


class Progress:
    """A run while it is watched."""

    def __init__(self) -> None:
        self.run: RunStatus | None = None
        self.tasks: dict[str, TaskStatus] = {}
        self.places: dict[str, int] = {}
        self.states: dict[str, dict[str, None]] = {state: {} for state in URGENT}
        self.items: dict[str, list[int]] = {}
        self.cached = 0
        self.used: tuple[float, int] | None = None
        self.processors: float | None = None
        self.expected: Expected | None = None
        self._seconds: dict[str, list[float]] = {}
        self._ran: Counter[str] = Counter()
        self._steps: Counter[str] = Counter()

    def apply(self, change: Change) -> None:
        """Take in what is new."""
        if change.anew:
            self._forget()
        self.run, self.used, self.processors = change.run, change.used, change.processors
        self.expected = change.expected
        for task in change.tasks:
            self._put(task)

    def _forget(self) -> None:
        fresh = Progress()
        self.tasks, self.states, self.items, self.cached = fresh.tasks, fresh.states, fresh.items, 0
        self.places = fresh.places
        self._seconds, self._ran, self._steps = fresh._seconds, fresh._ran, fresh._steps

    def _put(self, task: TaskStatus) -> None:
        before = self.tasks.get(task.name)
        self.tasks[task.name] = task
        if before is None:
            self.places[task.name] = len(self.places)
        if before is not None:
            self._count(before, -1)
            del self.states[before.status][before.name]
        self.states[task.status][task.name] = None
        self._count(task, 1)

    def _count(self, task: TaskStatus, sign: int) -> None:
        ended = task.status in ENDED
        self.cached += sign * task.cached
        if task.kind not in GROUPS:
            self._steps[task.status] += sign
        if task.name.endswith("]"):
            count = self.items.setdefault(task.name.rpartition("[")[0], [0, 0])
            count[0] += sign * ended
            count[1] += sign
        if not ended or task.kind in GROUPS:
            return
        self._ran[task.template] += sign
        if not task.cached and task.seconds is not None and task.status in ("Succeeded", "Failed"):
            known = self._seconds.setdefault(task.template, [0.0, 0.0])
            known[0] += sign * task.seconds
            known[1] += sign

    @property
    def ended(self) -> int:
        """How many steps have ended."""
        return sum(self._steps[state] for state in ENDED)

    @property
    def running(self) -> int:
        """How many steps run now."""
        return self._steps["Running"]

    @property
    def total(self) -> int:
        """How many steps there are, as far as anybody knows."""
        return max(sum(self._steps.values()), self.expected.count if self.expected is not None else 0)

    @property
    def certain(self) -> bool:
        """Whether there will surely be no more."""
        return self.expected is not None and not self.expected.unknown

    def steps(self) -> Iterator[tuple[str, int]]:
        """The states that steps are in, without the graphs, loops and fan-outs around them."""
        return ((state, self._steps[state]) for state in URGENT if self._steps[state])

    def counts(self) -> Iterator[tuple[str, int]]:
        """The states that tasks are in, those first that matter most, and how many are in each."""
        for state in URGENT:
            if self.states[state]:
                yield state, len(self.states[state])

    def left(self, now: float | None = None) -> float | None:
        """About how many seconds the rest takes; None where that would be a guess.

        What is left of each step, at the mean of those of its kind, as much side by side as until now. It is said only
        where all tasks are known, and enough of every kind that is left have run.
        """
        if not self.certain or self.expected is None or self.run is None or self.run.started is None:
            return None
        passed = (time.time() if now is None else now) - self.run.started
        busy = sum(seconds for seconds, _ in self._seconds.values())
        ran = sum(count for _, count in self._seconds.values())
        if ran < MANY or passed < LONG or ran * 10 < self.expected.count:
            return None
        rest = 0.0
        for template, count in self.expected.steps.items():
            missing = count - self._ran[template]
            seconds, known = self._seconds.get(template, (0.0, 0.0))
            if missing > 0 and known < SOME:
                return None
            rest += max(0, missing) * (seconds / known if known else 0.0)
        return rest / max(busy / passed, 0.01) if rest else None

    def status(self) -> RunStatus | None:
        """The run with all its tasks, as every engine gives it."""
        return None if self.run is None else msgspec.structs.replace(self.run, tasks=tuple(self.tasks.values()))


def differences(statuses: Iterable[RunStatus]) -> Iterator[Change]:
    """Whole statuses, as engines give them that don't say what has changed, as changes."""
    seen: dict[str, TaskStatus] = {}
    for status in statuses:
        found = {task.name: task for task in status.tasks}
        anew = bool(seen.keys() - found.keys())
        tasks = tuple(task for name, task in found.items() if anew or seen.get(name) != task)
        seen = found
        yield Change(msgspec.structs.replace(status, tasks=()), tasks, anew)


def roughly(value: float) -> str:
    """Seconds no more exactly than anybody can know them.

    >>> roughly(3.2), roughly(47), roughly(100), roughly(5000)
    ('5s', '50s', '2m', '1h23m')
    """
    if value < 55:
        return f"{max(1, round(value / 5)) * 5}s"
    minutes = round(value / 60)
    return f"{minutes}m" if minutes < 60 else f"{minutes // 60}h{minutes % 60:02}m"
