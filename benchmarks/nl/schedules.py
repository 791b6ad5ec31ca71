"""Whether two schedules start at the same instants."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from cronsim import CronSim

from benchmarks.nl import descriptions
from couler_py.ir.model import Schedule

# A winter and a summer, in both of which zones differ; and the first of enough months.
_STARTS = (datetime(2026, 1, 1), datetime(2026, 7, 1))
_INSTANTS = 250
_ALIASES = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_EVERY = {"hour": (1 / 24, 1 / 24), "day": (1, 1), "week": (7, 7), "month": (28, 31)}  # days between two starts


def agrees(expected: descriptions.Schedule, actual: Schedule) -> bool:
    """Whether a workflow starts as it should."""
    zone = actual.timezone or "UTC"
    if expected.every:
        starts = list(itertools.islice(_instants(actual.crons, "UTC", _STARTS[0]), 60))
        least, most = _EVERY[expected.every]
        gaps = [later - earlier for earlier, later in itertools.pairwise(starts)]
        return bool(gaps) and all(timedelta(days=least) <= gap <= timedelta(days=most) for gap in gaps)
    wanted_zone = expected.timezone or zone
    return any(_same((line,), wanted_zone, actual.crons, zone) for line in expected.crons)


def _same(left: tuple[str, ...], left_zone: str, right: tuple[str, ...], right_zone: str) -> bool:
    return all(
        list(itertools.islice(_instants(left, left_zone, start), _INSTANTS))
        == list(itertools.islice(_instants(right, right_zone, start), _INSTANTS))
        for start in _STARTS
    )


def _instants(crons: tuple[str, ...], zone: str, start: datetime) -> Iterator[datetime]:
    """The instants of several cron lines from two days after a start, each once, in UTC. Others than cron have none.

    Two days: what is the same instant may be another day elsewhere, where the search begins.
    """
    at = start.replace(tzinfo=ZoneInfo(zone))
    lines = [_ALIASES.get(line, line) for line in crons if not line.startswith("@every")]
    merged = heapq.merge(*((instant.astimezone(UTC) for instant in CronSim(line, at)) for line in lines))
    first = start.replace(tzinfo=UTC) + timedelta(days=2)
    return (instant for instant, _ in itertools.groupby(merged) if instant >= first)
