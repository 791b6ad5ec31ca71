"""Every night at three: a schedule, and the instant that the run was scheduled for.

couler run examples/nightly.py --at 2026-01-01T03:00:00+01:00
"""

from datetime import datetime

import couler_py as couler


@couler.step
def partition(scheduled: datetime) -> str:
    from datetime import timedelta

    return f"{scheduled - timedelta(days=1):%Y-%m-%d}"


@couler.step(retries=2, timeout="10m")
def ingest(day: str) -> int:
    print(f"reading the partition of {day}")
    return len(day)


@couler.workflow(schedule="0 3 * * *", timezone="Europe/Berlin")
def nightly():
    return ingest(partition(couler.run_info.scheduled_time))
