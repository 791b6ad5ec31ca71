"""Moments as Go has them, and the layouts by which they are read and written."""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import msgspec

from couler_py.argolang.functions.spans import SECOND
from couler_py.argolang.problems import EvaluationProblem

RFC3339, RFC3339_NANO = "2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05.999999999Z07:00"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_CYCLE = 146_097 * 86_400
_MONTHS = tuple(calendar.month_name)[1:]
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

# the layouts in which a quoted text of a condition counts as a moment
INSTANTS = (
    "Mon Jan _2 15:04:05 2006",
    "Mon Jan _2 15:04:05 MST 2006",
    "Mon Jan 02 15:04:05 -0700 2006",
    "3:04PM",
    RFC3339,
    RFC3339_NANO,
    "2006-01-02",
    "2006-01-02 15:04",
    "2006-01-02 15:04:05",
    "2006-01-02 15:04:05-07:00",
    "2006-01-02T15Z0700",
    "2006-01-02T15:04Z0700",
    "2006-01-02T15:04:05Z0700",
    "2006-01-02T15:04:05.999999999Z0700",
)


class Moment(msgspec.Struct, frozen=True):
    """A moment, in nanoseconds since 1970, and the zone in which it is told."""

    nanoseconds: int
    zone: tzinfo = UTC

    def told(self) -> datetime:
        """Month to second in the moment's zone, and for years from 1 on the year.

        Raises EvaluationProblem outside of the years -300 to 9998.
        """
        seconds = self.nanoseconds // SECOND + (_CYCLE if self._early else 0)
        try:
            return (_EPOCH + timedelta(seconds=seconds)).astimezone(self.zone)
        except (OverflowError, ValueError) as problem:
            raise EvaluationProblem("a moment outside of the years -300 to 9998") from problem

    @property
    def year(self) -> int:
        """The year, 0 for that before the year 1."""
        return self.told().year - (400 if self._early else 0)

    @property
    def _early(self) -> bool:
        """Whether Python has no such year; the calendar repeats after 400 of them."""
        return self.nanoseconds < -62_135_596_800 * SECOND + 2 * 86_400 * SECOND

    def text(self) -> str:
        """The moment as Go's `%v` has it."""
        return written(self, "2006-01-02 15:04:05.999999999 -0700 MST")

    def rfc3339(self) -> str:
        """The moment as JSON has it."""
        return written(self, RFC3339_NANO)


def located(name: str) -> tzinfo:
    """A zone by its name: UTC, Local (UTC, as in the controller), or one of the tz database."""
    if name in ("", "UTC", "Local"):
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as problem:
        raise EvaluationProblem(f"unknown time zone {name!r}") from problem


def instant(text: str) -> int | None:
    """The seconds since 1970 of a text that looks like a moment to a condition, or None.

    >>> instant("2020-01-01"), instant("yesterday")
    (1577836800, None)
    """
    if not (text[:1].isdigit() or text[:3] in {day[:3] for day in _DAYS}):
        return None
    for layout in INSTANTS:
        try:
            return read(layout, text).nanoseconds // SECOND
        except EvaluationProblem:
            continue
    return None


# ---- layouts

_PART = re.compile(
    r"January|Jan|Monday|Mon|MST|2006|__2|002|01|02|03|04|05|06|15|_2(?!006)|PM|pm"
    r"|-07:00:00|-070000|-07:00|-0700|-07|Z07:00:00|Z070000|Z07:00|Z0700|Z07|[.,](?:0+|9+)(?!\d)|1|2|3|4|5"
)


@lru_cache(maxsize=256)
def _parts(layout: str) -> tuple[tuple[str, bool], ...]:
    """A layout as pieces, each with whether it stands for something."""
    found: list[tuple[str, bool]] = []
    position = 0
    for match in _PART.finditer(layout):
        piece = match.group()
        if piece == "Jan" and layout[match.end() : match.end() + 1].islower():
            continue
        if piece == "Mon" and layout[match.end() : match.end() + 1].islower():
            continue
        if match.start() > position:
            found.append((layout[position : match.start()], False))
        found.append((piece, True))
        position = match.end()
    if position < len(layout):
        found.append((layout[position:], False))
    return tuple(found)


def written(moment: Moment, layout: str) -> str:
    """A moment in a layout, as Go's Format.

    >>> written(Moment(0), "Mon, 02 Jan 2006 15:04:05 MST")
    'Thu, 01 Jan 1970 00:00:00 UTC'
    """
    told = moment.told()
    return "".join(_written(piece, told, moment) if counts else piece for piece, counts in _parts(layout))


def _written(piece: str, told: datetime, moment: Moment) -> str:
    if piece == "2006":
        return f"{moment.year:04d}"
    if piece in _WRITERS:
        return _WRITERS[piece](told)
    if piece[0] in ".,":
        digits = f"{moment.nanoseconds % SECOND:09d}"[: len(piece) - 1]
        if piece[1] == "9":
            digits = digits.rstrip("0")
        return piece[0] + digits if digits else ""
    return _offset(piece, told)


def _offset(piece: str, told: datetime) -> str:
    seconds = int((told.utcoffset() or timedelta()).total_seconds())
    if piece[0] == "Z" and seconds == 0:
        return "Z"
    sign, seconds = "-" if seconds < 0 else "+", abs(seconds)
    hours, minutes, rest = seconds // 3600, seconds // 60 % 60, seconds % 60
    shape = piece[1:]
    return (
        sign
        + {
            "07": f"{hours:02d}",
            "0700": f"{hours:02d}{minutes:02d}",
            "07:00": f"{hours:02d}:{minutes:02d}",
            "070000": f"{hours:02d}{minutes:02d}{rest:02d}",
            "07:00:00": f"{hours:02d}:{minutes:02d}:{rest:02d}",
        }[shape]
    )


def _zone_name(told: datetime) -> str:
    name = told.tzname() or ""
    if not name.startswith("UTC") or name == "UTC":
        return name
    written_offset = _offset("-0700", told)
    return written_offset[:3] if isinstance(told.tzinfo, ZoneInfo) and written_offset[3:] == "00" else written_offset


_WRITERS: dict[str, Callable[[datetime], str]] = {
    "January": lambda t: _MONTHS[t.month - 1],
    "Jan": lambda t: _MONTHS[t.month - 1][:3],
    "Monday": lambda t: _DAYS[t.weekday()],
    "Mon": lambda t: _DAYS[t.weekday()][:3],
    "MST": _zone_name,
    "06": lambda t: f"{t.year % 100:02d}",
    "01": lambda t: f"{t.month:02d}",
    "1": lambda t: str(t.month),
    "02": lambda t: f"{t.day:02d}",
    "_2": lambda t: f"{t.day:2d}",
    "2": lambda t: str(t.day),
    "002": lambda t: f"{t.timetuple().tm_yday:03d}",
    "__2": lambda t: f"{t.timetuple().tm_yday:3d}",
    "15": lambda t: f"{t.hour:02d}",
    "03": lambda t: f"{t.hour % 12 or 12:02d}",
    "3": lambda t: str(t.hour % 12 or 12),
    "04": lambda t: f"{t.minute:02d}",
    "4": lambda t: str(t.minute),
    "05": lambda t: f"{t.second:02d}",
    "5": lambda t: str(t.second),
    "PM": lambda t: "PM" if t.hour >= 12 else "AM",
    "pm": lambda t: "pm" if t.hour >= 12 else "am",
}

# what a piece of a layout matches in a text, and the number that it gives
_READERS = {
    "January": (r"(?P<{n}>" + "|".join(_MONTHS) + ")", "month_name"),
    "Jan": (r"(?P<{n}>" + "|".join(name[:3] for name in _MONTHS) + ")", "month_name"),
    "Monday": (r"(?P<{n}>" + "|".join(_DAYS) + ")", ""),
    "Mon": (r"(?P<{n}>" + "|".join(name[:3] for name in _DAYS) + ")", ""),
    "MST": (r"(?P<{n}>UTC|[A-Z]{{3,5}}|[+-]\d\d)", "zone"),
    "2006": (r"(?P<{n}>\d{{4}})", "year"),
    "06": (r"(?P<{n}>\d\d)", "short_year"),
    "01": (r"(?P<{n}>\d\d)", "month"),
    "1": (r"(?P<{n}>\d\d?)", "month"),
    "02": (r"(?P<{n}>\d\d)", "day"),
    "_2": (r" ?(?P<{n}>\d\d?)", "day"),
    "2": (r"(?P<{n}>\d\d?)", "day"),
    "002": (r"(?P<{n}>\d{{3}})", "of_year"),
    "__2": (r" {{0,2}}(?P<{n}>\d{{1,3}})", "of_year"),
    "15": (r"(?P<{n}>\d\d?)", "hour"),
    "03": (r"(?P<{n}>\d\d)", "hour12"),
    "3": (r"(?P<{n}>\d\d?)", "hour12"),
    "04": (r"(?P<{n}>\d\d)", "minute"),
    "4": (r"(?P<{n}>\d\d?)", "minute"),
    "05": (r"(?P<{n}>\d\d)", "second"),
    "5": (r"(?P<{n}>\d\d?)", "second"),
    "PM": (r"(?P<{n}>AM|PM)", "half"),
    "pm": (r"(?P<{n}>am|pm)", "half"),
}
_OFFSETS = {
    "07": r"[+-]\d\d",
    "0700": r"[+-]\d\d\d\d",
    "07:00": r"[+-]\d\d:\d\d",
    "070000": r"[+-]\d{6}",
    "07:00:00": r"[+-]\d\d:\d\d:\d\d",
}


@lru_cache(maxsize=256)
def _pattern(layout: str) -> tuple[re.Pattern[str], tuple[tuple[str, str], ...]]:
    """How texts in a layout look, and what their pieces mean."""
    written_parts, meanings = [], []
    pieces = _parts(layout)
    for number, (piece, counts) in enumerate(pieces):
        name = f"g{number}"
        if not counts:
            written_parts.append(r"\s+".join(re.escape(word) for word in re.split(r" +", piece)))
            continue
        if piece in _READERS:
            shape, meaning = _READERS[piece]
            written_parts.append(shape.format(n=name))
            if piece in ("05", "5") and not (number + 1 < len(pieces) and pieces[number + 1][0][0] in ".,"):
                written_parts.append(rf"(?P<{name}f>[.,]\d+)?")  # a fraction may follow though the layout has none
                meanings.append((f"{name}f", "fraction"))
        elif piece[0] in ".,":
            exact = f"{{{len(piece) - 1}}}"
            shape = rf"\{piece[0]}\d{exact}" if piece[1] == "0" else r"(?:[.,]\d*)?"
            written_parts.append(f"(?P<{name}>{shape})")
            meaning = "fraction"
        else:
            utc = "Z|" if piece[0] == "Z" else ""
            written_parts.append(f"(?P<{name}>{utc}{_OFFSETS[piece[1:]]})")
            meaning = "offset"
        meanings.append((name, meaning))
    return re.compile("".join(written_parts), re.IGNORECASE), tuple(meanings)


def read(layout: str, text: str, zone: tzinfo = UTC) -> Moment:
    """The moment that a text in a layout tells, in `zone` where the text has none, as Go's ParseInLocation.

    Raises EvaluationProblem for a text in another form, and for a date that there isn't.
    """
    pattern, meanings = _pattern(layout)
    found = pattern.fullmatch(text)
    if found is None:
        raise EvaluationProblem(f"{text!r} isn't a time in the form {layout!r}")
    said = {meaning: found[name] for name, meaning in meanings if meaning and found[name] is not None}
    try:
        return _moment(said, zone)
    except (ValueError, OverflowError) as problem:
        raise EvaluationProblem(f"{text!r} isn't a time: {problem}") from problem


def _moment(said: dict[str, str], zone: tzinfo) -> Moment:
    year = int(said.get("year", 0))
    if "short_year" in said:
        year = int(said["short_year"]) + (1900 if int(said["short_year"]) >= 69 else 2000)
    month = _month(said)
    day = int(said.get("day", 1))
    hour = int(said.get("hour", 0))
    if "hour12" in said and (hour := int(said["hour12"])) > 12:
        raise ValueError("hour out of range")
    half = said.get("half", "").upper()
    hour = hour + 12 if half == "PM" and hour < 12 else 0 if half == "AM" and hour == 12 else hour
    zone = _zone(said, zone)
    shift = 400 if year == 0 else 0
    told = datetime(year + shift, month, day, hour, int(said.get("minute", 0)), int(said.get("second", 0)), 0, zone)
    if "of_year" in said:
        told = told.replace(month=1, day=1) + timedelta(days=int(said["of_year"]) - 1)
    seconds = calendar.timegm(told.utctimetuple()) - (_CYCLE if shift else 0)
    fraction = said.get("fraction", "")[1:10].ljust(9, "0")
    return Moment(seconds * SECOND + int(fraction or 0), zone)


def _month(said: dict[str, str]) -> int:
    if "month_name" in said:
        return 1 + next(n for n, name in enumerate(_MONTHS) if name.lower().startswith(said["month_name"].lower()[:3]))
    return int(said.get("month", 1))


def _zone(said: dict[str, str], zone: tzinfo) -> tzinfo:
    offset = said.get("offset", "")
    if offset and offset.upper() != "Z":
        digits = offset[1:].replace(":", "").ljust(6, "0")
        seconds = int(digits[:2]) * 3600 + int(digits[2:4]) * 60 + int(digits[4:])
        if int(digits[:2]) > 24 or int(digits[2:4]) > 60:
            raise ValueError("time zone offset out of range")
        span = timedelta(seconds=-seconds if offset[0] == "-" else seconds)
        return timezone(span, said["zone"]) if "zone" in said else (timezone(span) if span else UTC)
    if offset:
        return UTC
    name = said.get("zone", "UTC")
    return zone if name == "UTC" and "zone" not in said else UTC if name == "UTC" else timezone(timedelta(), name)
