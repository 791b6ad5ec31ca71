"""Regular expressions as RE2 reads them, on Python's `re`: what both read alike is translated, the rest refused."""

from __future__ import annotations

import re
from functools import lru_cache

import msgspec

_LENGTH = 2000
_CLASSES = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "ascii": r"\x00-\x7f",
    "blank": r"\t ",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": r"!-/:-@\[-`{-~",
    "space": r"\t\n\v\f\r ",
    "upper": "A-Z",
    "word": "0-9A-Za-z_",
    "xdigit": "0-9A-Fa-f",
}
_PERL = {"d": "0-9", "s": r"\t\n\f\r ", "w": "0-9A-Za-z_"}


class RegexProblem(ValueError):  # noqa: N818 - named like the other problems
    """A pattern that RE2 refuses, or (`late`) one that it reads and Python's `re` can't be made to read alike."""

    def __init__(self, message: str, *, late: bool = False) -> None:
        super().__init__(message)
        self.late = late


@lru_cache(maxsize=512)
def compiled(pattern: str) -> re.Pattern[str]:
    """A pattern of RE2, compiled.

    Raises RegexProblem for what RE2 refuses (references back, looking around), what it knows and `re` doesn't
    (`\\p{Greek}`), and what could take `re` for ever: a repetition inside a repetition.

    >>> compiled(r"^\\d+$").search("12") is not None
    True
    """
    if len(pattern) > _LENGTH:
        raise RegexProblem(f"a pattern longer than {_LENGTH} characters", late=True)
    reader = _Reader(pattern)
    translated = reader.translated()
    try:
        return re.compile(translated)
    except (re.error, RecursionError, OverflowError) as problem:
        raise RegexProblem(f"the pattern {pattern!r} can't be read: {problem}") from problem


class _Group(msgspec.Struct):
    """A group that is open: whether something in it repeats."""

    repeats: bool = False


class _Reader:
    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.position = 0
        self.out: list[str] = []
        self.groups = [_Group()]
        self.last_repeats = False  # whether what a quantifier would apply to holds a repetition itself
        self.multiline = False
        self.names = 0

    def translated(self) -> str:
        while self.position < len(self.pattern):
            self._piece()
        if len(self.groups) != 1:
            raise RegexProblem(f"a parenthesis isn't closed in {self.pattern!r}")
        return "".join(self.out)

    def _piece(self) -> None:
        character = self.pattern[self.position]
        if character == "\\":
            self._atom(self._escape())
        elif character == "[":
            self._atom(self._class())
        elif character == "(":
            self._open()
        elif character == ")":
            self._close()
        elif character in "*+?" or (character == "{" and self._counted()):
            self._quantifier()
        elif character == "$":
            self.position += 1
            self._atom("(?=\\n|\\Z)" if self.multiline else "\\Z")
        elif character in "{}":
            self.position += 1
            self._atom("\\" + character)
        else:
            self.position += 1
            self._atom(character)

    def _atom(self, text: str) -> None:
        self.out.append(text)
        self.last_repeats = False

    def _counted(self) -> re.Match[str] | None:
        return re.compile(r"\{(\d+)(,(\d*))?\}").match(self.pattern, self.position)

    def _quantifier(self) -> None:
        counted = self._counted()
        text = counted.group() if counted else self.pattern[self.position]
        self.position += len(text)
        if not self.out or self.out[-1] in ("(", "(?:", "|"):
            raise RegexProblem(f"{text!r} has nothing to repeat in {self.pattern!r}")
        if counted and max(int(number) for number in (counted[1], counted[3] or 0)) > 1000:
            raise RegexProblem(f"{text!r} repeats more than 1000 times in {self.pattern!r}")
        unbounded = text in "*+" or (counted is not None and counted[2] is not None)
        if self.last_repeats and (unbounded or counted):
            raise RegexProblem(f"{self.pattern!r} repeats a repetition, which isn't evaluated here", late=True)
        lazy = self.pattern[self.position : self.position + 1] == "?"
        self.position += lazy
        if self.pattern[self.position : self.position + 1] in ("*", "+", "?") and self.position < len(self.pattern):
            raise RegexProblem(f"a repetition follows a repetition in {self.pattern!r}")
        self.out.append(text + "?" * lazy)
        if text != "?":
            self.last_repeats = self.groups[-1].repeats = True

    def _open(self) -> None:
        rest = self.pattern[self.position :]
        if named := re.match(r"\(\?P?<([A-Za-z_]\w*)>", rest):
            self.out.append(f"(?P<{named[1]}>")
            self.position += named.end()
        elif flags := re.match(r"\(\?([imsU]*)(?:-([imsU]+))?([:)])", rest):
            self._flags(flags)
        elif rest.startswith("(?"):
            raise RegexProblem(f"{rest[:4]!r} isn't known in {self.pattern!r}")
        else:
            self.out.append("(")
            self.position += 1
        if self.out[-1].startswith("(") and not self.out[-1].endswith(")"):
            self.groups.append(_Group())

    def _flags(self, flags: re.Match[str]) -> None:
        on, off, closing = flags[1], flags[2] or "", flags[3]
        if "U" in on + off or (off and closing == ")"):
            raise RegexProblem(f"the flags {flags.group()!r} aren't evaluated here", late=True)
        self.position += flags.end()
        if closing == ":":
            if "m" in on + off:
                raise RegexProblem(f"the flags {flags.group()!r} aren't evaluated here", late=True)
            self.out.append(f"(?{on}{'-' + off if off else ''}:")
        elif self.out:
            raise RegexProblem(f"flags inside a pattern ({flags.group()!r}) aren't evaluated here", late=True)
        elif on:
            self.multiline = "m" in on
            self.out.append(f"(?{on})")

    def _close(self) -> None:
        if len(self.groups) == 1:
            raise RegexProblem(f"a parenthesis isn't opened in {self.pattern!r}")
        inner = self.groups.pop()
        self.position += 1
        self.out.append(")")
        self.last_repeats = inner.repeats
        self.groups[-1].repeats |= inner.repeats

    def _escape(self) -> str:
        rest = self.pattern[self.position + 1 :]
        if not rest:
            raise RegexProblem(f"a backslash ends {self.pattern!r}")
        letter = rest[0]
        if letter in "dswDSW":
            self.position += 2
            return f"[{'^' if letter.isupper() else ''}{_PERL[letter.lower()]}]"
        if letter in "bB":
            self.position += 2
            return f"(?a:\\{letter})"
        if letter in "AZz":
            self.position += 2
            if letter == "Z":
                raise RegexProblem(f"'\\Z' isn't known in {self.pattern!r}")
            return "\\A" if letter == "A" else "\\Z"
        if letter == "Q":
            end = rest.find("\\E", 1)
            quoted = rest[1:] if end < 0 else rest[1:end]
            self.position += 2 + len(quoted) + (2 if end >= 0 else 0)
            return "".join(map(re.escape, quoted))
        return self._character(letter, rest)

    def _character(self, letter: str, rest: str) -> str:
        """An escape that stands for one character, in a class too."""
        if coded := re.match(r"x([0-9A-Fa-f]{2})|x\{([0-9A-Fa-f]{1,6})\}|([0-7]{3}|0)", rest):
            code = int(coded[1] or coded[2] or coded[3], 8 if coded[3] else 16)
            self.position += 1 + coded.end()
            if code > 0x10FFFF:
                raise RegexProblem(f"{coded.group()!r} is no character in {self.pattern!r}")
            return re.escape(chr(code))
        self.position += 2
        if letter in "afnrtv":
            return "\\" + letter
        if letter in "pP":
            raise RegexProblem(f"classes of Unicode (\\{letter}) aren't evaluated here", late=True)
        if letter == "C":
            raise RegexProblem("bytes (\\C) aren't evaluated here", late=True)
        if letter.isalnum() or letter == "_" or ord(letter) > 127:
            raise RegexProblem(f"'\\{letter}' isn't known in {self.pattern!r}")
        return re.escape(letter)

    def _class(self) -> str:
        start = self.position
        self.position += 1
        negated = self.pattern[self.position : self.position + 1] == "^"
        self.position += negated
        found: list[str] = []
        while self.pattern[self.position : self.position + 1] != "]" or not found:
            if self.position >= len(self.pattern):
                raise RegexProblem(f"{self.pattern[start:]!r} isn't closed")
            found.append(self._member())
        self.position += 1
        return f"[{'^' if negated else ''}{''.join(found)}]"

    def _member(self) -> str:
        rest = self.pattern[self.position :]
        if named := re.match(r"\[:(\^?)(\w+):\]", rest):
            if named[2] not in _CLASSES:
                raise RegexProblem(f"{named.group()!r} isn't known in {self.pattern!r}")
            if named[1]:
                raise RegexProblem(f"{named.group()!r} isn't evaluated here", late=True)
            self.position += named.end()
            return _CLASSES[named[2]]
        if rest[0] == "\\" and rest[1:2] in ("d", "s", "w"):
            self.position += 2
            return _PERL[rest[1]]
        if rest[0] == "\\" and rest[1:2] in ("D", "S", "W"):
            raise RegexProblem(f"{rest[:2]!r} in a class isn't evaluated here", late=True)
        if rest[0] == "\\" and len(rest) > 1:
            return self._character(rest[1], rest[1:])
        self.position += 1
        if rest[0] == "-":
            return "-" if self._range(rest) else "\\-"
        return re.escape(rest[0])

    def _range(self, rest: str) -> bool:
        """Whether a hyphen stands between two characters."""
        before = self.pattern[self.position - 2]
        return before not in "[^" and rest[1:2] != "]"
