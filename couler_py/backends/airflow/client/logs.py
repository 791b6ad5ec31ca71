"""What the steps of a run wrote, out of the logs of their attempts, in which Airflow speaks too."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from couler_py.backends.airflow.client.server import Server
from couler_py.backends.airflow.client.status import run_phase
from couler_py.backends.airflow.client.tree import Place, places
from couler_py.backends.base import FINISHED, LogLine, RunNotFoundError
from couler_py.backends.rest.failures import MissingError

PAUSE = 2.0
"""Seconds between two looks at logs that are followed."""

STREAMS = ("task.stdout", "task.stderr")
BAD = ("warning", "error", "critical")
POD = re.compile(r"\[base\] ?(.*)", re.DOTALL)
"""What Airflow writes before each line of the main container of a pod."""

Sleep = Callable[[float], None]
Seen = dict[tuple[str, int, int], int]


def lines(
    server: Server, dag: str, run: str, task: str | None, *, follow: bool = False, sleep: Sleep = time.sleep
) -> Iterator[LogLine]:
    """The lines of all steps, or of one and what is inside it, in the order of the attempts.

    Raises `RunNotFoundError` for a task that the run doesn't have.
    """
    seen: Seen = {}
    while True:
        ended = run_phase(server.run(dag, run)) in FINISHED
        found = list(places(server.instances(dag, run)))
        if task is not None and not any(_is_meant(each.path, task) for each in found):
            names = ", ".join(each.path for each in found) or "none"
            raise RunNotFoundError(f"the run has no task {task!r}; it has {names}")
        for place in found:
            if place.instance is not None and (task is None or _is_meant(place.path, task)):
                yield from _new(server, place, place.instance, seen)
        if ended or not follow:
            return
        sleep(PAUSE)


def text_of(entry: Any) -> str | None:
    """The line of an entry that the step wrote, or that says what went wrong with it; None for what Airflow says.

    >>> text_of({"logger": "task.stdout", "event": "hello"})
    'hello'
    """
    if not isinstance(entry, Mapping):
        return str(entry).removesuffix("\n")
    event, logger = str(entry.get("event", "")), str(entry.get("logger", ""))
    if logger in STREAMS:
        return event
    if match := POD.fullmatch(event):
        return match[1]
    if entry.get("level") not in BAD:
        return None
    details = [each for each in entry.get("error_detail") or [] if isinstance(each, Mapping)]
    raised = [f"{each.get('exc_type')}: {each.get('exc_value')}" for each in details[:1]]
    return ": ".join([event, *raised])


def whole(server: Server, dag: str, run: str) -> Iterator[tuple[str, str]]:
    """The log of each attempt of a step that has begun, by the path of its task: lines of JSON, or of text."""
    for place in places(server.instances(dag, run)):
        for attempt in range(1, (place.instance or {}).get("try_number", 0) + 1):
            assert place.instance is not None
            try:
                entries = server.log(place.instance, attempt)
            except MissingError:  # queued, and not begun
                continue
            yield place.path, "\n".join(each if isinstance(each, str) else json.dumps(each) for each in entries)


def failure(server: Server, instance: dict[str, Any]) -> str:
    """Why the last attempt of a task failed: the last that the step wrote, else what Airflow says; "" where nothing."""
    try:
        entries = server.log(instance, max(1, instance["try_number"]))
    except MissingError:
        return ""
    told = [text for each in entries if (text := text_of(each)) and text.strip()]
    own = [text for text in told if not text.startswith("Task failed with exception")]
    return (own or told or [""])[-1].strip()


def _new(server: Server, place: Place, instance: dict[str, Any], seen: Seen) -> Iterator[LogLine]:
    """The lines of a task that weren't given yet. Those of attempts that have ended are asked for once."""
    latest = instance["try_number"]
    for attempt in range(1, latest + 1):
        key = (instance["task_id"], instance["map_index"], attempt)
        if seen.get(key) == -1:
            continue
        try:
            entries = server.log(instance, attempt)
        except MissingError:  # queued, and not begun
            continue
        given = seen.get(key, 0)
        for entry in entries[given:]:
            if (text := text_of(entry)) is not None:
                yield from (LogLine(place.path, line, attempt - 1) for line in text.split("\n"))
        over = attempt < latest or place.phase in ("Succeeded", "Failed")  # one that was left out may run yet
        seen[key] = -1 if over else len(entries)


def _is_meant(path: str, task: str) -> bool:
    return path == task or path.startswith((f"{task}/", f"{task}[", f"{task}#"))
