"""The strings of expressions: their quotes and escapes, read and written."""

from __future__ import annotations

import re

from couler_py.argolang.problems import SyntaxProblem

_PLAIN = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "\\": "\\"}
_CODED = re.compile(r"x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]{1,6})\}|U([0-9a-fA-F]{8})|([0-3][0-7]{2})")
_STOPS = {"'": re.compile(r"['\\\n]"), '"': re.compile(r'["\\\n]')}
_LAST = 0x10FFFF


def unescaped(text: str, start: int) -> tuple[str, int]:
    """The value of the quoted string that begins at `start`, and where it ends.

    Raises SyntaxProblem where it isn't closed on its line, and at an escape that the language doesn't know.

    >>> unescaped(r"'a\\n\\u0041'", 0)
    ('a\\nA', 11)
    """
    quote, parts, position = text[start], [], start + 1
    stops = _STOPS[quote]
    while True:
        found = stops.search(text, position)
        if found is None or found.group() == "\n":
            raise SyntaxProblem("a string isn't closed", start)
        parts.append(_lines(text[position : found.start()]))
        if found.group() == quote:
            return "".join(parts), found.end()
        character, position = _escape(text, found.end(), quote)
        parts.append(character)


def raw(text: str, start: int) -> tuple[str, int]:
    """The value of the raw string that begins at `start`, in which two backticks stand for one, and where it ends."""
    found = re.compile(r"((?:[^`]|``)*)`(?!`)").match(text, start + 1)
    if found is None:
        raise SyntaxProblem("a string isn't closed", start)
    return found.group(1).replace("``", "`"), found.end()


def quoted(value: str) -> str:
    """A text as a string of an expression, in single quotes, without any character that JSON or YAML would escape.

    Braces are escaped too, so that the string may stand in a tag whatever it holds.

    >>> print(quoted("it's"), quoted("{{x}}"))
    'it\\'s' '\\u007b\\u007bx\\u007d\\u007d'
    """
    return "'" + re.sub(r"['\\\x00-\x1f\x7f-\x9f\u2028\u2029{}]", _written, value) + "'"


def _written(found: re.Match[str]) -> str:
    character = found.group()
    return f"\\{character}" if character in "'\\" else rf"\u{ord(character):04x}"


def _lines(piece: str) -> str:
    return piece.replace("\r\n", "\n").replace("\r", "\n") if "\r" in piece else piece


def _escape(text: str, position: int, quote: str) -> tuple[str, int]:
    """The character of the escape whose backslash is before `position`, and where it ends."""
    character = text[position : position + 1]
    if character and (character == quote or character in _PLAIN):
        return _PLAIN.get(character, quote), position + 1
    found = _CODED.match(text, position)
    if found is None:
        raise SyntaxProblem(f"the escape \\{character} is unknown", position - 1)
    base = 8 if found.group(5) else 16
    code = int(next(group for group in found.groups() if group), base)
    if code > _LAST:
        raise SyntaxProblem("an escape is beyond the last character of Unicode", position - 1)
    return ("\ufffd" if 0xD800 <= code <= 0xDFFF else chr(code)), found.end()
