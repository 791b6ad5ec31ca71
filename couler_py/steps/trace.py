"""Timelines of training in Chrome's trace format, for chrome://tracing and https://ui.perfetto.dev.

The format is Google's "Trace Event Format": complete events (`ph: X`), counters (`C`), flows (`s`, `f`) and the names
of processes and threads (`M`), in microseconds.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from couler_py.steps.checkpoint.places import Folder


class Trace:
    """What happened on which row, and when; times are seconds from any common beginning.

    >>> trace = Trace()
    >>> trace.span("forward", process="rank 0", thread="compute", start=0.0, seconds=0.25, micro_batch=3)
    >>> trace.events()[-1]["dur"]
    250000.0
    """

    def __init__(self) -> None:
        self._rows: dict[tuple[str, str], tuple[int, int]] = {}
        self._processes: dict[str, int] = {}
        self._events: list[dict[str, Any]] = []
        self._flows = 0

    def span(
        self, name: str, *, process: str, thread: str = "", start: float, seconds: float, kind: str = "", **facts: Any
    ) -> None:
        """Something that took a time. Spans of one row must be nested or apart; `facts` show when one clicks on it."""
        if seconds < 0:
            raise ValueError(f"{name!r} takes {seconds} s: a span can't end before it starts")
        self._add("X", name, process, thread, start, dur=seconds * 1e6, cat=kind or name, args=facts)

    def instant(self, name: str, *, process: str, thread: str = "", at: float, **facts: Any) -> None:
        """Something that happened at once."""
        self._add("i", name, process, thread, at, s="t", args=facts)

    def counter(self, name: str, *, process: str, at: float, values: Mapping[str, float]) -> None:
        """Numbers that are drawn as a graph, such as bytes in use."""
        self._add("C", name, process, "", at, args=dict(values))

    def flow(self, name: str, *, source: tuple[str, str], sent: float, target: tuple[str, str], arrived: float) -> None:
        """An arrow from one row (process, thread) to another, such as a message."""
        self._flows += 1
        self._add("s", name, *source, sent, id=self._flows, cat="flow")
        self._add("f", name, *target, arrived, id=self._flows, cat="flow", bp="e")

    def events(self) -> list[dict[str, Any]]:
        """All events: names of rows first, then in the order of time."""
        names: list[dict[str, Any]] = []
        for process, number in self._processes.items():
            names.append(_named("process_name", process, number, 0))
            names.append(
                {"name": "process_sort_index", "ph": "M", "pid": number, "tid": 0, "args": {"sort_index": number}}
            )
        names += [_named("thread_name", thread, *ids) for (_, thread), ids in self._rows.items() if thread]
        return names + sorted(self._events, key=lambda event: event["ts"])

    def text(self) -> str:
        """The trace as JSON."""
        told = {"traceEvents": self.events(), "displayTimeUnit": "ms"}
        return msgspec.json.encode(told).decode()

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the trace to a file, whole or not at all."""
        target = Path(path)
        Folder(target.parent).swap(target.name, self.text().encode())

    def _add(self, phase: str, name: str, process: str, thread: str, at: float, **more: Any) -> None:
        number = self._processes.setdefault(process, len(self._processes) + 1)
        _, row = self._rows.setdefault((process, thread), (number, self._next_row(process)))
        self._events.append({"name": name, "ph": phase, "pid": number, "tid": row, "ts": at * 1e6} | more)

    def _next_row(self, process: str) -> int:
        return 1 + sum(one == process for one, _ in self._rows)


def _named(what: str, name: str, process: int, thread: int) -> dict[str, Any]:
    return {"name": what, "ph": "M", "pid": process, "tid": thread, "args": {"name": name}}
