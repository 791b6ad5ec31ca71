"""A run as a page: how it ended, when its tasks ran, what went in, what came out, and what it measured."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias

import msgspec

from couler_py.report.cards import Card, Html, Image, Plot, Table, Text
from couler_py.report.page import Section, page, value_text
from couler_py.report.plots import Span, line, timeline

Series: TypeAlias = Sequence[tuple[float, float]]
MOST_ROWS = 2000


class TaskFacts(msgspec.Struct, frozen=True):
    """One task of a run. Times are seconds since the epoch; `metrics` are (step, value) pairs by name."""

    name: str
    status: str
    attempts: int = 0
    seconds: float | None = None
    started: float | None = None
    finished: float | None = None
    message: str = ""
    cached: bool = False
    metrics: dict[str, tuple[tuple[float, float], ...]] = {}


class RunFacts(msgspec.Struct, frozen=True):
    """A run, whatever engine it ran on. Times are seconds since the epoch."""

    run: str
    workflow: str
    status: str
    engine: str = "local"
    started: float | None = None
    finished: float | None = None
    message: str = ""
    parameters: dict[str, Any] = {}
    outputs: dict[str, Any] = {}
    tasks: tuple[TaskFacts, ...] = ()


class Attachment(msgspec.Struct, frozen=True):
    """An artifact of a run: its name (`TASK/NAME`), where it is, and its content where the page shows it."""

    name: str
    place: str
    media_type: str | None = None
    content: bytes = b""


def run_page(run: RunFacts, attachments: Iterable[Attachment] = ()) -> str:
    """The HTML of a run's page. It holds everything that it shows."""
    sections = [section for section in _sections(run, list(attachments)) if section.cards]
    return page(run.workflow, sections, facts=dict(_facts(run)), status=run.status)


def _facts(run: RunFacts) -> Iterator[tuple[str, str]]:
    yield "run", run.run
    yield "engine", run.engine
    if run.started is not None:
        yield "started", time.strftime("%Y-%m-%d %H:%M:%S %Z", time.localtime(run.started))
        if run.finished is not None:
            yield "took", f"{run.finished - run.started:.3g} s"
    yield "tasks", str(len(run.tasks))


def _sections(run: RunFacts, attachments: list[Attachment]) -> Iterator[Section]:
    yield Section("", (Text(run.message),) if run.message else ())
    yield Section("Outputs", _values(run.outputs))
    yield Section("Parameters", _values(run.parameters))
    yield Section("Results", tuple(_shown(attachments)))
    yield Section("Measured", tuple(_metrics(run.tasks)))
    yield Section("Tasks", tuple(_tasks(run)))
    elsewhere = tuple((each.name, each.place) for each in attachments)
    yield Section("Artifacts", (Table(("name", "place"), elsewhere),) if elsewhere else ())


def _values(values: dict[str, Any]) -> tuple[Card, ...]:
    rows = tuple((name, value_text(value)) for name, value in values.items())
    return (Table(("name", "value"), rows),) if rows else ()


def _shown(attachments: list[Attachment]) -> Iterator[Card]:
    seen: set[bytes] = set()
    for each in attachments:
        # The output of a step is often that of the graphs around it too.
        if each.content in seen:
            continue
        seen.add(each.content)
        if each.media_type == "text/html":
            yield Html(each.name, each.content.decode("utf-8", "replace"), height=720)
        elif each.media_type is not None:
            yield Image(each.name, each.content, each.media_type)


def _metrics(tasks: Sequence[TaskFacts]) -> Iterator[Card]:
    """A plot for each metric over steps, with a line for each task; those of one value in a table."""
    by_name: dict[str, dict[str, Series]] = {}
    for task in tasks:
        for name, series in task.metrics.items():
            by_name.setdefault(name, {})[task.name] = series
    single: list[tuple[str, str, float]] = []
    for name, of_tasks in by_name.items():
        curves = {task: series for task, series in of_tasks.items() if len(series) > 1}
        single += [(name, task, series[0][1]) for task, series in of_tasks.items() if len(series) == 1]
        if curves:
            yield Plot("", line(dict(list(curves.items())[:8]), title=name, x_label="step"))
    if single:
        yield Table(("metric", "task", "value"), tuple(single))


def _tasks(run: RunFacts) -> Iterator[Card]:
    spans = list(_spans(run))
    if spans:
        yield Plot("", timeline(spans))
    rows = tuple(
        (
            task.name,
            f"{task.status} (cached)" if task.cached else task.status,
            task.attempts,
            "" if task.seconds is None else f"{task.seconds:.3g} s",
            task.message,
        )
        for task in run.tasks[:MOST_ROWS]
    )
    if rows:
        yield Table(("task", "state", "attempts", "time", "message"), rows)
    if len(run.tasks) > MOST_ROWS:
        yield Text(f"{len(run.tasks) - MOST_ROWS:,} more tasks are not listed.")


def _spans(run: RunFacts) -> Iterator[Span]:
    began = run.started if run.started is not None else min((t.started for t in run.tasks if t.started), default=0.0)
    for task in run.tasks:
        if task.started is not None:
            end = task.finished if task.finished is not None else (run.finished or time.time())
            yield Span(task.name, max(0.0, task.started - began), max(0.0, end - began), task.status)
