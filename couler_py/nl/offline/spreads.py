"""Fan-outs that are said in the middle of a clause, or by one without a verb."""

from __future__ import annotations

import re

from couler_py.nl import outline as o
from couler_py.nl.offline.built import Building
from couler_py.nl.offline.clauses import Clause
from couler_py.nl.offline.fans import listing, opened, plural
from couler_py.nl.offline.numbers import value
from couler_py.nl.offline.step import Step
from couler_py.nl.offline.things import listed, singular
from couler_py.nl.offline.tokens import Token
from couler_py.nl.offline.verbs import find_verb

_APIECE = re.compile(
    r"(?:对于?|對於?|为|為|针对|把)?\s*(?P<list>[\w.-]+(?:\s*[、,，]\s*[\w.-]+)+(?:\s*(?:和|与|與|及)\s*[\w.-]+?)?)\s*(?:(?:这|這)?[一二两兩三四五六七八九十\d]+\s*[个個]|等)?\s*(?P<noun>[\u4e00-\u9fff]{1,4}?)?\s*(?:分别|分別|各自|逐一|逐个|逐個)"
)
_OVER = re.compile(
    r"^(?:(?:then|and|next|finally|also)[\s,]+)*(?:for|with|over|on|using|in) (?:the |different |all |these |all the )*(?P<noun>[a-z][a-z-]*(?: [a-z-]+)?s)(?: of| in| =| :)* (?P<list>.+)$"
)
_IN_PLACE = re.compile(r"\b(?:each|every|all) ([a-z]+) (?:in|from|under|at|inside|of) \ue000")


def apiece(state: Building, clause: Clause) -> None:
    """A fan-out of a language without spaces: "对 a、b、c 三个城市分别…"."""
    found = _APIECE.search(state.script.rest, clause.start, clause.end + 80)
    if found is None or state.block:
        return
    things = tuple(part for part in re.split(r"\s*(?:[、,，]|和|与|與|及)\s*", found["list"]) if part)
    things = (things[0].removeprefix("对").removeprefix("對").strip(), *things[1:])
    state.script.use(*found.span())
    state.block = opened(state, "item", things, "")


def over_list(state: Building, words: list[Token], text: str) -> bool:
    """Whether a clause without a verb only says over what the next ones run: "for batch sizes of 16 and 32"."""
    found = _OVER.match(text)
    if (
        found is None
        or state.block
        or any(token.kind == "atom" for token in words)
        or find_verb(tuple(words)) is not None
    ):
        return False
    digits = re.findall(r"\d+(?:\.\d+)?", found["list"])
    numbers = re.fullmatch(r"[\d., ]*\d(?: ?,? ?and \d[\d.]*)?[ ,]*", found["list"]) is not None
    things: tuple[o.Item, ...] = (
        tuple(value(digit) for digit in digits) if numbers else listed(found["list"], whole=True)
    )
    if len(things) < 2:
        return False
    state.use(words)
    state.block = opened(state, "_".join(singular(word) for word in found["noun"].split()), things, "")
    return True


def in_place(state: Building, words: list[Token], text: str) -> None:
    """A fan-out that is said inside of a clause: "the frames of every video in gs://videos are extracted"."""
    found = _IN_PLACE.search(text)
    if (
        found is None
        or state.block
        or not re.search(r"\b(?:of|for|from|in|on) (?:each|every)\b|^(?:each|every)\b", text)
    ):
        return
    at = next(
        (
            index
            for index, token in enumerate(words)
            if token.kind == "atom" and index >= 2 and words[index - 2].text == found[1]
        ),
        None,
    )
    if at is None:
        return
    for atom in state.script.atoms_in(words[at].start, words[at].start + 1):
        state.block = listing(state, found[1], atom.value)
        state.script.use(atom.start, atom.end)
    del words[at]


def over_parts(state: Building, step: Step, text: str) -> str:
    """A fan-out over the parts that the step before gives, where a text has them done side by side."""
    last = state.built.steps[-1] if state.built.steps else None
    many = plural(last) if last is not None and last.role in ("split", "list") else ""
    if last is None or not many or many not in text.split():
        return ""
    last.gives, last.fields = "list", []
    return opened(state, singular(many), (), last.name)
