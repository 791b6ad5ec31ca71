"""From the characters of a string's value to those of the YAML text that wrote it."""

from __future__ import annotations

import re

_ESCAPE = re.compile(r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[^\n])")
_FOLD = re.compile(r"[ \t]*\r?\n(?:[ \t]*\r?\n)*[ \t]*")


def indices(source: str, style: str, value: str) -> list[int]:
    """Where in `source`, the text of a scalar of this style, each character of its value stands, and where it ends.

    As good as can be: of text folded in unusual ways, the scalar's start.

    >>> indices("'it''s'", "'", "it's")
    [1, 2, 3, 5, 6]
    """
    found = _in_block(source, style, value) if style in ("|", ">") else _in_flow(source, style, value)
    return [min(index, len(source)) for index in found]


def _in_flow(source: str, style: str, value: str) -> list[int]:
    at = 1 if style in ("'", '"') else 0
    found = [at]
    while len(found) <= len(value) and at < len(source):
        characters = 1
        if style == '"' and source[at] == "\\":
            if source.startswith(("\\\n", "\\\r\n"), at):
                fold, characters = _FOLD.match(source, at + 1), 0
                found[-1] = at = fold.end() if fold else at + 1  # the next character stands behind the break
            else:
                escape = _ESCAPE.match(source, at)
                at = escape.end() if escape else at + 1
        elif style == "'" and source.startswith("''", at):
            at += 2
        elif (fold := _FOLD.match(source, at)) is not None:
            at, characters = fold.end(), max(1, fold[0].count("\n") - 1)
        else:
            at += 1
        found += [at] * characters
    return found


def _in_block(source: str, style: str, value: str) -> list[int]:
    start = source.find("\n") + 1
    indent = _indentation(source[start:], value)
    if style == ">":
        return _in_folded(source, value, start, indent)
    found: list[int] = []
    for line in value.split("\n"):
        found += range(start + indent, start + indent + len(line) + 1)
        start = source.find("\n", start) + 1
    return found


def _in_folded(source: str, value: str, start: int, indent: int) -> list[int]:
    """Walk through the lines: what stands between two of them in the value is folded line breaks."""
    found: list[int] = []
    end = 0
    for line in source[start:].split("\n"):
        text = line[indent:].rstrip("\r")
        at = value.find(text, len(found)) if text.strip() else -1
        if at >= 0:
            found += [end] * (at - len(found))
            found += range(start + indent, start + indent + len(text))
            end = start + indent + len(text)
        start += len(line) + 1
    return found + [end] * (len(value) + 1 - len(found))


def _indentation(body: str, value: str) -> int:
    """The spaces in front of every line that aren't the value's own."""
    return max(_leading(body) - _leading(value), 0)


def _leading(text: str) -> int:
    first = next((line for line in text.split("\n") if line.strip()), "")
    return len(first) - len(first.lstrip(" "))
