"""What tasks used over time: small charts of processors and memory, of one attempt and of a whole run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise

from couler_py.ir.quantity import amount
from couler_py.report.facts import AttemptFacts, Look, RunFacts
from couler_py.report.gantt import time_marks
from couler_py.report.plots.frame import QUIET, Area, segment, svg, text, ticks
from couler_py.report.text import duration, points

CPU, MEMORY = "#3f6fbf", "#3b8f64"
MARKS = 5  # times that are written below a chart, at most
MOMENTS = 240  # parts of the time of a whole run
APART = 0.2  # seconds; in less, the clock of processor time (10 ms) says little

Curve = Sequence[tuple[float, float]]


def of_attempt(attempt: AttemptFacts, *, wide: int = 420) -> tuple[str, str] | None:
    """The charts (SVG) of an attempt's processors and memory; None where it was never looked at."""
    looks = whole(attempt) if attempt.looks else []
    if not looks:
        return None
    began = looks[0].time
    rates = [(time - began, rate) for time, rate in _rates(looks)]
    memory = [(look.time - began, float(look.memory)) for look in looks]
    return (
        area(rates, title="processors", colour=CPU, wide=wide),
        area(memory, title="memory", colour=MEMORY, wide=wide, words=amount),
    )


def of_run(run: RunFacts, *, wide: int = 480) -> tuple[str, str] | None:
    """The charts of what all tasks of a run used together; None where nothing was looked at."""
    cpu, memory = together(run)
    if run.started is None or run.end is None or not any(memory):
        return None
    step = (run.end - run.started) / MOMENTS
    moments = [number * step for number in range(MOMENTS + 1)]
    curves = [list(zip(moments, [found[0], *found], strict=True)) for found in (cpu, memory)]
    return (
        area(curves[0], title="processors in use", colour=CPU, wide=wide, tall=150),
        area(curves[1], title="memory in use", colour=MEMORY, wide=wide, tall=150, words=amount),
    )


def together(run: RunFacts) -> tuple[list[float], list[float]]:
    """What all tasks of a run used in each of `MOMENTS` parts of its time: processors on average, the most memory."""
    cpu, memory = [0.0] * MOMENTS, [0.0] * MOMENTS
    if run.started is None or run.end is None or run.end <= run.started:
        return cpu, memory
    looked = [looks for task in run.tasks for each in task.tries if (looks := whole(each))]
    step = (run.end - run.started) / MOMENTS
    for began, ended, height in _sums(map(_rates, looked)):
        for place, share in _parts((began - run.started) / step, (ended - run.started) / step):
            cpu[place] += share * height
    for began, ended, height in _sums([(look.time, float(look.memory)) for look in looks] for looks in looked):
        for place, _ in _parts((began - run.started) / step, (ended - run.started) / step):
            memory[place] = max(memory[place], height)
    return cpu, memory


def _sums(curves: Iterable[Curve]) -> Iterator[tuple[float, float, float]]:
    """The sum of curves, each of which holds its values until their moments, from one moment to the next."""
    changes = []
    for curve in curves:
        for (began, _), (ended, height) in pairwise(curve):
            changes += [(began, height), (ended, -height)]
    changes.sort()  # what ends goes before what begins at the same moment
    total = 0.0
    for (began, change), (ended, _) in pairwise(changes):
        total += change
        if ended > began:
            yield began, ended, max(0.0, total)


def _parts(began: float, ended: float) -> Iterator[tuple[int, float]]:
    """The parts that a piece of time falls into, counted in parts, and how much of each it fills."""
    began, ended = max(0.0, began), min(float(MOMENTS), ended)
    place = int(began)
    while place < ended:
        yield place, min(ended, place + 1) - max(began, place)
        place += 1


def whole(attempt: AttemptFacts) -> list[Look]:
    """The looks at an attempt with its start, at which it had used nothing, and its end, at which it had used all.

    Of one that was never looked at, the seconds that it used are those of its whole time, and its memory is the most
    that it used. None where nothing at all is known.
    """
    looks = list(attempt.looks)
    if attempt.started is not None and (not looks or attempt.started < looks[0].time):
        looks.insert(0, Look(attempt.started, 0.0, 0))
    known = attempt.looks or attempt.cpu is not None or attempt.memory is not None
    if known and attempt.finished is not None and (not looks or attempt.finished > looks[-1].time):
        last = looks[-1] if attempt.looks else Look(0.0, 0.0, attempt.memory or 0)
        if attempt.looks and attempt.finished - last.time < APART:
            looks.pop()
        looks.append(Look(attempt.finished, max(last.cpu, attempt.cpu or 0.0), last.memory))
    return looks if len(looks) > 1 else []


def _rates(looks: Sequence[Look]) -> list[tuple[float, float]]:
    """Processors used, at each look since the one before."""
    found = []
    for before, now in pairwise(looks):
        passed = now.time - before.time
        if passed > 0:
            found.append((now.time, max(0.0, now.cpu - before.cpu) / passed))
    return [(looks[0].time, found[0][1]), *found] if found else []


def area(
    curve: Curve, *, title: str, colour: str, wide: int, tall: int = 120, words: Callable[[float], str] | None = None
) -> str:
    """A filled curve over seconds, its axis from 0 to what it reaches."""
    words = words or (lambda value: f"{value:.3g}")
    top = max((value for _, value in curve), default=0.0) or 1.0
    if words is not amount:
        top = ticks(0.0, top, 2)[-1]
    marks = time_marks(max((moment for moment, _ in curve), default=0.0))
    across = (0.0, marks[-1] or 1.0)
    frame = Area(64, 26, wide - 84, tall - 48, across, (0.0, top))
    bottom = frame.top + frame.height
    parts = [text(frame.left, 15, title, size=11, bold=True)]
    for value in (0.0, top):
        parts.append(segment(frame.left, frame.up(value), frame.left + frame.width, frame.up(value)))
        parts.append(text(frame.left - 6, frame.up(value) + 4, words(value), anchor="end", fill=QUIET, size=10))
    for mark in marks[:: -(-len(marks) // MARKS)]:
        parts.append(text(frame.across(mark), bottom + 15, duration(mark), anchor="middle", fill=QUIET, size=10))
    way = [(frame.across(moment), frame.up(value)) for moment, value in curve]
    if way:
        around = [(way[0][0], bottom), *way, (way[-1][0], bottom)]
        parts.append(f'<polygon points="{points(around)}" fill="{colour}" fill-opacity="0.22"/>')
        parts.append(f'<polyline points="{points(way)}" fill="none" stroke="{colour}" stroke-width="1.4"/>')
    return svg(wide, tall, "", parts)
