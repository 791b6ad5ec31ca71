"""The instants that a schedule means."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from couler_py.ir.instants import instants
from couler_py.ir.model import Schedule


def shown(schedule: Schedule, begin: str, end: str) -> list[str]:
    given = (datetime.fromisoformat(each).replace(tzinfo=UTC) for each in (begin, end))
    return [f"{each:%m-%d %H:%M}" for each in instants(schedule, *given)]


def test_both_ends_are_included() -> None:
    daily = Schedule(("0 3 * * *",))
    assert shown(daily, "2026-01-01T03:00", "2026-01-03T03:00") == ["01-01 03:00", "01-02 03:00", "01-03 03:00"]
    assert shown(daily, "2026-01-01T03:01", "2026-01-03T02:59") == ["01-02 03:00"]
    assert shown(daily, "2026-01-01T04:00", "2026-01-01T05:00") == []


def test_a_time_of_day_is_one_of_the_schedules_time_zone() -> None:
    berlin = Schedule(("0 3 * * *",), "Europe/Berlin")
    assert shown(berlin, "2026-03-28T00:00", "2026-03-30T23:00") == ["03-28 02:00", "03-29 01:00", "03-30 01:00"]


def test_a_time_that_the_clocks_leave_out_is_the_next_and_one_that_comes_twice_is_meant_once() -> None:
    berlin = Schedule(("30 2 * * *",), "Europe/Berlin")
    assert shown(berlin, "2026-03-28T12:00", "2026-03-30T12:00") == ["03-29 01:00", "03-30 00:30"]
    assert shown(berlin, "2026-10-24T12:00", "2026-10-26T12:00") == ["10-25 00:30", "10-26 01:30"]


def test_several_lines_give_each_instant_once() -> None:
    both = Schedule(("0 */12 * * *", "0 0 * * *", "@daily"))
    assert shown(both, "2026-01-01T00:00", "2026-01-02T00:00") == ["01-01 00:00", "01-01 12:00", "01-02 00:00"]


def test_a_count_from_an_unknown_beginning_has_no_past() -> None:
    with pytest.raises(ValueError, match="'@every 5m' has no past instants"):
        shown(Schedule(("@every 5m",)), "2026-01-01T00:00", "2026-01-02T00:00")
