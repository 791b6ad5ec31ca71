"""When the tasks of a run waited and ran, as rows of bars on one scale."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from couler_py.report.facts import URGENT, RunFacts, TaskFacts
from couler_py.report.plots.frame import ticks
from couler_py.report.text import duration

MOST_ROWS = 5000
"""Above this many tasks, those that failed and the longest have rows."""

_STEPS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800)
_MARKS = 8


class Bar(msgspec.Struct, frozen=True):
    """A piece of a row: where it begins and how long it is, in percent of the scale; its state; and words for it."""

    left: float
    width: float
    state: str
    title: str


class Row(msgspec.Struct, frozen=True):
    """A task: its name, how deep it lies inside others, its place in the list of tasks, and its bars."""

    name: str
    depth: int
    anchor: int
    state: str
    bars: tuple[Bar, ...]
    group: bool = False


class Mark(msgspec.Struct, frozen=True):
    """A line across all rows, and the time that it stands for."""

    left: float
    label: str


class Chart(msgspec.Struct, frozen=True):
    """All of it. `left_out` tasks have no row."""

    rows: tuple[Row, ...]
    marks: tuple[Mark, ...]
    left_out: int = 0


def chart(run: RunFacts) -> Chart:
    """The rows of a run's tasks, in the order in which they became ready. Tasks that never were have none."""
    begun = [(place, task) for place, task in enumerate(run.tasks) if _from(task) is not None]
    began = run.started if run.started is not None else min((_begin(task) for _, task in begun), default=0.0)
    end = max([run.end or began, *(_end(task, run) for _, task in begun)])
    marks = time_marks(end - began)
    scale = 100.0 / (marks[-1] or 1.0)
    chosen = _chosen(begun)
    chosen.sort(key=lambda each: (_begin(each[1]), each[0]))
    rows = tuple(_row(place, task, run, began, scale) for place, task in chosen)
    shown = tuple(Mark(_percent(mark * scale), duration(mark)) for mark in marks)
    return Chart(rows, shown, len(begun) - len(rows))


def time_marks(span: float) -> list[float]:
    """Moments at round distances, from 0 to at least `span` seconds.

    >>> time_marks(70), time_marks(0.9)
    ([0, 10, 20, 30, 40, 50, 60, 70], [0.0, 0.2, 0.4, 0.6, 0.8, 1.0])
    """
    if span < 2:
        return [mark for mark in ticks(0.0, max(span, 0.001), 5) if mark >= 0]
    step: float = next((each for each in _STEPS if each * _MARKS >= span), 604800 * (1 + span // (604800 * _MARKS)))
    count = int(-(-span // step))
    return [step * number for number in range(count + 1)]


def _from(task: TaskFacts) -> float | None:
    return task.ready if task.ready is not None else task.started


def _begin(task: TaskFacts) -> float:
    found = _from(task)
    return 0.0 if found is None else min(found, found if task.started is None else task.started)


def _end(task: TaskFacts, run: RunFacts) -> float:
    return task.finished or run.end or _begin(task)


def _chosen(begun: Sequence[tuple[int, TaskFacts]]) -> list[tuple[int, TaskFacts]]:
    if len(begun) <= MOST_ROWS:
        return list(begun)
    urgent = {state: rank for rank, state in enumerate(URGENT[:4])}
    ranked = sorted(begun, key=lambda each: (urgent.get(each[1].status, 9), -(each[1].seconds or 0.0), each[0]))
    return ranked[:MOST_ROWS]


def _row(place: int, task: TaskFacts, run: RunFacts, began: float, scale: float) -> Row:
    bars = tuple(
        Bar(_percent((start - began) * scale), _percent(max(0.0, end - start) * scale), state, title)
        for start, end, state, title in _pieces(task, run)
    )
    depth = sum(map(task.name.count, "/[#"))
    group = task.kind in ("graph", "loop", "map")
    return Row(task.name, depth, place, task.status, bars, group)


def waits(task: TaskFacts, run: RunFacts) -> float:
    """The seconds for which a task that has begun waited for its turn, before each of its attempts."""
    if task.started is None:
        return 0.0
    return sum(end - start for start, end, state, _ in _pieces(task, run) if state == "waiting")


def _pieces(task: TaskFacts, run: RunFacts) -> Iterator[tuple[float, float, str, str]]:
    began, end = _begin(task), _end(task, run)
    if task.cached:
        yield began, end, "cached", f"cached, from {task.cached}"
        return
    tries = [each for each in task.tries if each.started is not None]
    first = tries[0].started if tries else task.started
    if first is None:
        yield began, end, "waiting", f"{task.status.lower()}: {task.message or 'waits for its turn'}"
        return
    ended = began
    if not tries:
        yield from _wait(began, first)
        yield first, end, task.status, f"{task.status.lower()}, {duration(end - first)}"
    for each in tries:
        start = each.started or first
        stop = each.finished or end
        number = f"attempt {each.number + 1}: " if len(tries) > 1 else ""
        yield from _wait(ended, start)
        yield start, stop, each.state, f"{number}{each.state.lower()}, {duration(stop - start)}"
        ended = stop
    if tries and task.status == "Pending":
        yield from _wait(ended, end)


def _wait(began: float, ended: float) -> Iterator[tuple[float, float, str, str]]:
    if ended > began:
        yield began, ended, "waiting", f"waited {duration(ended - began)}"


def _percent(value: float) -> float:
    return round(value, 3)
