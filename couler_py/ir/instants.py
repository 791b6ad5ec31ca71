"""The instants that a schedule means: cron lines in a time zone, as instants of the world."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from heapq import merge
from itertools import groupby
from zoneinfo import ZoneInfo

from couler_py.ir.model import Schedule

ALIASES = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}


def instants(schedule: Schedule, begin: datetime, end: datetime) -> Iterator[datetime]:
    """The instants from `begin` to `end`, both included, in their order and in UTC, each once.

    Where clocks go forward, a time that is left out is the next one that there is, and where they go back, a time that
    comes twice is meant once, as Debian's cron has it (the library cronsim). Raises `ValueError` for `@every`: it
    counts from the moment at which somebody began.
    """
    zone = ZoneInfo(schedule.timezone or "UTC")
    found = merge(*(_of_line(line, zone, begin, end) for line in schedule.crons))
    return (instant for instant, _ in groupby(found))


def _of_line(line: str, zone: ZoneInfo, begin: datetime, end: datetime) -> Iterator[datetime]:
    from cronsim import CronSim

    if line.startswith("@every"):
        raise ValueError(f"{line!r} has no past instants: it counts from when it was started")
    # The library gives what comes after an instant.
    before = (begin - timedelta(microseconds=1)).astimezone(zone)
    for local in CronSim(ALIASES.get(line, line).replace("?", "*"), before):
        instant = local.astimezone(UTC)
        if instant > end:
            return
        if instant >= begin:
            yield instant
