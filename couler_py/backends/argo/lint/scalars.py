"""From a character of a string's value to the character of YAML text that wrote it."""

from __future__ import annotations

import re

_ESCAPE = re.compile(r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[^\n])")
_FOLD = re.compile(r"[ \t]*\r?\n(?:[ \t]*\r?\n)*[ \t]*")


def index_of(source: str, style: str, value: str, offset: int) -> int:
    """Where in `source`, the text of a scalar of this style, the character `offset` of its value stands.

    As good as can be: of text folded in unusual ways, the scalar's start.

    >>> index_of("'it''s'", "'", "it's", 3)
    5
    """
    if style in ("|", ">"):
        return _in_block(source, style, value, offset)
    return _in_flow(source, style, value, offset)


def _in_flow(source: str, style: str, value: str, offset: int) -> int:
    at = 1 if style in ("'", '"') else 0
    done = 0
    while done < offset and at < len(source):
        char = source[at]
        if style == '"' and char == "\\":
            if source.startswith(("\\\n", "\\\r\n"), at):
                fold = _FOLD.match(source, at + 1)
                at = fold.end() if fold else at + 1
                continue
            escape = _ESCAPE.match(source, at)
            at = escape.end() if escape else at + 1
            done += 1
        elif style == "'" and source.startswith("''", at):
            at, done = at + 2, done + 1
        elif (fold := _FOLD.match(source, at)) is not None:
            breaks = fold[0].count("\n")
            at, done = fold.end(), done + max(1, breaks - 1)
        else:
            at, done = at + 1, done + 1
    return min(at, len(source))


def _in_block(source: str, style: str, value: str, offset: int) -> int:
    start = source.find("\n") + 1
    indent = _indentation(source[start:], value)
    if style == ">":
        return _in_folded(source, value, offset, start, indent)
    for _ in range(value.count("\n", 0, offset)):
        start = source.find("\n", start) + 1
    column = offset - (value.rfind("\n", 0, offset) + 1)
    return min(start + indent + column, len(source))


def _in_folded(source: str, value: str, offset: int, start: int, indent: int) -> int:
    """Walk through the lines: what stands between two of them in the value is folded line breaks."""
    found, done = 0, 0
    for line in source[start:].split("\n"):
        text = line[indent:].rstrip("\r")
        at = value.find(text, done) if text.strip() else -1
        if at >= 0:
            if offset < at:
                return found
            if offset < at + len(text):
                return start + indent + offset - at
            done = at + len(text)
            found = start + indent + len(text)
        start += len(line) + 1
    return found


def _indentation(body: str, value: str) -> int:
    """The spaces in front of every line that aren't the value's own."""
    return max(_leading(body) - _leading(value), 0)


def _leading(text: str) -> int:
    first = next((line for line in text.split("\n") if line.strip()), "")
    return len(first) - len(first.lstrip(" "))
