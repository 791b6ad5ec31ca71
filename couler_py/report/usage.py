"""What tasks used over time: small charts of processors and memory, of one attempt and of a whole run."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from itertools import pairwise

from couler_py.report.facts import AttemptFacts, Look, RunFacts
from couler_py.report.gantt import time_marks
from couler_py.report.plots.frame import QUIET, Area, segment, svg, text, ticks
from couler_py.report.text import amount, duration, points

CPU, MEMORY = "#3f6fbf", "#3b8f64"
MARKS = 5  # times that are written below a chart, at most
MOMENTS = 240  # places on the time axis of a whole run
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
    looked = [looks for task in run.tasks for each in task.tries if (looks := whole(each))]
    if not looked or run.started is None or run.end is None:
        return None
    step = (run.end - run.started) / MOMENTS or 1.0
    cpu, memory = [0.0] * (MOMENTS + 1), [0.0] * (MOMENTS + 1)
    for looks in looked:
        _add(cpu, _rates(looks), run.started, step)
        _add(memory, [(look.time, float(look.memory)) for look in looks], run.started, step)
    moments = [number * step for number in range(MOMENTS + 1)]
    return (
        area(list(zip(moments, cpu, strict=True)), title="processors in use", colour=CPU, wide=wide, tall=150),
        area(
            list(zip(moments, memory, strict=True)), title="memory in use", colour=MEMORY, wide=wide, tall=150,
            words=amount,
        ),
    )  # fmt: skip


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


def _add(total: list[float], curve: Sequence[tuple[float, float]], began: float, step: float) -> None:
    """Add a curve, which holds each value until its moment, to sums at evenly spaced moments."""
    if not curve:
        return
    times = [moment for moment, _ in curve]
    # From its first moment to just before its last: what takes its place then isn't added to it.
    first = max(0, math.ceil((times[0] - began) / step))
    last = min(len(total), math.ceil((times[-1] - began) / step))
    for place in range(first, last):
        at = min(bisect_left(times, began + place * step), len(curve) - 1)
        total[place] += curve[at][1]


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
