"""A text as sentences, and these as tokens: words, atoms, conditions and signs."""

from __future__ import annotations

import re
from itertools import pairwise

import msgspec

from couler_py.nl.offline import languages
from couler_py.nl.offline.anyway import ANYWAY
from couler_py.nl.offline.conditions import IF, UNTIL
from couler_py.nl.offline.script import SIGN, Script

_TOKEN = re.compile(
    rf"(?P<atom>{SIGN}+)|(?P<if>{IF}+)|(?P<until>{UNTIL}+)|(?P<anyway>{ANYWAY}+)|(?P<arrow>-+>|=+>|→|⇒|>>?|\|)|(?P<number>\d+(?:[.,]\d+)*)(?![\w])"
    r"|(?P<word>[^\W_][\w'’+@-]*(?:\.\w+)?)|(?P<comma>[,，、])|(?P<and>&|\+)|(?P<open>[(（\[])|(?P<close>[)）\]])|(?P<colon>[:：])|(?P<other>\S)"
)
_CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
_END = re.compile(r"(?<!\d)[.](?=\s|$)|(?<=\d)[.](?=\s|$)|\.{3}|[!?](?!\s*\))|[;。；！？]|\n+")
_NUMBERED = re.compile(r"\(\d{1,2}\)|(?<!\w)\d{1,2}\)|(?<!\w)step \d{1,2}(?:\s*[:.)-])?(?!\w)")
_SPLITS = re.compile(
    r"然后|然後|接着|接著|之后|之後|最后|最後に?|再|并且|並且|并(?=[^行])|並(?=[^行])|后(?=[\u4e00-\u9fff])|後(?=[\u4e00-\u9fff])|それから|その後|次に|て、|し、|그리고|그 다음|다음에|하고|한 후|한 다음|고,|고$|다음$"
)


class Token(msgspec.Struct, frozen=True):
    """A word, an atom or a sign, and where it stands."""

    kind: str
    text: str
    start: int
    end: int


def sentences(script: Script) -> list[tuple[int, int]]:
    """Where the sentences and the items of lists are."""
    rest = script.rest
    cuts = [0]
    for found in _END.finditer(rest):
        if found.group() == "..." and rest[found.end() : found.end() + 1].strip():
            continue
        if _abbreviated(rest, found.start()):
            continue
        cuts.append(found.end())
    for found in _NUMBERED.finditer(rest):
        cuts.append(found.start())
    cuts.append(len(rest))
    cuts.sort()
    return [(start, end) for start, end in pairwise(cuts) if rest[start:end].strip(" \t\n.!?;-*")]


def _abbreviated(rest: str, at: int) -> bool:
    return bool(re.search(r"\b(?:e\.g|i\.e|etc|vs|approx|no|incl|ca|z\.b|bzw)$", rest[:at]))


def tokens(script: Script, start: int, end: int) -> list[Token]:
    """The tokens of a part of what is left. Verbs of languages without spaces are words of their own."""
    rest = script.rest
    found_all: list[Token] = []
    for found in _TOKEN.finditer(rest, start, end):
        kind = str(found.lastgroup)
        if kind == "word" and _CJK.search(found.group()):
            found_all += _cjk(found.group(), found.start())
            continue
        name = script.text[found.start() : found.end()]
        alone = kind == "word" and len(name) == 1 and name.isupper() and name != "I"  # "run A, then B"
        found_all.append(Token(kind, name if alone else found.group(), *found.span()))
    return found_all


def _cjk(text: str, offset: int) -> list[Token]:
    found_all: list[Token] = []
    at = 0
    marks = [(*found.span(), "verb") for found in languages.cjk().finditer(text)]
    marks += [(*found.span(), "split") for found in _SPLITS.finditer(text)]
    for start, end, kind in sorted(marks):
        if start < at:
            continue
        if start > at:
            found_all.append(Token("word", text[at:start], offset + at, offset + start))
        word = text[start:end]
        if kind == "split":
            found_all.append(Token("comma", word, offset + start, offset + end))
        else:
            found_all.append(Token("word", word, offset + start, offset + end))
        at = end
    if at < len(text):
        found_all.append(Token("word", text[at:], offset + at, offset + len(text)))
    return found_all
