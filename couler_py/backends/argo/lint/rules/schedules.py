"""Cron workflows: schedules as the cron library of Argo reads them, and time zones.

Source: github.com/robfig/cron/v3 (parser.go), and Go's time zones.
"""

from __future__ import annotations

import re
import zoneinfo
from collections.abc import Iterator

from couler_py.backends.argo.durations import seconds_of
from couler_py.backends.argo.lint.finding import Finding
from couler_py.backends.argo.lint.rules.flow import Flow
from couler_py.backends.argo.lint.rules.references import nearest

_DESCRIPTORS = ("@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly")
_MONTHS = {
    name: number
    for number, name in enumerate(
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"], 1
    )
}
_DAYS = {name: number for number, name in enumerate(["sun", "mon", "tue", "wed", "thu", "fri", "sat"])}
_FIELDS: tuple[tuple[str, int, int, dict[str, int]], ...] = (
    ("minute", 0, 59, {}),
    ("hour", 0, 23, {}),
    ("day of the month", 1, 31, {}),
    ("month", 1, 12, _MONTHS),
    ("day of the week", 0, 6, _DAYS),
)


def schedules(flow: Flow) -> Iterator[Finding]:
    """A cron workflow has schedules that can be read, in a time zone that exists."""
    if flow.kind != "CronWorkflow":
        return
    spec = flow.context.document.get("spec", {})
    given = spec.get("schedules") or ()
    if not given and flow.context.engine == "4":
        yield Finding(
            "CLR478",
            "the cron workflow has no schedule",
            ("spec", "schedules") if "schedules" in spec else ("spec",),
            why="nothing would ever start it",
            help='add `schedules`, a list of texts such as "0 3 * * *"',
        )
    for index, text in enumerate(given):
        if problem := schedule_problem(text):
            yield Finding(
                "CLR478",
                f"the schedule {text!r} can't be read: {problem}",
                ("spec", "schedules", index),
                why="it is minute, hour, day of the month, month and day of the week, or one of "
                + ", ".join(_DESCRIPTORS)
                + " and @every DURATION",
            )
    zone = spec.get("timezone", "")
    if zone and not is_zone(zone):
        yield Finding(
            "CLR478",
            f"there is no time zone {zone!r}",
            ("spec", "timezone"),
            why="names are those of the IANA database",
            help=nearest(zone, zoneinfo.available_timezones()),
        )


def is_zone(name: str) -> bool:
    """Whether Go's `time.LoadLocation` knows a name: UTC, Local and those of the IANA database."""
    return name in ("", "UTC", "Local") or name in zoneinfo.available_timezones()


def schedule_problem(text: str) -> str:
    """What is wrong with a schedule; "" where it can be read.

    >>> schedule_problem("*/5 0-6 1 jan mon"), schedule_problem("61 * * * *")
    ('', '61 is no minute: it goes from 0 to 59')
    """
    if not text:
        return "it is empty"
    if match := re.match(r"(?:CRON_)?TZ=(\S*)", text):
        if not is_zone(match[1]):
            return f"there is no time zone {match[1]!r}"
        if match.end() == len(text):
            return "the time is missing"
        text = text[match.end() :].strip()
    if text.startswith("@"):
        if text in _DESCRIPTORS:
            return ""
        if text.startswith("@every "):
            return "" if seconds_of(text[len("@every ") :]) is not None else f"{text[7:]!r} is no duration"
        return nearest(text, _DESCRIPTORS)
    fields = text.split()
    if len(fields) != len(_FIELDS):
        return f"it has {len(fields)} fields and not 5"
    for field, (what, least, most, names) in zip(fields, _FIELDS, strict=True):
        for part in field.split(","):
            if part and (problem := _range_problem(part, what, least, most, names)):
                return problem
    return ""


def _range_problem(text: str, what: str, least: int, most: int, names: dict[str, int]) -> str:
    span, *steps = text.split("/")
    low, *high = span.split("-")
    if len(steps) > 1 or len(high) > 1:
        return f"{text!r} has too many signs"
    if steps and (not re.fullmatch(r"\+?\d+", steps[0]) or int(steps[0]) == 0):
        return f"{steps[0]!r} is no step: it is a number above 0"
    if low in ("*", "?"):
        return ""
    bounds = []
    for each in (low, *high):
        number = names.get(each.lower(), int(each) if re.fullmatch(r"\+?\d+", each) else -1)
        if not least <= number <= most:
            return f"{each} is no {what}: it goes from {least} to {most}"
        bounds.append(number)
    return f"{text!r} ends before it begins" if bounds[0] > bounds[-1] else ""
