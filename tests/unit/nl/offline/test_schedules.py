"""When a workflow starts, in words."""

from __future__ import annotations

import pytest

from couler_py.nl.offline import schedules
from couler_py.nl.offline.script import Script


@pytest.mark.parametrize(
    ("said", "cron", "zone"),
    [
        ("every sunday at 1 am UTC", "0 1 * * 0", "UTC"),
        ("every day at 23:00 Tokyo time", "0 23 * * *", "Asia/Tokyo"),
        ("nightly at 1am (Europe/Vienna)", "0 1 * * *", "Europe/Vienna"),
        ("every 10 minutes", "*/10 * * * *", "UTC"),
        ("every 6 hours", "0 */6 * * *", "UTC"),
        ("every weekday at 6:30 Berlin time", "30 6 * * 1-5", "Europe/Berlin"),
        ("every monday and thursday at 5pm EST", "0 17 * * 1,4", "America/New_York"),
        ("on the 3rd of every month at noon", "0 12 3 * *", "UTC"),
        ("cron 0 3 * * 1-5", "0 3 * * 1-5", "UTC"),
        ("Elke maandag om 7 uur", "0 7 * * 1", "UTC"),
        ("toutes les nuits à 2h30", "30 2 * * *", "UTC"),
        ("每天凌晨3点（上海时间）", "0 3 * * *", "Asia/Shanghai"),
    ],
)
def test_a_schedule_in_words_is_a_cron_line_in_a_zone(said: str, cron: str, zone: str) -> None:
    found = schedules.read(Script(said)).schedule

    assert found is not None
    assert (found.crons, found.timezone) == ((cron,), zone)


def test_a_day_that_no_year_has_is_impossible_and_so_is_an_hour_that_no_day_has() -> None:
    found = schedules.read(Script("Every February 30th at 25:00"))

    assert found.schedule is None
    assert found.impossible == (
        "there is no such date as February 30th",
        "there is no such time as at 25:00",
    )


def test_regularly_is_asked_about() -> None:
    [question] = schedules.read(Script("run it regularly")).questions

    assert question.about == "schedule"


def test_a_missing_time_and_zone_are_said_to_be_assumed() -> None:
    assert schedules.read(Script("every day")).assumptions == (
        "the times of the schedule are UTC: the text names no time zone",
        "it starts at midnight (0 0 * * *): the text names no time of the day",
    )
