"""Which logs a page shows, and how much of each, within bounds."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from couler_py.report.facts import URGENT, Log, TaskFacts
from couler_py.report.text import plain

LINES = 20
"""The last lines of a log are shown at once, those before behind a fold."""

MOST = 3 * 1024 * 1024
"""The most bytes of logs in one page: of tasks that failed first."""


class Excerpt(msgspec.Struct, frozen=True):
    """The end of a log: its last lines, the lines before, and how many bytes come before those and aren't here."""

    last: str
    before: str = ""
    lines_before: int = 0
    left_out: int = 0


def excerpt(log: Log) -> Excerpt:
    """A log as it is shown."""
    lines = plain(log.text).rstrip("\n").split("\n")
    before, last = lines[:-LINES], lines[-LINES:]
    return Excerpt("\n".join(last), "\n".join(before), len(before), log.left_out)


def chosen(tasks: Sequence[TaskFacts], most: int = MOST) -> tuple[dict[tuple[int, int], Excerpt], int]:
    """The logs that have room, by the places of the task and of the attempt, and how many have none."""
    ranked = sorted(range(len(tasks)), key=lambda place: (tasks[place].status not in URGENT[:4], place))
    found: dict[tuple[int, int], Excerpt] = {}
    missing = 0
    for place in ranked:
        # The last attempt says most.
        for number, attempt in reversed(list(enumerate(tasks[place].tries))):
            if attempt.log is None or not attempt.log.text:
                continue
            size = len(attempt.log.text.encode("utf-8", "replace"))
            if size > most:
                missing += 1
                continue
            most -= size
            found[place, number] = excerpt(attempt.log)
    return found, missing
