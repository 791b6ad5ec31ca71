"""What a schedule may say: cron lines and time zones."""

from __future__ import annotations

import re

# What Argo's cron library reads beside the five fields (github.com/robfig/cron, v3).
_ALIAS = re.compile(r"@(yearly|annually|monthly|weekly|daily|midnight|hourly)|@every (\d+(\.\d+)?(h|m|s))+")


def cron_problem(line: str) -> str | None:
    """What keeps a text from being a cron line; None where it is one.

    >>> cron_problem("0 3 * * *") is None
    True
    """
    import datetime

    from cronsim import CronSim, CronSimError

    if _ALIAS.fullmatch(line):
        return None
    if len(line.split()) != 5:
        return "it needs five fields: minute, hour, day of the month, month, day of the week"
    try:
        CronSim(line.replace("?", "*"), datetime.datetime(2000, 1, 1, tzinfo=datetime.UTC))
    except CronSimError as error:
        return str(error)
    return None


def is_timezone(name: str) -> bool:
    """Whether a text names a time zone of the tz database."""
    import zoneinfo

    try:
        zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True
