"""A text as clauses: the parts that each say one step, with what stands between and around them."""

from __future__ import annotations

import re

import msgspec

from couler_py.nl.offline import lexicon
from couler_py.nl.offline.joints import command_next, does, done, is_done, noun_behind, noun_step, says_does, then_after
from couler_py.nl.offline.script import Script
from couler_py.nl.offline.starts import AND, THEN, begins_step, has_step
from couler_py.nl.offline.tokens import Token, sentences, tokens
from couler_py.nl.offline.verbs import find_verb

_BULLET = re.compile(
    r"^\s*(?:[-*•·]|\(?\d{1,2}[.)]|\(?[a-z][.)]|step \d+[:.)]?|schritt \d+[:.]?|paso \d+[:.]?|étape \d+[:.]?)\s*"
)
_ELSE = frozenset("otherwise else sonst ansonsten sinon altrimenti anders inaczej иначе annars 否则 否則".split())

_DASHES = re.compile(r" (?P<open>[—–]) [^—–\n.;]{3,120} (?P<close>[—–])(?= |,|$)")

MARKS = ("if", "until", "anyway")
"""The kinds of tokens that are no words: they stand where a condition, or what is done in any case, was said."""


class Clause(msgspec.Struct, frozen=True):
    """A part of a sentence that says one step. `then` is said before it, `sentence` counts the sentences.

    A `joined` one is in a sentence that a semicolon divides from the one before, a `branching` one in a sentence that
    a semicolon divides from the next.
    """

    tokens: tuple[Token, ...]
    sentence: int
    then: bool = False
    bullet: bool = False
    joined: bool = False
    branching: bool = False

    @property
    def start(self) -> int:
        return self.tokens[0].start

    @property
    def end(self) -> int:
        return self.tokens[-1].end

    def text(self) -> str:
        """The words, one space between them."""
        return " ".join(token.text for token in self.tokens if token.kind not in MARKS)


def clauses(script: Script) -> list[Clause]:
    """The clauses of a text, in order."""
    for dashes in _DASHES.finditer(script.rest):  # what stands between dashes is read as in brackets
        script.left[dashes.start("open")], script.left[dashes.start("close")] = "(", ")"
    found: list[Clause] = []
    for number, (start, end) in enumerate(sentences(script)):
        joined = number > 0 and script.text[:start].rstrip()[-1:] in (";", "；")
        bullet = _BULLET.match(script.rest[start:end])
        if bullet is not None:
            script.use(start, start + bullet.end())
            start += bullet.end()
        plain = Clause(
            (),
            number,
            bullet=bullet is not None,
            joined=joined,
            branching=script.text[start:end].rstrip()[-1:] in (";", "；"),
        )
        found += _of_sentence(script, start, end, plain)
    return found


def _of_sentence(script: Script, start: int, end: int, plain: Clause) -> list[Clause]:
    listed = tokens(script, start, end)
    found: list[Clause] = []
    here: list[Token] = []
    then = False
    speaks = False  # whether the sentence says what somebody, or a workflow, does: "it loads, cleans and trains"

    def close(next_then: bool) -> None:
        nonlocal here, then
        if here:
            found.append(msgspec.structs.replace(plain, tokens=tuple(here), then=then))
        here, then = [], next_then

    depth = behind = 0
    for at, token in enumerate(listed):
        if token.text == "before" and here and has_step(here) and done(listed, at + 1):
            script.use(token.start, token.end)
            close(True)
            continue
        if at < behind:
            continue
        if token.text in ("after", "upon", "following") and here and has_step(here):
            behind = noun_behind(listed, at + 1)
            if behind:
                later, here = here, [*listed[at:behind]]
                close(True)
                here = later
                script.use(token.start, token.end)
                continue
        depth += (token.kind == "open") - (token.kind == "close")
        if token.kind == "arrow" or (token.kind == "other" and token.text in "•;"):
            close(True)
            continue
        if token.kind == "word" and token.text in THEN and depth <= 0:
            script.use(token.start, token.end)
            close(True)
            continue
        splits = token.kind in ("comma", "and", "colon") or (
            token.kind == "word" and token.text in (*AND, "but", "or", "als", "who", "which")
        )
        if splits and depth <= 0 and here and (begins_step(listed, at + 1, here) or (speaks and does(listed, at + 1))):
            if token.kind == "colon":
                here.append(token)
            either = token.text == "or" and any(each.text == "either" for each in here)
            speaks = speaks or says_does(here)
            close((then and not has_step(here)) or then_after(listed, at + 1))
            if either:  # "either deploy it or collect more"
                here.append(Token("word", "otherwise", token.start, token.end))
            if token.kind == "word" and token.text in AND:
                script.use(token.start, token.end)
            continue
        if splits and depth <= 0 and here and command_next(script, listed, at, here):
            close(then or then_after(listed, at + 1))
            continue
        if splits and depth <= 0 and here and noun_step(listed, at + 1, here):
            close(False)
            continue
        if token.text in ("it", "they") and here and has_step(here) and is_done(listed, at + 1):
            close(False)
        if token.kind == "if" and here and has_step(here) and begins_step(listed, at + 1, here, after_if=True):
            close(False)
        if token.kind == "word" and token.text in _ELSE and here:
            close(False)
        here.append(token)
    close(False)
    return found


def paired(clause: Clause) -> list[Clause]:
    """A clause as several, where its verb has things of several places: "read clicks from A and items from B"."""
    found = find_verb(clause.tokens)
    if found is None:
        return [clause]
    at = found[0] + found[1]
    head, rest = clause.tokens[:at], clause.tokens[at:]
    cuts = [
        index
        for index, token in enumerate(rest)
        if (token.kind in ("comma", "and") or token.text in lexicon.ITEM_AND)
        and index > 0
        and rest[index - 1].kind == "atom"
        and _place_follows(rest[index + 1 :])
    ]
    if not cuts or not any(token.text in ("from", "in", "of", "de", "von", "aus", "da") for token in rest[: cuts[0]]):
        return [clause]
    starts, ends = [0, *(cut + 1 for cut in cuts)], [*cuts, len(rest)]
    return [
        msgspec.structs.replace(clause, tokens=(*head, *rest[start:end]))
        for start, end in zip(starts, ends, strict=True)
    ]


def _place_follows(rest: tuple[Token, ...]) -> bool:
    """Whether a thing and its place come next."""
    for words, token in enumerate(rest[:7]):
        if token.kind == "atom":
            return words >= 2
        if token.kind != "word":
            return False
    return False
