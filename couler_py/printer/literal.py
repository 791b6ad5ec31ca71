"""Values as Python literals: the only way by which a person's text gets into printed source."""

from __future__ import annotations

import ast
import math
from typing import Any

from couler_py.printer.layout import Doc, Group, Named

_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\"}


def quoted(text: str) -> str:
    """A string literal on one line that reads back as exactly this text.

    Double quotes, unless the text holds more of these than of single ones. What isn't printable is escaped,
    so that no control or direction sign can make source look otherwise than it reads.

    >>> print(quoted('say "hi"\\n'), quoted("it's"))
    'say "hi"\\n' "it's"
    """
    if _stands_for_itself(text):
        return f'"{text}"'
    quote = "'" if text.count('"') > text.count("'") else '"'
    found = quote + "".join(_escaped(sign, quote) for sign in text) + quote
    return _checked(found, text)


def block(text: str) -> str | None:
    """A triple-quoted literal that shows the lines of a text as they are; None where that wouldn't be exact."""
    plain = all(sign == "\n" or sign.isprintable() for sign in text)
    if not plain or "\\" in text or '"""' in text or text.endswith('"') or "\n" not in text.strip("\n"):
        return None
    if any(line != line.rstrip() for line in text.split("\n")):
        return None
    return _checked(f'"""{text}"""', text)


def verbatim(text: str) -> str | None:
    """As `block`, for programs: raw where the text has backslashes, in single quotes where it has docstrings."""
    plain = all(sign == "\n" or sign.isprintable() for sign in text)
    if not plain or "\n" not in text.strip("\n") or any(line != line.rstrip() for line in text.split("\n")):
        return None
    raw = "r" if "\\" in text else ""
    for quotes in ('"""', "'''"):
        if quotes not in text and not text.endswith((quotes[0], "\\")):
            return _checked(f"{raw}{quotes}{text}{quotes}", text)
    return None


def _escaped(sign: str, quote: str) -> str:
    if sign == quote:
        return "\\" + sign
    if sign in _SHORT:
        return _SHORT[sign]
    if sign.isprintable():
        return sign
    code = ord(sign)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _stands_for_itself(text: str) -> bool:
    """Whether each sign of a text means itself between double quotes: most texts are so."""
    return "\\" not in text and '"' not in text and text.isprintable()


def _checked(source: str, text: str) -> str:
    """The literal, after reading it back: a wrong one would make program text of a person's text."""
    if ast.literal_eval(source) != text:
        raise AssertionError(f"{source} does not read back as {text!r}")
    return source


def literal(value: Any) -> Doc:
    """A JSON value, or a tuple, as a literal. Raises `TypeError` for what is neither."""
    if isinstance(value, str):
        return quoted(value)
    if value is None or isinstance(value, bool | int):
        return repr(value)
    if isinstance(value, float):
        return repr(value).replace("e+", "e") if math.isfinite(value) else f"float({quoted(str(value))})"
    if isinstance(value, list):
        return Group("[", tuple(literal(item) for item in value), "]")
    if isinstance(value, tuple):
        return Group("(", tuple(literal(item) for item in value), ")", lone="," if len(value) == 1 else "")
    if isinstance(value, dict):
        pairs = tuple(Named((literal(key), ": "), literal(item)) for key, item in value.items())
        return Group("{", pairs, "}")
    raise TypeError(f"a {type(value).__name__} is no literal")
