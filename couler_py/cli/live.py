"""A run while it runs: a tree that is redrawn on a terminal, a line for each change elsewhere."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from couler_py.backends.base import FINISHED, RunStatus, TaskStatus
from couler_py.cli.console import PHASE_SIGN, PHASE_STYLE, clean, console, encodable, one_line, seconds

if TYPE_CHECKING:
    from rich.console import Console
    from rich.tree import Tree

UNFOLDED = 60
"""Above this many tasks, only what is going on or went wrong is shown, and the outermost tasks; the rest is counted."""

FAILURES = 5
"""So many failed tasks are named below a run that has ended; a fan-out may have thousands."""

ENDED = frozenset({"Stopped", "Succeeded", "Failed", "Skipped", "Blocked"})
_QUIET = frozenset({"Pending", "Succeeded", "Skipped"})
_URGENT = ("Failed", "Running", "Suspended", "Stopped", "Blocked", "Pending", "Succeeded", "Skipped")


def follow(statuses: Iterable[RunStatus], *, quiet: bool = False, hint: Callable[[], str] = str) -> RunStatus | None:
    """Show a run on stderr until it has ended; gives its last status, None where there was none.

    `hint` is asked again and again for a line to show below.
    """
    if quiet:
        last = deque(statuses, maxlen=1)
        return last[0] if last else None
    out = console(stderr=True)
    draw = out.is_terminal and not out.is_dumb_terminal
    return _redraw(statuses, out, hint) if draw else _log(statuses, out)


def _log(statuses: Iterable[RunStatus], out: Console) -> RunStatus | None:
    seen: dict[str, tuple[str, int]] = {}
    last = None
    waits = False
    for status in statuses:
        last = status
        if status.status == "Suspended" and not waits:
            out.print(_waiting(status))
        waits = status.status == "Suspended"
        for task in status.tasks:
            mark = (task.status, task.attempts)
            if seen.get(task.name) != mark and task.status != "Pending":
                seen[task.name] = mark
                out.print(line_of(task))
    if last is not None:
        out.print(summary(last))
    return last


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
        parts.append("cached")
    parts += [f"{one_line(name)}={series[-1][1]:.4g}" for name, series in task.metrics.items() if series]
    if task.message and task.status not in ("Succeeded", "Skipped"):
        parts.append(gist(task.message))
    return "  ".join(part for part in parts if part)


def gist(message: str) -> str:
    """A message of several lines in one: how it begins, and its last line, where a traceback says what went wrong."""
    lines = [line.strip() for line in message.split("\n") if line.strip()]
    return one_line(": ".join(dict.fromkeys([*lines[:1], *lines[-1:]])))


def _elapsed(task: TaskStatus) -> float | None:
    if task.status == "Running" and task.started is not None:
        return max(0.0, time.time() - task.started)
    return task.seconds


# ---- the tree


def _redraw(statuses: Iterable[RunStatus], out: Console, hint: Callable[[], str]) -> RunStatus | None:
    from rich.live import Live

    view = _View(out, hint)
    with Live(view, console=out, refresh_per_second=8, transient=True) as live:
        for status in statuses:
            view.status = status
            live.refresh()
    last = view.status
    if last is not None:
        out.print(tree(last, height=None))
        out.print(summary(last))
    return last


class _View:
    """What is drawn again and again: the run as last heard of, cut to the height of the terminal."""

    def __init__(self, out: Console, hint: Callable[[], str]):
        self._out = out
        self._hint = hint
        self.status: RunStatus | None = None

    def __rich_console__(self, _console: Console, _options: Any) -> Iterator[Any]:
        from rich.text import Text

        if self.status is None:
            return
        yield tree(self.status, height=self._out.height - 3)
        hint = self._hint() or (_waiting(self.status) if self.status.status == "Suspended" else "")
        if hint:
            yield _cut(Text(hint, "yellow"))


def _waiting(status: RunStatus) -> str:
    return f"waits for a person: `couler resume {status.run}` in another terminal goes on"


def tree(status: RunStatus, *, height: int | None) -> Tree:
    """The tasks of a run as a tree. With a height, only what is going on is shown where not all has room."""
    from rich.text import Text
    from rich.tree import Tree

    counts = _counts(status.tasks)
    head = Text.assemble(_signed(status.status), " ", (one_line(status.workflow), "bold"), (f"  {status.run}", "dim"))
    if status.tasks:
        head.append(f"  {counts['ended']}/{len(status.tasks)}", "dim")
    if status.started is not None:
        head.append(f"  {seconds(_run_seconds(status))}", "dim")
    root = Tree(_cut(head), guide_style="dim")
    shown, hidden = _chosen(status.tasks, height)
    branches: dict[str, Tree] = {}
    items = _items(status.tasks)
    for task in shown:
        outer = next((name for name in _above(task.name) if name in branches), "")
        label = _label(task, outer, items.get(task.name, ""))
        branches[task.name] = (branches[outer] if outer else root).add(_cut(label))
    if hidden:
        root.add(Text(encodable(f"… and {_count_text(hidden)}"), "dim"))
    return root


def _cut(text: Any) -> Any:
    text.no_wrap, text.overflow = True, "ellipsis"
    return text


def _label(task: TaskStatus, outer: str, progress: str) -> Any:
    from rich.text import Text

    # Below the task around it, a task has only the rest of its name.
    name = task.name.removeprefix(outer).lstrip("/") if outer else task.name
    label = Text.assemble(_signed(task.status), " ", clean(task.display or name))
    facts = "  ".join(part for part in (progress, facts_of(task)) if part)
    if facts:
        label.append(f"  {facts}", "red" if task.status == "Failed" else "dim")
    return label


def _signed(phase: str) -> tuple[str, str]:
    return (encodable(PHASE_SIGN.get(phase, "?")), PHASE_STYLE.get(phase, ""))


def _above(name: str) -> Iterator[str]:
    # "map[3]/train" hangs below "map[3]", that below "map".
    while name:
        last = name.rpartition("/")[2]
        cut = max(last.rfind("["), last.rfind("#"))
        name = name[: len(name) - len(last) + cut] if cut > 0 else name[: -len(last) - 1]
        if name:
            yield name


def _items(tasks: Iterable[TaskStatus]) -> dict[str, str]:
    """By fan-out, how many of its items have ended."""
    ended: dict[str, list[int]] = {}
    for task in tasks:
        if task.name.endswith("]"):
            count = ended.setdefault(task.name.rpartition("[")[0], [0, 0])
            count[0] += task.status in ENDED
            count[1] += 1
    return {name: f"{done}/{total}" for name, (done, total) in ended.items()}


def _chosen(tasks: tuple[TaskStatus, ...], height: int | None) -> tuple[list[TaskStatus], list[TaskStatus]]:
    room = height - 3 if height is not None else UNFOLDED
    if len(tasks) <= min(room, UNFOLDED):
        return list(tasks), []
    # Those that matter now come first; the order of the program is kept among what is shown.
    candidates = [place for place, task in enumerate(tasks) if task.status not in _QUIET or _is_outer(task.name)]
    ranked = sorted(candidates, key=lambda place: (_URGENT.index(tasks[place].status), place))
    kept = set(ranked[: max(3, min(room, UNFOLDED))])
    return (
        [task for place, task in enumerate(tasks) if place in kept],
        [task for place, task in enumerate(tasks) if place not in kept],
    )


def _is_outer(name: str) -> bool:
    return not any(mark in name for mark in "/[#")


def _counts(tasks: Iterable[TaskStatus]) -> dict[str, int]:
    counts = {"ended": 0}
    for task in tasks:
        counts[task.status] = counts.get(task.status, 0) + 1
        counts["ended"] += task.status in ENDED
    return counts


def _count_text(tasks: Iterable[TaskStatus]) -> str:
    counts = _counts(tasks)
    return ", ".join(f"{counts[phase]:,} {phase.lower()}" for phase in _URGENT if counts.get(phase))


def _where_it_failed(tasks: Iterable[TaskStatus]) -> list[TaskStatus]:
    """The failed tasks that have a message, without those that failed because one inside of them did."""
    failed = [task for task in tasks if task.status == "Failed" and task.message]
    around = {name for task in failed for name in _above(task.name)}
    return [task for task in failed if task.name not in around]


def _run_seconds(status: RunStatus) -> float | None:
    if status.started is None:
        return None
    return max(0.0, (status.finished or time.time()) - status.started)


def summary(status: RunStatus) -> Any:
    """How a run stands, in one line, and its outputs."""
    from rich.text import Text

    text = Text.assemble((status.status, PHASE_STYLE.get(status.status, "")), f"  {status.run}")
    for fact in (seconds(_run_seconds(status)), _count_text(status.tasks)):
        if fact:
            text.append(f"  {fact}", "dim")
    if status.message:
        text.append(f"\n  {clean(status.message)}", PHASE_STYLE.get(status.status, ""))
    failed = _where_it_failed(status.tasks)
    for task in failed[:FAILURES]:
        said = gist(task.message)
        if status.message != f"{task.name} failed: {said}":
            text.append(f"\n  {clean(task.name)}: {said}", "red")
        text.append(f"\n  `couler logs {status.run} {clean(task.name)}` shows what it wrote", "dim")
    if len(failed) > FAILURES:
        more = f"… and {len(failed) - FAILURES:,} more; `couler report {status.run}` shows them all"
        text.append(encodable(f"\n  {more}"), "dim")
    if status.status in FINISHED:
        from couler_py.report.page import value_text

        for name, value in status.outputs.items():
            shown = one_line(value_text(value))
            text.append(f"\n  {clean(name)} = ", "bold")
            text.append(shown if len(shown) <= 200 else f"{shown[:199]}…")
    return text
