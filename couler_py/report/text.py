"""Text in pictures: how wide it is, how it is cut, and how it is written in XML."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from xml.sax.saxutils import escape

# What XML 1.0 can't hold, not even escaped.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def xml(text: str) -> str:
    """A text as it stands between tags or in an attribute of XML or HTML."""
    return escape(_FORBIDDEN.sub("\ufffd", text), {'"': "&quot;", "'": "&#39;"})


def width(text: str, size: float) -> float:
    """About how wide a text is in a sans-serif font of `size` pixels; never less than it really is, for Latin text."""
    return size * sum(_advance(char) for char in text)


def _advance(char: str) -> float:
    # Of the em, measured on DejaVu Sans, the widest of the usual fonts.
    if unicodedata.east_asian_width(char) in "WF":
        return 1.05
    if char in "il.,:;'|!jI ":
        return 0.34
    if char in "mwMW@%" or char.isupper():
        return 0.86 if char in "mwMW@%" else 0.72
    return 0.63


def cut(text: str, length: int) -> str:
    """A text on one line of at most `length` characters; where it is longer, its middle is left out.

    >>> cut("preprocess-everything-again", 15)
    'preproc…g-again'
    """
    text = " ".join(text.split())
    if len(text) <= length:
        return text
    tail = (length - 1) // 2
    return f"{text[: length - 1 - tail]}…{text[len(text) - tail :]}"


def gist(message: str) -> str:
    """A message of several lines in one: how it begins, and its last line, where a traceback says what went wrong.

    >>> gist("exit code 1\\nTraceback (most recent call last):\\nValueError: no")
    'exit code 1: ValueError: no'
    """
    lines = [line.strip() for line in message.split("\n") if line.strip()]
    return ": ".join(dict.fromkeys([*lines[:1], *lines[-1:]]))


def number(value: float) -> str:
    """A coordinate: two decimals at most, and no more digits than needed."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if value % 1 else str(int(value))


def points(pairs: Iterable[tuple[float, float]]) -> str:
    """Points as SVG writes them."""
    return " ".join(f"{number(x)},{number(y)}" for x, y in pairs)


def duration(value: float) -> str:
    """Seconds as a person reads them.

    >>> duration(0), duration(0.042), duration(71.3), duration(7384), duration(200_000)
    ('0 s', '0.042 s', '1 min 11 s', '2 h 3 min', '2 d 7 h')
    """
    if value < 60:
        return f"{value:.3g} s"
    whole = int(value)
    for unit, smaller, size, part in (("d", "h", 86400, 3600), ("h", "min", 3600, 60), ("min", "s", 60, 1)):
        if whole >= size:
            rest = whole % size // part
            return f"{whole // size} {unit}" + (f" {rest} {smaller}" if rest else "")
    return f"{value:.3g} s"


_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]{0,2000}(?:\x07|\x1b\\)|\]|[@-Z\\-_])")
# Control characters but newline and tab, and those that turn the direction of text round.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def plain(log: str) -> str:
    """What a log says on paper: colours and cursor movements taken away; of a line drawn again and again, the last.

    >>> plain("\\x1b[31mred\\x1b[0m\\r\\n10 %\\r50 %\\r100 %\\n")
    'red\\n100 %\\n'
    """
    lines = (line.rstrip("\r").rpartition("\r")[2] for line in _ESCAPES.sub("", log).split("\n"))
    return _CONTROLS.sub("\ufffd", "\n".join(lines))
