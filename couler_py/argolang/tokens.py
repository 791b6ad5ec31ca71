"""Expressions as words: names, numbers, strings, operators, brackets, each with its place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from couler_py.argolang.escapes import raw, unescaped
from couler_py.argolang.problems import SyntaxProblem

NAME, NUMBER, STRING, OPERATOR, BRACKET, END = "name", "number", "string", "operator", "bracket", "end"
WORDS = frozenset(["not", "in", "or", "and", "matches", "contains", "startsWith", "endsWith", "let", "if", "else"])

# what unicode.IsSpace of Go takes for space
SPACES = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005"
    "\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)
_TOKEN = re.compile(
    rf"""
    (?P<space>[{SPACES}]+|//[^\n]*(?:\n|\Z)|/\*.*?\*/)
  | (?P<name>[A-Za-z_$][A-Za-z0-9_$]*+(?![^\x00-\x7f]))
  | (?P<number>\.?(?:0[xX][0-9a-fA-F_]*|0[oO][0-7_]*|0[bB][01_]*|[0-9][0-9_]*)
       (?:\.(?!\.)[0-9_]*)?(?:[eE][+-]?[0-9_]*)?)
  | (?P<string>["'`])
  | (?P<bracket>[()\[\]{{}}])
  | (?P<operator>\?[.?]?|\|\|?|::?|[,;%+\-^/]|[&!=*<>][&=*]?|\.\.?)
  | (?P<pointer>\#\#?)
    """,
    re.VERBOSE | re.DOTALL,
)


class Token(NamedTuple):
    """A word of an expression; `text` is the value of a string, without its quotes and escapes."""

    kind: str
    text: str
    start: int
    end: int


def tokens(text: str) -> Iterator[Token]:
    """The words of an expression, in order, and one of the kind `end`.

    Raises SyntaxProblem where a character begins no word, and where a number, a string or a comment isn't whole.

    >>> [each.text for each in tokens("a.b >= 0x1f")]
    ['a', '.', 'b', '>=', '0x1f', '']
    """
    position = 0
    while position < len(text):
        found = _TOKEN.match(text, position)
        if found is None:
            token = _wide_name(text, position)
        elif found.lastgroup == "space":
            position = found.end()
            continue
        else:
            token = _token(text, found)
        yield token
        position = token.end
        if token.text in ("#", "##") and token.kind == OPERATOR:
            end = _past_name(text, position)
            if end > position:
                yield Token(NAME, text[position:end], position, end)
                position = end
    yield Token(END, "", len(text), len(text))


def alphanumeric(character: str) -> bool:
    """Whether a character may stand in a name: a letter or a decimal digit of any script, `_` or `$`."""
    return character.isalpha() or character.isdecimal() or character in "_$"


def is_name(text: str) -> bool:
    """Whether a text may stand after a dot.

    >>> is_name("message"), is_name("my-task"), is_name("1st")
    (True, False, False)
    """
    return bool(text) and all(map(alphanumeric, text)) and not text[0].isdecimal()


def _token(text: str, found: re.Match[str]) -> Token:
    kind, start, end = str(found.lastgroup), found.start(), found.end()
    if kind == "string":
        return _string(text, start)
    if kind == "pointer":
        return Token(OPERATOR, found.group(), start, end)
    if kind == "operator" and text.startswith("/*", start):
        raise SyntaxProblem("a comment isn't closed", start)
    if kind == "number" and end < len(text) and alphanumeric(text[end]):
        raise SyntaxProblem(f"{text[start : end + 1]!r} is no number", start)
    if kind == "name" and found.group() in WORDS:
        kind = OPERATOR
    return Token(kind, found.group(), start, end)


def _wide_name(text: str, start: int) -> Token:
    """A name with letters beyond ASCII."""
    end = _past_name(text, start)
    if end == start:
        raise SyntaxProblem(f"{text[start]!r} begins nothing in an expression", start)
    return Token(NAME, text[start:end], start, end)


def _past_name(text: str, position: int) -> int:
    while position < len(text) and alphanumeric(text[position]):
        position += 1
    return position


def _string(text: str, start: int) -> Token:
    value, end = raw(text, start) if text[start] == "`" else unescaped(text, start)
    return Token(STRING, value, start, end)
