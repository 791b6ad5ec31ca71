"""The instants of schedules on Airflow's timetable, beside ours: the same, but for the hours at which clocks change."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from couler_py.ir.instants import instants
from couler_py.ir.model import Schedule

ZONES = ("UTC", "Asia/Kolkata", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe")
CRONS = ("30 2 * * *", "*/20 9-17 * * 1-5", "0 0 L * *", "0 12 * * MON#2", "0 12 * * 7", "0 0 1 */2 1", "30 4 29 2 *")
BERLIN = {
    ("2026-03-28", "30 2 * * *"): ("2026-03-29T01:00:00+00:00", "2026-03-29T01:30:00+00:00"),
    ("2026-10-24", "30 2 * * *"): ("2026-10-25T00:30:00+00:00", "2026-10-25T01:30:00+00:00"),
}


def of_airflow(cron: str, zone: str, begin: datetime, end: datetime) -> Iterator[datetime]:
    import pendulum
    from airflow.timetables.base import TimeRestriction
    from airflow.timetables.trigger import CronTriggerTimetable

    table = CronTriggerTimetable(cron, timezone=zone)
    within = TimeRestriction(pendulum.instance(begin), pendulum.instance(end), catchup=True)
    last = None
    while found := table.next_dagrun_info(last_automated_data_interval=last, restriction=within):
        yield datetime.fromtimestamp(found.logical_date.timestamp(), UTC)
        last = found.data_interval


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("cron", CRONS)
def test_both_mean_the_same_instants(cron: str, zone: str) -> None:
    begin, end = datetime(2028, 1, 10, tzinfo=UTC), datetime(2028, 3, 2, tzinfo=UTC)
    assert list(instants(Schedule((cron,), zone), begin, end)) == list(of_airflow(cron, zone, begin, end))


@pytest.mark.parametrize(("day", "cron"), BERLIN)
def test_the_hour_at_which_clocks_change_is_airflows_own(day: str, cron: str) -> None:
    begin = datetime.fromisoformat(day).replace(hour=12, tzinfo=UTC)
    end = begin.replace(day=begin.day + 1)
    ours, theirs = BERLIN[day, cron]
    assert [each.isoformat() for each in instants(Schedule((cron,), "Europe/Berlin"), begin, end)] == [ours]
    assert [each.isoformat() for each in of_airflow(cron, "Europe/Berlin", begin, end)] == [theirs]
