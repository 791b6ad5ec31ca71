"""The words and the tree of a condition: the language of github.com/Knetic/govaluate, which Argo uses for `when`.

The reader follows the library where it is surprising, since a condition must mean here what it means there: a run of
signs is one word (`==-1` is none that is known), `[a b]` is a word as it stands, what follows a closed parenthesis may
be ignored.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import msgspec

from couler_py.argolang.functions.gotime import instant
from couler_py.argolang.problems import SyntaxProblem

START, NUMBER, BOOLEAN, STRING, TIME, WORD, ACCESSOR = (
    "start",
    "number",
    "boolean",
    "string",
    "time",
    "word",
    "accessor",
)
PREFIX, MODIFIER, COMPARATOR, LOGIC, TERNARY = "prefix", "modifier", "comparator", "logic", "ternary"
OPENING, CLOSING, COMMA = "opening", "closing", "comma"

PREFIXES = frozenset("-!~")
MODIFIERS = frozenset(("+", "-", "*", "/", "%", "**", "&", "|", "^", ">>", "<<"))
COMPARATORS = frozenset(("==", "!=", ">", ">=", "<", "<=", "=~", "!~", "in"))
LOGICAL = frozenset(("&&", "||"))
TERNARIES = frozenset(("?", ":", "??"))

_VALUES = frozenset((NUMBER, BOOLEAN, WORD, ACCESSOR, STRING, TIME, OPENING))
_AFTER_VALUE = frozenset((MODIFIER, COMPARATOR, LOGIC, CLOSING, TERNARY, COMMA))
_FOLLOWERS: dict[str, frozenset[str]] = {
    START: _VALUES | {PREFIX},
    OPENING: _VALUES | {PREFIX, CLOSING},
    CLOSING: _AFTER_VALUE | (_VALUES - {ACCESSOR}),
    NUMBER: _AFTER_VALUE,
    BOOLEAN: _AFTER_VALUE,
    STRING: _AFTER_VALUE,
    WORD: _AFTER_VALUE,
    TIME: _AFTER_VALUE - {TERNARY},
    ACCESSOR: _AFTER_VALUE | {OPENING},
    MODIFIER: (_VALUES - {TIME}) | {PREFIX, CLOSING},
    COMPARATOR: _VALUES | {PREFIX, CLOSING},
    LOGIC: _VALUES | {PREFIX, CLOSING},
    PREFIX: (_VALUES - {STRING, TIME}) | {CLOSING},
    TERNARY: _VALUES | {PREFIX, COMMA},
    COMMA: _VALUES | {PREFIX},
}
_LAST = frozenset((CLOSING, NUMBER, BOOLEAN, STRING, TIME, WORD, ACCESSOR))

_LEVELS: tuple[tuple[str, frozenset[str]], ...] = (
    (COMMA, frozenset((",",))),
    (TERNARY, TERNARIES),
    (LOGIC, frozenset(("||",))),
    (LOGIC, frozenset(("&&",))),
    (COMPARATOR, COMPARATORS),
    (MODIFIER, frozenset("^&|")),
    (MODIFIER, frozenset((">>", "<<"))),
    (MODIFIER, frozenset("+-")),
    (MODIFIER, frozenset("*/%")),
    (MODIFIER, frozenset(("**",))),
)
_DEPTH = 60


class Word(NamedTuple):
    """A word of a condition and its place; `value` is what it stands for."""

    kind: str
    value: str | float | bool
    start: int
    end: int


class Constant(msgspec.Struct, frozen=True):
    """A number, a boolean, a text; `bare` where the text stands without quotes, `path` where it has dots in it."""

    value: str | float | bool
    start: int
    end: int
    bare: bool = False
    accessor: bool = False


class Operation(msgspec.Struct, frozen=True):
    """An operator with what stands on its sides; a prefix has no left side, and an empty parenthesis is None."""

    operator: str
    left: Tree | None
    right: Tree | None
    start: int
    end: int


class Group(msgspec.Struct, frozen=True):
    """Parentheses."""

    body: Tree | None
    start: int
    end: int


Tree = Constant | Operation | Group


def words(text: str) -> tuple[Word, ...]:
    """The words of a condition. Raises SyntaxProblem where there is none, and where one may not follow another.

    Parentheses may be 60 deep: ours, the library has no limit.
    """
    found: list[Word] = []
    position, before, open_ = 0, START, 0
    while (position := _past_spaces(text, position)) < len(text):
        word = _word(text, position, before)
        if word.kind not in _FOLLOWERS[before]:
            raise SyntaxProblem(f"{text[word.start : word.end]!r} can't follow {_said(text, found)}", word.start)
        open_ += (word.kind == OPENING) - (word.kind == CLOSING)
        if open_ > _DEPTH:
            raise SyntaxProblem(f"nested deeper than {_DEPTH} levels", word.start)
        found.append(word)
        pattern = word.kind == STRING and len(found) > 1 and found[-2].value in ("=~", "!~")
        position, before = word.end, TIME if pattern else word.kind  # a pattern is followed by what follows a time
    if before not in _LAST:
        raise SyntaxProblem("a value is missing", len(text))
    if open_:
        raise SyntaxProblem("the parentheses don't match", len(text))
    for left, right in pairwise(found):
        if left.kind == PREFIX and right.kind == WORD:
            raise SyntaxProblem(f"{left.value!r} can't stand before the text {right.value!r}", right.start)
    return tuple(found)


def tree(text: str) -> Tree | None:
    """The tree of a condition, operators of one rank from the left to the right. Raises SyntaxProblem."""
    return _Reader(words(text)).level(0)


# ---- words


def _said(text: str, found: list[Word]) -> str:
    return repr(text[found[-1].start : found[-1].end]) if found else "nothing"


def _past_spaces(text: str, position: int) -> int:
    while position < len(text) and text[position].isspace():
        position += 1
    return position


def _word(text: str, start: int, before: str) -> Word:
    character = text[start]
    if character.isdecimal() or character == ".":
        return _number(text, start)
    if character == ",":
        return Word(COMMA, ",", start, start + 1)
    if character in "[\"'":
        return _enclosed(text, start)
    if character.isalpha():
        return _name(text, start)
    if character in "()":
        return Word(OPENING if character == "(" else CLOSING, character, start, start + 1)
    return _sign(text, start, before)


def _number(text: str, start: int) -> Word:
    if text.startswith("0x", start) and start + 2 < len(text):
        written, end = _run(text, start + 2, lambda each: each.isdecimal() or each in "abcdefABCDEF")
        try:
            value = int(written, 16)
        except ValueError:
            value = 2**64
        if value >= 2**64:
            raise SyntaxProblem(f"{text[start:end]!r} is no number", start)
        return Word(NUMBER, float(value), start, end)
    written, end = _run(text, start, lambda each: each.isdecimal() or each == ".")
    try:
        if not written.isascii():
            raise ValueError(written)
        return Word(NUMBER, float(written), start, end)
    except ValueError:
        raise SyntaxProblem(f"{text[start:end]!r} is no number", start) from None


def _enclosed(text: str, start: int) -> Word:
    """A text in quotes, either of which ends it, or in brackets; a backslash takes the next character as it is."""
    closing = "]" if text[start] == "[" else "'\""
    parts, position = [], start + 1
    while position < len(text) and text[position] not in closing:
        position += text[position] == "\\"
        parts.append(text[position : position + 1])
        position += 1
    if position >= len(text):
        what = "bracket" if closing == "]" else "quote"
        raise SyntaxProblem(f"a {what} isn't closed", start)
    value = "".join(parts)
    if closing == "]":
        return Word(WORD, value, start, position + 1)
    seconds = instant(value)
    if seconds is not None:
        return Word(TIME, float(seconds), start, position + 1)
    return Word(STRING, value, start, position + 1)


def _name(text: str, start: int) -> Word:
    name, end = _run(text, start, lambda each: each.isalpha() or each.isdecimal() or each in "_.")
    if name in ("true", "false"):
        return Word(BOOLEAN, name == "true", start, end)
    if name in ("in", "IN"):
        return Word(COMPARATOR, "in", start, end)
    if "." not in name[1:]:
        return Word(WORD, name, start, end)
    if name.endswith("."):
        raise SyntaxProblem(f"{name!r} ends with a dot; put it into quotes", start)
    for part in name.split(".")[1:]:
        if part[:1].upper() != part[:1]:
            raise SyntaxProblem(f"{name!r} is read as the field {part!r} of a variable; put it into quotes", start)
    return Word(ACCESSOR, name, start, end)


def _sign(text: str, start: int, before: str) -> Word:
    sign, end = _run(text, start, lambda each: not (each.isdecimal() or each.isalpha() or each in "()[]'\""))
    if PREFIX in _FOLLOWERS[before] and sign in PREFIXES:
        return Word(PREFIX, sign, start, end)
    for kind, signs in ((MODIFIER, MODIFIERS), (LOGIC, LOGICAL), (COMPARATOR, COMPARATORS), (TERNARY, TERNARIES)):
        if sign in signs:
            return Word(kind, sign, start, end)
    raise SyntaxProblem(f"{sign!r} is no operator; a text with signs in it needs quotes", start)


def _run(text: str, start: int, belongs: Callable[[str], bool]) -> tuple[str, int]:
    """The characters from `start` on that belong together; a backslash takes the next one as it is."""
    parts, position = [], start
    while position < len(text):
        if text[position] == "\\":
            if position + 1 == len(text):
                raise SyntaxProblem("a backslash has nothing to escape", position)
            parts.append(text[position + 1])
            position += 2
        elif belongs(text[position]) and not text[position].isspace():
            parts.append(text[position])
            position += 1
        else:
            break
    return "".join(parts), position


# ---- the tree


class _Reader:
    """The reading of words as the library reads them; what it steps back over at the end changes nothing."""

    def __init__(self, read: tuple[Word, ...]) -> None:
        self.words = read
        self.position = 0

    def level(self, rank: int) -> Tree | None:
        """Operators of one rank, or what binds more tightly."""
        if rank == len(_LEVELS):
            return self._value()
        kind, signs = _LEVELS[rank]
        left = self.level(rank + 1)
        while self.position < len(self.words):
            word = self.words[self.position]
            if word.kind != kind or word.value not in signs:
                break
            self.position += 1
            right = self.level(rank + 1)
            start = left.start if left is not None else word.start
            end = right.end if right is not None else word.end
            left = Operation(str(word.value), left, right, start, end)
        return left

    def _value(self) -> Tree | None:
        if self.position == len(self.words):
            return None
        word = self.words[self.position]
        if word.kind == CLOSING:
            return None
        self.position += 1
        if word.kind == OPENING:
            body = self.level(0)
            end = self.words[self.position].end if self.position < len(self.words) else word.end
            self.position += 1
            return Group(body, word.start, end)
        if word.kind == PREFIX:
            right = self._value()
            end = right.end if right is not None else word.end
            return Operation(f"prefix {word.value}", None, right, word.start, end)
        if word.kind == ACCESSOR and self.position < len(self.words) and self.words[self.position].kind == OPENING:
            self.level(0)
        return Constant(word.value, word.start, word.end, word.kind == WORD, word.kind == ACCESSOR)
