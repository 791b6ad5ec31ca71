"""A run while it runs: a view that is redrawn on a terminal, a line for each change elsewhere."""

from __future__ import annotations

import itertools
import os
import shlex
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from couler_py.backends.base import Change, RunStatus, TaskStatus
from couler_py.cli.console import PHASE_SIGN, PHASE_STYLE, clean, console, encodable, one_line, seconds, size
from couler_py.cli.lines import Line, Lines, branches
from couler_py.cli.progress import ENDED, URGENT, Progress, differences, roughly
from couler_py.cli.summary import gist, run_seconds, summary
from couler_py.report.paths import outside

if TYPE_CHECKING:
    from rich.console import Console

UNFOLDED = 60
"""Above this many tasks, only what is going on or went wrong is shown, and the outermost tasks; the rest is counted."""

LEFT = 24
"""Of a run of more tasks than this, about so many lines are left when it has ended."""

LISTED = 200
"""Where there is no terminal, so many changes are lines of their own; after them only failures, and how far it is."""

EVERY = 10.0  # seconds between two lines that say how far a large run is; and without one, until what waits says so
PACE = 100  # times as long as drawing took is the pause after it, at least: no more than a hundredth of a run
RECENT, LOOKED_AT = 8, 400  # tasks that have ended, of a large run; and among how many they are looked for
BAR = 28  # cells, where the terminal is wide

_QUIET = frozenset({"Pending", "Succeeded", "Skipped"})


def follow(changes: Iterable[Change], *, quiet: bool = False, hint: Callable[[], str] = str) -> RunStatus | None:
    """Show a run on stderr until it has ended; gives its last status, None where there was none.

    `hint` is asked again and again for a line to show below.
    """
    progress = Progress()
    if quiet:
        for change in changes:
            progress.apply(change)
        return progress.status()
    out = console(stderr=True)
    if draws(out):
        _redraw(progress, changes, out, hint)
    else:
        _log(progress, changes, out)
    last = progress.status()
    if last is not None:
        out.print(summary(last))
    return last


def draws(out: Console) -> bool:
    """Whether the view is redrawn: on a terminal that a person sits at. Forced colours don't make one of a file."""
    return sys.stderr.isatty() and not os.environ.get("CI") and out.is_terminal and not out.is_dumb_terminal


# ---- lines


def _log(progress: Progress, changes: Iterable[Change], out: Console) -> None:
    log = Log(progress)
    for change in changes:
        text = log.of(change)
        if text:
            # Not by rich: a thousand lines would take longer than the steps that they tell of.
            out.file.write(text)
            out.file.flush()


class Log:
    """A run as lines, for a file or a pipe."""

    def __init__(self, progress: Progress, clock: Callable[[], float] = time.monotonic):
        self._progress = progress
        self._clock = clock
        self._seen: dict[str, tuple[str, int]] = {}
        self._listed = 0
        self._counted = 0.0
        self._waits = False
        self._said = clock()

    def of(self, change: Change) -> str:
        """The lines that tell of a change."""
        lines = list(self._lines(change)) or list(self._stalled())
        if lines:
            self._said = self._clock()
        return "".join(f"{line}\n" for line in lines)

    def _stalled(self) -> Iterator[str]:
        # A run that starts nothing, as others use the machine, would look as if it hung.
        # A graph or a fan-out counts as running from its first step on, so only steps are asked.
        if self._progress.running or self._clock() - self._said < EVERY:
            return
        for name in self._progress.states["Pending"]:
            task = self._progress.tasks[name]
            if task.message and self._listed < LISTED and self._seen.get(name) != ("Pending", task.attempts):
                self._seen[name] = ("Pending", task.attempts)
                self._listed += 1
                yield line_of(task)

    def _lines(self, change: Change) -> Iterator[str]:
        self._progress.apply(change)
        waits = change.run.status == "Suspended"
        if waits and not self._waits:
            yield _waiting(change.run)
        self._waits = waits
        for task in change.tasks:
            mark = (task.status, task.attempts)
            if self._seen.get(task.name) == mark or task.status == "Pending":
                continue
            self._seen[task.name] = mark
            if self._listed < LISTED or task.status in ("Failed", "Suspended"):
                self._listed += 1
                yield line_of(task)
                if self._listed == LISTED:
                    yield "… from here on, only what fails, and how far it is"
                    self._counted = self._clock()
        if self._listed >= LISTED and self._clock() - self._counted >= EVERY:
            self._counted = self._clock()
            yield f"{time.strftime('%H:%M:%S')}  {''.join(text for text, _ in _counts(self._progress))}"


def line_of(task: TaskStatus) -> str:
    """One change of a task as a plain line."""
    facts = facts_of(task) if task.status != "Running" else f"attempt {task.attempts}" if task.attempts > 1 else ""
    return f"{time.strftime('%H:%M:%S')}  {task.status:<9}  {clean(task.name)}{'  ' + facts if facts else ''}"


def facts_of(task: TaskStatus) -> str:
    """What is worth saying about a task beside its state: time, attempts, metrics, message."""
    parts = [seconds(_elapsed(task))]
    if task.attempts > 1:
        parts.append(f"attempt {task.attempts}")
    if task.cached:
        parts.append(f"cached, from {one_line(task.cached_from)}" if task.cached_from else "cached")
    parts += [f"{one_line(name)}={series[-1][1]:.4g}" for name, series in task.metrics.items() if series]
    if task.message and task.status not in ("Succeeded", "Skipped"):
        parts.append(gist(task.message))
    return "  ".join(part for part in parts if part)


def _elapsed(task: TaskStatus) -> float | None:
    if task.status == "Running" and task.started is not None:
        return max(0.0, time.time() - task.started)
    never_ran = task.started is None and task.status in ("Skipped", "Blocked")
    return None if task.cached or never_ran else task.seconds


# ---- the view


def _redraw(progress: Progress, changes: Iterable[Change], out: Console, hint: Callable[[], str]) -> None:
    from rich.live import Live

    view = View(progress, out, hint)
    due = 0.0
    width = out.width
    with Live(view, console=out, auto_refresh=False, transient=True) as live:
        for change in changes:
            progress.apply(change)
            if time.monotonic() >= due:
                spent = time.thread_time()
                if out.width < width:
                    out.clear()  # lines that were longer stand on two now, and can't be drawn over
                width = out.width
                live.refresh()
                due = time.monotonic() + PACE * (time.thread_time() - spent)
    if progress.run is not None:
        out.print(_lines(progress, None if len(progress.tasks) <= LEFT else LEFT))


class View:
    """What is drawn again and again: the run as last heard of, cut to the size of the terminal."""

    def __init__(self, progress: Progress, out: Console, hint: Callable[[], str]):
        self._progress = progress
        self._out = out
        self._hint = hint

    def __rich_console__(self, _console: Console, _options: Any) -> Iterator[Any]:
        run = self._progress.run
        if run is None:
            return
        shown = _lines(self._progress, self._out.height - 4)
        bar = [*_bar(self._progress, min(BAR, self._out.width // 5)), *_counts(self._progress), *_rest(self._progress)]
        hint = self._hint() or (_waiting(run) if run.status == "Suspended" else "")
        yield Lines([shown.lines[0], bar, *shown.lines[1:], *([[(hint, "yellow")]] if hint else [])])


def _waiting(run: RunStatus) -> str:
    return f"waits for a person: `couler resume {shlex.quote(run.run)}` in another terminal goes on"


def _bar(progress: Progress, cells: int) -> Line:
    done, total = progress.ended, max(progress.total, 1)
    full = cells * done // total
    style = "red" if progress.states["Failed"] else "green"
    return [(encodable("━") * full, style), (encodable("─") * (cells - full), "dim"), ("  ", "")]


def _counts(progress: Progress) -> Line:
    """How far a run is: how many have ended of how many, and the states that matter."""
    more = "" if progress.certain or progress.expected is None else "+"
    pieces: list[tuple[str, str]] = [(f"{progress.ended:,}/{progress.total:,}{more}", "")]
    words = {"Pending": "waiting"}
    for state, count in progress.steps():
        if state != "Succeeded":
            pieces += [(f"  {count:,} {words.get(state, state.lower())}", PHASE_STYLE.get(state, ""))]
    if progress.cached:
        pieces.append((f"  {progress.cached:,} cached", "dim"))
    return pieces


def _rest(progress: Progress) -> Line:
    """What the steps use now, and how long the rest takes where that can be said."""
    pieces: list[tuple[str, str]] = []
    if progress.used is not None:
        processors, memory = progress.used
        of = "" if progress.processors is None else f" of {progress.processors:g}"
        pieces.append((f"  {processors:.1f}{of} processors, {size(memory)}", "dim"))
    left = progress.left()
    if left is not None:
        pieces.append((f"  about {roughly(left)} left", "dim"))
    return pieces


# ---- the tree


def tree(status: RunStatus, *, height: int | None) -> Lines:
    """The tasks of a run as a tree. With a height, only what is going on is shown where not all has room."""
    progress = Progress()
    for change in differences([status]):
        progress.apply(change)
    return _lines(progress, height)


def _lines(progress: Progress, height: int | None) -> Lines:
    run = progress.run
    assert run is not None
    head = [_signed(run.status), (" ", ""), (one_line(run.workflow), "bold"), (f"  {run.run}", "dim")]
    if progress.tasks and height is None:
        ended = sum(count for state, count in progress.counts() if state in ENDED)
        head.append((f"  {ended}/{len(progress.tasks)}", "dim"))
    if run.started is not None:
        head.append((f"  {seconds(run_seconds(run))}", "dim"))
    shown = _chosen(progress, height)
    names = [task.name for task in shown]
    there = set(names)
    parents = {name: next((each for each in reversed(list(outside(name))) if each in there), "") for name in names}
    lines: list[Line] = [head]
    hidden = len(progress.tasks) - len(shown)
    for guide, name in branches(names, parents, more=hidden > 0):
        lines.append([(encodable(guide), "dim"), *_label(progress, progress.tasks[name], parents[name])])
    if hidden:
        lines.append([(encodable("└── "), "dim"), (encodable(f"… and {_hidden(progress, shown)}"), "dim")])
    return Lines(lines)


def _label(progress: Progress, task: TaskStatus, outer: str) -> Iterator[tuple[str, str]]:
    # Below the task around it, a task has only the rest of its name.
    name = task.name.removeprefix(outer).lstrip("/") if outer else task.name
    yield _signed(task.status)
    yield f" {clean(task.display or name)}", ""
    done = progress.items.get(task.name)
    items = f"{done[0]:,}/{done[1]:,}" if done is not None else ""
    facts = "  ".join(part for part in (items, facts_of(task)) if part)
    if facts:
        yield f"  {facts}", "red" if task.status == "Failed" else "dim"


def _signed(phase: str) -> tuple[str, str]:
    return (encodable(PHASE_SIGN.get(phase, "?")), PHASE_STYLE.get(phase, ""))


def _chosen(progress: Progress, height: int | None) -> list[TaskStatus]:
    room = max(3, min(height - 1, UNFOLDED)) if height is not None else UNFOLDED
    if len(progress.tasks) <= room:
        return list(progress.tasks.values())
    room -= 1  # the last line counts the rest
    kept: dict[str, None] = {}
    for state in URGENT:
        if state in _QUIET:
            continue
        # Of those that failed, the last; there may be so many that nothing else had room.
        most = room - len(kept) if state != "Failed" else max(3, room // 3)
        names = progress.states[state]
        found = itertools.islice(reversed(names) if state == "Failed" else names, min(most, room - len(kept)))
        kept |= dict.fromkeys(found)
    # The last of the outermost that succeeded, so that one sees where the run is. What only waits is counted.
    recent = itertools.islice(reversed(progress.states["Succeeded"]), LOOKED_AT)
    outermost = (name for name in recent if not any(mark in name for mark in "/[#"))
    kept |= dict.fromkeys(itertools.islice(outermost, max(0, min(RECENT, room - len(kept)))))
    return [progress.tasks[name] for name in sorted(kept, key=progress.places.__getitem__)]


def _hidden(progress: Progress, shown: Iterable[TaskStatus]) -> str:
    counts = dict(progress.counts())
    for task in shown:
        counts[task.status] -= 1
    return ", ".join(f"{count:,} {state.lower()}" for state, count in counts.items() if count)
