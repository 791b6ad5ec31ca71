"""Patterns as trees, in the syntax of Go's regexp."""

from __future__ import annotations

import re
from typing import NamedTuple

from couler_py.argolang.functions.regex.classes import CATEGORIES, PERL, POSIX, Set
from couler_py.argolang.functions.regex.nodes import Capture, Either, Joined, One, Place, Repeated, Tree
from couler_py.argolang.functions.regex.problems import RegexProblem

LENGTH, DEPTH, TIMES = 5000, 100, 1000
_COUNT = re.compile(r"\{(\d+)(,(\d*))?\}", re.ASCII)
_GROUP = re.compile(r"\(\?P?<([A-Za-z0-9_]+)>", re.ASCII)
_FLAGS = re.compile(r"\(\?([imsU]*)(?:(-)([imsU]+))?([:)])")
_CODE = re.compile(r"x([0-9A-Fa-f]{2})|x\{([0-9A-Fa-f]+)\}|([0-7]{2,3}|0)")
_NAMED = {"a": "\a", "f": "\f", "t": "\t", "n": "\n", "r": "\r", "v": "\v"}
_ANY = Set(negated=True)
_NO_NEWLINE = Set(("\n\n",), negated=True)


class Flags(NamedTuple):
    """Whether case counts, `^` and `$` are those of lines, `.` takes a newline, repetitions are lazy."""

    i: bool = False
    m: bool = False
    s: bool = False
    U: bool = False


def read(pattern: str) -> tuple[Tree, dict[str, list[int]]]:
    """The tree of a pattern, and the numbers of its named groups. Raises RegexProblem."""
    if len(pattern) > LENGTH:
        raise RegexProblem(f"a pattern of more than {LENGTH} characters", late=True)
    reader = _Reader(pattern)
    tree = reader.either(Flags())
    if reader.position < len(pattern):
        raise reader.problem("a parenthesis that wasn't opened")
    return tree, reader.names


class _Reader:
    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.position = 0
        self.captures = 0
        self.depth = 0
        self.names: dict[str, list[int]] = {}

    def problem(self, message: str) -> RegexProblem:
        return RegexProblem(f"{message} in the pattern {self.pattern!r}")

    def at(self, text: str) -> bool:
        return self.pattern.startswith(text, self.position)

    def either(self, flags: Flags) -> Tree:
        self.depth += 1
        if self.depth > DEPTH:
            raise RegexProblem(f"a pattern nested deeper than {DEPTH} levels", late=True)
        items: list[Tree] = []
        while True:
            joined, flags = self._joined(flags)
            items.append(joined)
            if not self.at("|"):
                break
            self.position += 1
        self.depth -= 1
        return items[0] if len(items) == 1 else Either(tuple(items))

    def _joined(self, flags: Flags) -> tuple[Tree, Flags]:
        items: list[Tree] = []
        while self.position < len(self.pattern) and not self.at("|") and not self.at(")"):
            found = _FLAGS.match(self.pattern, self.position)
            if found and found[4] == ")":
                flags = self._changed(flags, found)
                continue
            if self.at("\\Q"):
                items += self._literal(flags)
                continue
            item = self._atom(flags)
            items.append(self._times(item, flags))
        return Joined(tuple(items)), flags

    def _changed(self, flags: Flags, found: re.Match[str]) -> Flags:
        if found.group() in ("(?)", "(?:)") and found[4] == ")":
            raise self.problem("a group without flags")
        self.position = found.end()
        changes = dict.fromkeys(found[1], True) | dict.fromkeys(found[3] or "", False)
        return flags._replace(**changes)

    def _literal(self, flags: Flags) -> list[Tree]:
        """`\\Q...\\E`: what stands between is plain."""
        end = self.pattern.find("\\E", self.position)
        text = self.pattern[self.position + 2 : end if end >= 0 else None]
        self.position = end + 2 if end >= 0 else len(self.pattern)
        items: list[Tree] = [_one(each, flags) for each in text]
        if items:
            items[-1] = self._times(items[-1], flags)
        return items

    def _atom(self, flags: Flags) -> Tree:
        character = self.pattern[self.position]
        if character == "(":
            return self._group(flags)
        if character == "[":
            return One(self._class(flags))
        if character == "\\":
            return self._escape(flags)
        if character in "*+?" or self._count():
            raise self.problem(f"{character!r} has nothing to repeat")
        self.position += 1
        if character == ".":
            return One(_ANY if flags.s else _NO_NEWLINE)
        if character == "^":
            return Place("line begin" if flags.m else "begin")
        if character == "$":
            return Place("line end" if flags.m else "end")
        return _one(character, flags)

    def _count(self) -> re.Match[str] | None:
        return _COUNT.match(self.pattern, self.position)

    def _times(self, item: Tree, flags: Flags) -> Tree:
        repeated = False
        while self.position < len(self.pattern):
            found = self._count()
            sign = found.group() if found else self.pattern[self.position]
            if found:
                least = int(found[1])
                most = least if found[2] is None else int(found[3]) if found[3] else None
                if max(least, most or 0) > TIMES or (most is not None and most < least):
                    raise self.problem(f"{sign} can't be counted")
            elif sign in "*+?":
                least, most = int(sign == "+"), 1 if sign == "?" else None
            else:
                break
            if repeated:
                raise self.problem(f"{sign!r} repeats a repetition")
            repeated = True
            self.position += len(sign)
            lazy = self.at("?")
            self.position += lazy
            item = Repeated(item, least, most, lazy != flags.U)
        return item

    def _group(self, flags: Flags) -> Tree:
        if found := _GROUP.match(self.pattern, self.position):
            self.position = found.end()
            self.names.setdefault(found[1], []).append(self.captures + 1)
            return self._captured(flags)
        if found := _FLAGS.match(self.pattern, self.position):
            if found[2] and not found[3]:
                raise self.problem("a group with a missing flag")
            return self._closed(self._changed(flags, found))
        if self.at("(?"):
            raise self.problem(f"{self.pattern[self.position : self.position + 3]!r} isn't known")
        self.position += 1
        return self._captured(flags)

    def _captured(self, flags: Flags) -> Tree:
        self.captures += 1
        number = self.captures
        return Capture(number, self._closed(flags))

    def _closed(self, flags: Flags) -> Tree:
        body = self.either(flags)
        if not self.at(")"):
            raise self.problem("a parenthesis that isn't closed")
        self.position += 1
        return body

    # ---- escapes and classes

    def _escape(self, flags: Flags) -> Tree:
        letter = self.pattern[self.position + 1 : self.position + 2]
        places = {"A": "begin", "z": "end", "b": "boundary", "B": "no boundary"}
        if letter in places and letter:
            self.position += 2
            return Place(places[letter])
        if letter == "C":
            raise RegexProblem("bytes (\\C) aren't known here", late=True)
        if set_ := self._many(flags):
            return One(set_)
        return _one(self._character(), flags)

    def _many(self, flags: Flags) -> Set | None:
        """An escape that stands for many characters, if one comes next."""
        letter = self.pattern[self.position + 1 : self.position + 2]
        if letter and letter in "dswDSW":
            self.position += 2
            return Set(PERL[letter.lower()], negated=letter.isupper(), folded=flags.i)
        if letter in ("p", "P") and letter:
            return self._category(letter == "P", flags)
        return None

    def _category(self, negated: bool, flags: Flags) -> Set:
        found = re.compile(r"\\[pP](?:\{(\^?)(\w+)\}|(\w))").match(self.pattern, self.position)
        if found is None:
            raise self.problem("a class of Unicode that isn't whole")
        name = found[2] or found[3]
        if name not in CATEGORIES and name != "Any":
            raise RegexProblem(f"the class {name!r} of Unicode isn't known here", late=True)
        self.position = found.end()
        negated = negated != bool(found[1])
        if name == "Any":
            return Set(negated=not negated)
        return Set(categories=(name,), negated=negated, folded=flags.i)

    def _character(self) -> str:
        """The character that an escape stands for."""
        start = self.position + 1
        letter = self.pattern[start : start + 1]
        if not letter:
            raise self.problem("a backslash at the end")
        if letter == "x" or letter in "01234567":
            found = _CODE.match(self.pattern, start)
            if found is None or (found[3] and found[3][0] != "0" and len(found[3]) < 3):
                raise self.problem(f"the escape \\{letter}")
            code = int(found[1] or found[2] or found[3], 8 if found[3] else 16)
            if code > 0x10FFFF:
                raise self.problem("a character beyond the last one of Unicode")
            self.position = found.end()
            return chr(code)
        self.position += 2
        if letter in _NAMED:
            return _NAMED[letter]
        if letter.isascii() and not letter.isalnum() and letter != "_":
            return letter
        if letter == "_":
            return letter
        raise self.problem(f"the escape \\{letter}")

    def _class(self, flags: Flags) -> Set:
        self.position += 1
        negated = self.at("^")
        self.position += negated
        ranges: list[str] = []
        inner: list[Set] = []
        first = True
        while first or not self.at("]"):
            if self.position >= len(self.pattern):
                raise self.problem("a bracket that isn't closed")
            if self.at("-") and not first and not self.pattern.startswith("]", self.position + 1):
                raise self.problem("a hyphen that isn't between two characters")
            if named := re.compile(r"\[:(\^?)(\w*):\]").match(self.pattern, self.position):
                if named[2] not in POSIX:
                    raise self.problem(f"{named.group()!r} isn't known")
                inner.append(Set(POSIX[named[2]], negated=bool(named[1]), folded=flags.i))
                self.position = named.end()
            elif self.at("\\") and (set_ := self._many(flags)):
                inner.append(set_)
            else:
                ranges.append(self._range())
            first = False
        self.position += 1
        return Set(tuple(ranges), inner=tuple(inner), negated=negated, folded=flags.i)

    def _range(self) -> str:
        low = high = self._member()
        if self.at("-") and not self.pattern.startswith("]", self.position + 1) and self.pattern[self.position + 1 :]:
            self.position += 1
            high = self._member()
            if high < low:
                raise self.problem(f"the range {low}-{high}")
        return low + high

    def _member(self) -> str:
        if self.at("\\"):
            return self._character()
        if self.position >= len(self.pattern):
            raise self.problem("a bracket that isn't closed")
        self.position += 1
        return self.pattern[self.position - 1]


def _one(character: str, flags: Flags) -> One:
    return One(Set((character * 2,), folded=flags.i))
