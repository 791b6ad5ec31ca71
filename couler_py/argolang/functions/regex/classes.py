"""Sets of characters in patterns."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

import msgspec

POSIX = {
    "alnum": ("09", "AZ", "az"),
    "alpha": ("AZ", "az"),
    "ascii": ("\x00\x7f",),
    "blank": ("\t\t", "  "),
    "cntrl": ("\x00\x1f", "\x7f\x7f"),
    "digit": ("09",),
    "graph": ("!~",),
    "lower": ("az",),
    "print": (" ~",),
    "punct": ("!/", ":@", "[`", "{~"),
    "space": ("\t\r", "  "),
    "upper": ("AZ",),
    "word": ("09", "AZ", "az", "__"),
    "xdigit": ("09", "AF", "af"),
}
PERL = {"d": ("09",), "s": ("\t\n", "\f\r", "  "), "w": ("09", "AZ", "az", "__")}
CATEGORIES = frozenset(("L", "Lu", "Ll", "Lt", "Lm", "Lo", "M", "Mn", "Mc", "Me", "N", "Nd", "Nl", "No")) | frozenset(
    ("Z", "Zs", "Zl", "Zp", "P", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "S", "Sm", "Sc", "Sk", "So", "C", "Cc", "Cf")
)


class Set(msgspec.Struct, frozen=True):
    """Characters: those in `ranges` (two characters each), of `categories`, and in other sets, or all but those."""

    ranges: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    inner: tuple[Set, ...] = ()
    negated: bool = False
    folded: bool = False

    def has(self, character: str) -> bool:
        """Whether a character is in the set."""
        return _has(self, character)

    def _plain(self, character: str) -> bool:
        if any(each[0] <= character <= each[1] for each in self.ranges):
            return True
        if self.categories and unicodedata.category(character).startswith(self.categories):
            return True
        return any(each.has(character) for each in self.inner)


@lru_cache(maxsize=65536)
def _has(set_: Set, character: str) -> bool:
    candidates = {character, *_cases(character)} if set_.folded else {character}
    return any(map(set_._plain, candidates)) != set_.negated


def _cases(character: str) -> tuple[str, ...]:
    lower, upper = character.lower(), character.upper()
    return tuple(each for each in (lower, upper, upper.lower(), lower.upper()) if len(each) == 1)
