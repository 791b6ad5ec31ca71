"""A run as a page: how it ended, when its tasks waited and ran, what went in, what came out, what it used and wrote."""

from __future__ import annotations

import shlex
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from couler_py.ir.quantity import amount
from couler_py.report import gantt, logs, measured, previews, usage
from couler_py.report.cards import Card, Table, Text
from couler_py.report.entries import Entry, entries
from couler_py.report.facts import URGENT, Attachment, Picture, RunFacts, TaskFacts
from couler_py.report.logs import Excerpt
from couler_py.report.page import Section, data_uri, render, value_text
from couler_py.report.paths import innermost
from couler_py.report.text import cut, duration, gist

FAILURES = 5
"""So many failed tasks are told of at the top; the list of tasks has them all."""

TAIL = 15
"""So many lines of what a failed task wrote are shown at the top."""

PLACES = 2000
"""So many artifacts are listed by their places."""

_LEGEND = {
    "waiting": "waited",
    "Succeeded": "succeeded",
    "Failed": "failed",
    "Running": "runs",
    "Suspended": "waits for a person",
    "Stopped": "stopped",
    "cached": "cached",
}


class Failure(msgspec.Struct, frozen=True):
    """A task that failed, what was wrong, and the last lines that it wrote."""

    name: str
    said: str
    log: str = ""
    anchor: int | None = None


class Line(msgspec.Struct, frozen=True):
    """A sentence, and a command that belongs to it."""

    text: str
    command: str = ""


def run_page(run: RunFacts, attachments: Iterable[Attachment] = ()) -> str:
    """The HTML of a run's page. It holds everything that it shows, and is the same for the same facts."""
    files = list(attachments)
    texts, logs_missing = logs.chosen(run.tasks)
    listed, tasks_missing = entries(run, texts)
    shown, files_missing = previews.cards(files)
    chart = gantt.chart(run)
    results, curves, rest = (
        _sections("Results", shown),
        _sections("Measured", measured.cards(run.tasks)),
        _sections("Artifacts", _places(files)),
    )
    there = {
        "Graph": run.picture,
        "Time": chart.rows,
        "Results": results,
        "Measured": curves,
        "Tasks": listed,
        "Artifacts": rest,
    }
    return render(
        "run.html",
        places=[(name.lower(), name) for name, content in there.items() if content],
        title=run.workflow,
        status=run.status,
        facts=dict(_facts(run)),
        failures=list(_failures(run, texts, {each.anchor for each in listed})),
        next=list(_next(run)),
        values=list(_values(run)),
        results=results,
        graph=_graph(run.picture, run.tasks, listed) if run.picture else None,
        chart=chart,
        legend=_legend(chart),
        listed={each.anchor for each in listed},
        usage=[data_uri(each.encode(), "image/svg+xml") for each in usage.of_run(run) or ()],
        measured=curves,
        entries=listed,
        filters=_filters(run.tasks),
        rest=rest,
        left_out=list(_left_out(run, tasks_missing, logs_missing, files_missing, len(files))),
    )


# ---- how it stands


def _facts(run: RunFacts) -> Iterator[tuple[str, str]]:
    yield "run", run.run
    yield "engine", run.engine
    if run.started is not None:
        yield "started", _moment(run.started)
        if run.finished is not None:
            yield "took", duration(run.finished - run.started - run.paused)
        if run.paused:
            yield "paused", duration(run.paused)
    if run.seen is not None and run.finished is None:
        yield "seen", _moment(run.seen)
    counts = Counter(task.status for task in run.tasks)
    yield "tasks", ", ".join(f"{counts[state]:,} {state.lower()}" for state in URGENT if counts[state]) or "none"
    cached = sum(bool(task.cached) for task in run.tasks)
    if cached:
        yield "cached", f"{cached:,}"
    tries = [each for task in run.tasks for each in task.tries]
    cpu = [each.cpu for each in tries if each.cpu is not None]
    if cpu:
        yield "processor time", duration(sum(cpu))
    memory = [each.memory for each in tries if each.memory is not None]
    if memory:
        yield "largest step", amount(max(memory))


def _moment(seconds: float) -> str:
    # Not in local time: a page is read elsewhere too, and is the same wherever it was made.
    return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(seconds))


def _failures(run: RunFacts, texts: Mapping[tuple[int, int], Excerpt], listed: set[int]) -> Iterator[Failure]:
    failed = _failed(run.tasks)
    for place in failed[:FAILURES]:
        task = run.tasks[place]
        last = [texts[place, number].last for number in range(len(task.tries)) if (place, number) in texts][-1:]
        text = "\n".join("".join(last).split("\n")[-TAIL:])
        said = gist(task.message) or "failed"
        yield Failure(task.name, cut(said, 1000), text, place if place in listed else None)
    if run.message and not any(gist(run.tasks[place].message) in run.message for place in failed[:FAILURES]):
        yield Failure("the run", run.message)


def _failed(tasks: Sequence[TaskFacts]) -> list[int]:
    """The places of the tasks that failed, without the graphs, fan-outs and loops that failed by them."""
    failed = {task.name: place for place, task in enumerate(tasks) if task.status == "Failed"}
    return [failed[name] for name in innermost(failed)]


def _next(run: RunFacts) -> Iterator[Line]:
    name = shlex.quote(run.run)
    failed = [run.tasks[place] for place in _failed(run.tasks)]
    if len(failed) > FAILURES:
        yield Line(f"… and {len(failed) - FAILURES:,} more tasks failed; the list below has them.")
    blocked = sum(task.status == "Blocked" for task in run.tasks)
    if blocked:
        yield Line(f"{blocked:,} {'task was' if blocked == 1 else 'tasks were'} blocked by it and never started.")
    if run.engine == "exported":  # nobody can go on with it there
        return
    if failed and run.status in ("Failed", "Stopped"):
        yield Line(f"All that {failed[0].name} wrote:", f"couler logs {name} {shlex.quote(failed[0].name)}")
    if run.status == "Failed":
        yield Line("Once it is cured, run what failed again and keep what succeeded:", f"couler retry {name}")
    elif run.status == "Stopped":
        yield Line("Go on where it stopped:", f"couler resume {name}")
    elif run.status == "Suspended":
        yield Line("It waits for a person. Go on:", f"couler resume {name}")


# ---- cards


def _sections(title: str, cards: Iterable[Card]) -> list[Section]:
    found = tuple(cards)
    return [Section(title, found)] if found else []


def _values(run: RunFacts) -> Iterator[Section]:
    for title, values in (("Parameters", run.parameters), ("Outputs", run.outputs)):
        rows = tuple((name, _short(value)) for name, value in values.items())
        if rows:
            yield Section(title, (Table(("name", "value"), rows),))


def _short(value: Any) -> str:
    text = value_text(value)
    return text if len(text) <= 2000 else f"{text[:2000]}…"


def _places(files: Sequence[Attachment]) -> Iterator[Card]:
    if files:
        rows = tuple((each.name, "" if each.size is None else amount(each.size), each.place) for each in files[:PLACES])
        yield Table(("name", "size", "place"), rows)
    if len(files) > PLACES:
        yield Text(f"{len(files) - PLACES:,} more artifacts are not listed.")


# ---- pictures


class _Link(msgspec.Struct, frozen=True):
    """A box of the picture as a link; its place and size in percent."""

    anchor: int
    label: str
    left: float
    top: float
    width: float
    height: float


class _Graph(msgspec.Struct, frozen=True):
    uri: str
    width: int
    areas: tuple[_Link, ...]


def _graph(picture: Picture, tasks: Sequence[TaskFacts], listed: Sequence[Entry]) -> _Graph:
    shown = {entry.anchor for entry in listed}
    anchors = {task.name: place for place, task in enumerate(tasks) if place in shown}
    links = tuple(
        _Link(
            anchors[area.path],
            area.label,
            round(100 * area.left / picture.width, 3),
            round(100 * area.top / picture.height, 3),
            round(100 * area.width / picture.width, 3),
            round(100 * area.height / picture.height, 3),
        )
        for area in picture.areas
        if area.path in anchors
    )
    return _Graph(data_uri(picture.svg.encode(), "image/svg+xml"), round(picture.width), links)


def _legend(chart: gantt.Chart) -> list[tuple[str, str]]:
    used = {bar.state for row in chart.rows for bar in row.bars}
    return [(state, words) for state, words in _LEGEND.items() if state in used]


class _Filter(msgspec.Struct, frozen=True):
    id: str
    words: str


def _filters(tasks: Sequence[TaskFacts]) -> list[_Filter]:
    """What the list can be narrowed to; nothing where that would show all or none."""
    counts = {
        "failed": sum(task.status == "Failed" for task in tasks),
        "open": sum(task.status in ("Running", "Pending", "Suspended") for task in tasks),
        "cached": sum(bool(task.cached) for task in tasks),
    }
    words = {"failed": "failed", "open": "not ended", "cached": "cached"}
    useful = [_Filter(name, f"{words[name]} ({count:,})") for name, count in counts.items() if 0 < count < len(tasks)]
    return [_Filter("all", f"all ({len(tasks):,})"), *useful] if useful else []


def _left_out(run: RunFacts, tasks: int, texts: int, files: int, places: int) -> Iterator[str]:
    if tasks:
        yield f"{tasks:,} tasks are not listed: those that failed and the longest are."
    if texts:
        yield f"{texts:,} logs had no room: `couler logs {run.run} TASK` shows them."
    if files:
        yield f"{files:,} artifacts had no room to be shown; they lie at the places listed."
