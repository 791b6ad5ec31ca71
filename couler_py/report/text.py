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


def number(value: float) -> str:
    """A coordinate: two decimals at most, and no more digits than needed."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if value % 1 else str(int(value))


def points(pairs: Iterable[tuple[float, float]]) -> str:
    """Points as SVG writes them."""
    return " ".join(f"{number(x)},{number(y)}" for x, y in pairs)
