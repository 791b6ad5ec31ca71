"""The tasks of a run as a page lists them: a line for each, and behind it what is known of its attempts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from couler_py.ir.quantity import amount
from couler_py.report import usage
from couler_py.report.facts import URGENT, AttemptFacts, RunFacts, TaskFacts
from couler_py.report.gantt import waits
from couler_py.report.logs import Excerpt
from couler_py.report.page import data_uri, value_text
from couler_py.report.text import cut, duration, gist

MOST = 5000
"""Above this many tasks, those that failed and the longest are listed."""

CHARTS = 150
"""Attempts whose use of processors and memory is drawn, the longest first."""

VALUES = 200
"""Up to this many tasks their outputs are shown at length."""

_MESSAGE, _LONG, _SHORT = 4000, 2000, 200  # characters


class Try(msgspec.Struct, frozen=True):
    """An attempt: what is said of it in one line, its message, its charts (data: URIs) and its log."""

    title: str
    state: str
    message: str = ""
    charts: tuple[str, ...] = ()
    log: Excerpt | None = None


class Entry(msgspec.Struct, frozen=True):
    """A task: the cells of its line, and what lies behind. `anchor` is its place among the run's tasks."""

    anchor: int
    name: str
    state: str
    label: str
    waited: str
    took: str
    cpu: str
    memory: str
    said: str
    cached: str
    tries: tuple[Try, ...] = ()
    outputs: tuple[tuple[str, str], ...] = ()
    source: str = ""
    depth: int = 0

    @property
    def more(self) -> bool:
        """Whether there is anything behind its line."""
        return bool(self.tries or self.outputs or self.cached)


def entries(run: RunFacts, logs: Mapping[tuple[int, int], Excerpt]) -> tuple[list[Entry], int]:
    """The tasks in order, and how many are left out."""
    places = range(len(run.tasks))
    if len(run.tasks) > MOST:
        urgent = {state: rank for rank, state in enumerate(URGENT[:4])}

        def rank(place: int) -> tuple[int, float, int]:
            task = run.tasks[place]
            return (urgent.get(task.status, 9), -(task.seconds or 0.0), place)

        places = sorted(sorted(places, key=rank)[:MOST])  # type: ignore[assignment]
    drawn = _drawn(run.tasks)
    longest = _LONG if len(run.tasks) <= VALUES else _SHORT
    listed = [_entry(place, run.tasks[place], waits(run.tasks[place], run), logs, drawn, longest) for place in places]
    return listed, len(run.tasks) - len(listed)


def _drawn(tasks: Sequence[TaskFacts]) -> set[tuple[int, int]]:
    looked = [
        (-len(each.looks), place, number)
        for place, task in enumerate(tasks)
        for number, each in enumerate(task.tries)
        if each.looks
    ]
    return {(place, number) for _, place, number in sorted(looked)[:CHARTS]}


def _entry(
    place: int,
    task: TaskFacts,
    waited: float,
    logs: Mapping[tuple[int, int], Excerpt],
    drawn: set[tuple[int, int]],
    longest: int,
) -> Entry:
    shown: list[Try] = []
    for number, attempt in enumerate(task.tries):
        log = logs.get((place, number))
        charts = _charts(attempt) if (place, number) in drawn else ()
        if log is not None or charts or len(task.tries) > 1 or attempt.message or attempt.exit_code:
            message = attempt.message if attempt.message != task.message or "\n" in attempt.message else ""
            shown.append(Try(", ".join(_facts(attempt)), attempt.state, message[-_MESSAGE:], charts, log))
    cpu = [each.cpu for each in task.tries if each.cpu is not None]
    memory = [each.memory for each in task.tries if each.memory is not None]
    return Entry(
        place,
        task.name,
        task.status,
        "cached" if task.cached else f"{task.status} ×{task.attempts}" if task.attempts > 1 else task.status,
        duration(waited) if waited >= 0.1 else "",
        "" if task.seconds is None or task.cached else duration(task.seconds),
        f"{sum(cpu):.3g} s" if cpu else "",
        amount(max(memory)) if memory else "",
        cut(gist(task.message), 300),
        task.cached,
        tuple(shown),
        tuple(_values(task.outputs, longest)),
        task.source,
        sum(map(task.name.count, "/[#")),
    )


def _facts(attempt: AttemptFacts) -> Iterator[str]:
    yield f"attempt {attempt.number + 1}"
    yield attempt.state.lower()
    if attempt.started is not None and attempt.finished is not None:
        yield duration(attempt.finished - attempt.started)
    if attempt.exit_code:
        yield f"exit code {attempt.exit_code}"
    if attempt.cpu is not None:
        yield f"{attempt.cpu:.3g} s of processor"
    if attempt.memory is not None:
        yield f"{amount(attempt.memory)} of memory"


def _charts(attempt: AttemptFacts) -> tuple[str, ...]:
    drawn = usage.of_attempt(attempt) or ()
    return tuple(data_uri(each.encode(), "image/svg+xml") for each in drawn)


def _values(values: Mapping[str, Any], longest: int) -> Iterator[tuple[str, str]]:
    for name, value in values.items():
        text = value_text(value)
        yield name, text if len(text) <= longest else f"{text[:longest]}…"
