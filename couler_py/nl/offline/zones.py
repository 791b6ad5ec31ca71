"""Time zones as people name them."""

from __future__ import annotations

import functools
import re
import zoneinfo

_SHORT = {
    "utc": "UTC",
    "gmt": "UTC",
    "zulu": "UTC",
    "cet": "Europe/Berlin",
    "cest": "Europe/Berlin",
    "est": "America/New_York",
    "edt": "America/New_York",
    "et": "America/New_York",
    "eastern": "America/New_York",
    "cst": "America/Chicago",
    "cdt": "America/Chicago",
    "ct": "America/Chicago",
    "central": "America/Chicago",
    "mst": "America/Denver",
    "mountain": "America/Denver",
    "pst": "America/Los_Angeles",
    "pdt": "America/Los_Angeles",
    "pt": "America/Los_Angeles",
    "pacific": "America/Los_Angeles",
    "bst": "Europe/London",
    "ist": "Asia/Kolkata",
    "jst": "Asia/Tokyo",
    "kst": "Asia/Seoul",
    "msk": "Europe/Moscow",
    "aest": "Australia/Sydney",
}
_CITIES = {
    "上海": "Asia/Shanghai",
    "北京": "Asia/Shanghai",
    "beijing": "Asia/Shanghai",
    "peking": "Asia/Shanghai",
    "china": "Asia/Shanghai",
    "中国": "Asia/Shanghai",
    "台北": "Asia/Taipei",
    "東京": "Asia/Tokyo",
    "东京": "Asia/Tokyo",
    "日本": "Asia/Tokyo",
    "japan": "Asia/Tokyo",
    "서울": "Asia/Seoul",
    "한국": "Asia/Seoul",
    "korea": "Asia/Seoul",
    "german": "Europe/Berlin",
    "germany": "Europe/Berlin",
    "deutsche": "Europe/Berlin",
    "munich": "Europe/Berlin",
    "münchen": "Europe/Berlin",
    "wien": "Europe/Vienna",
    "zürich": "Europe/Zurich",
    "parís": "Europe/Paris",
    "roma": "Europe/Rome",
    "lisboa": "Europe/Lisbon",
    "warszawa": "Europe/Warsaw",
    "warszawy": "Europe/Warsaw",
    "warszawski": "Europe/Warsaw",
    "warszawskiego": "Europe/Warsaw",
    "москва": "Europe/Moscow",
    "москве": "Europe/Moscow",
    "москов": "Europe/Moscow",
    "india": "Asia/Kolkata",
    "indian": "Asia/Kolkata",
    "mumbai": "Asia/Kolkata",
    "delhi": "Asia/Kolkata",
    "bangalore": "Asia/Kolkata",
    "san francisco": "America/Los_Angeles",
    "seattle": "America/Los_Angeles",
    "california": "America/Los_Angeles",
    "boston": "America/New_York",
    "washington": "America/New_York",
    "nyc": "America/New_York",
    "texas": "America/Chicago",
}
_IANA = re.compile(
    r"\b(?:africa|america|antarctica|asia|atlantic|australia|europe|indian|pacific|etc)/[a-z_]+(?:/[a-z_]+)?\b"
)
_SHORTS = re.compile(rf"\b({'|'.join(sorted(_SHORT, key=len, reverse=True))})\b(?:\s+(?:time\s*zone|time|zone))?")


@functools.cache
def _by_city() -> dict[str, str]:
    found = dict(_CITIES)
    for zone in sorted(zoneinfo.available_timezones()):
        area, _, city = zone.rpartition("/")
        if area.split("/")[0] in ("Africa", "America", "Asia", "Australia", "Europe", "Pacific", "Atlantic"):
            found.setdefault(city.replace("_", " ").lower(), zone)
    return found


@functools.cache
def _cities() -> re.Pattern[str]:
    names = "|".join(re.escape(name) for name in sorted(_by_city(), key=len, reverse=True))
    return re.compile(
        rf"(?:\(\s*(?:czas(?:u)?\s+|hora de\s+|heure de\s+)?|\bin\s+|\b(?:zona|fuseau|zeitzone)\s+)?(?:\b(?:in|of|de|à|di)\s+)?({names})(?:er)?\s*(?:time\s*zone|time|zeit|时间|時間|时区|time\b|시간|(?<=warszawski)|(?<=warszawskiego))\)?"
    )


@functools.cache
def _bare() -> re.Pattern[str]:
    names = "|".join(re.escape(name) for name in sorted(_by_city(), key=len, reverse=True))
    return re.compile(rf"(?:\b(?:in|of|de|à|di|nach|w)\s+|\(\s*)({names})(?!\w)\s*\)?")


def cities(text: str) -> list[tuple[str, int, int]]:
    """The zones of the cities that a text in lower case names without the word "time", and where they stand.

    >>> cities("in berlin")
    [('Europe/Berlin', 0, 9)]
    """
    return [(_by_city()[found[1]], *found.span()) for found in _bare().finditer(text)]


def zone(text: str, typed: str = "") -> tuple[str, int, int] | None:
    """The first time zone that a text in lower case names, and where it stands in it; None for none.

    Short names that are also words ("est", "et", "ist") count where they were `typed` in capitals, or with "time".

    >>> zone("at 23:00 tokyo time")
    ('Asia/Tokyo', 9, 19)
    """
    found = _IANA.search(text)
    if found is not None:
        names = {name.lower(): name for name in zoneinfo.available_timezones()}
        if found.group() in names:
            return names[found.group()], *found.span()
    found = _cities().search(text)
    if found is not None:
        return _by_city()[found[1]], *found.span()
    for found in _SHORTS.finditer(text):
        if found[1] in ("utc", "gmt") or found.group() != found[1] or typed[slice(*found.span())].isupper():
            return _SHORT[found[1]], *found.span()
    return None
