"""Clauses that speak of a step again, to say what comes behind or beside it: "once trained, …", "while it is built, …"."""

from __future__ import annotations

import re

from couler_py.nl.offline import groups, lexicon
from couler_py.nl.offline.built import Building
from couler_py.nl.offline.clauses import Clause
from couler_py.nl.offline.step import Step
from couler_py.nl.offline.tokens import Token
from couler_py.nl.offline.verbs import find_verb

_BEHIND = re.compile(
    r"^(?:, |and |but |then |only )*(?:once|after|when|as soon as|having|upon|following|now that|if)\b"
)
_DONE = re.compile(
    r"^(?:and |but |then |only )*(?:once|after|when|as soon as|now that) (?:(?:this|that|it|they|everything|all|both|these|those|all of (?:this|that|them|these)|the [a-z]+|each|all [a-z]+) )?(?:of (?:them|these|it) )?(?:is |are |has |have |been |was |were )*(?:all )?(?:done|finished|complete|completed|ready|over|through|in place|there)\b[\s,:]*$"
)
_BESIDE = re.compile(r"^(?:and |but |then )*(?:while|whilst|during)\b")
_DOING = ("ing", "ion", "ment", "al", "up")


def is_mention(state: Building, clause: Clause, words: list[Token], text: str, following: Clause | None) -> bool:
    """Whether a clause only says behind what the next one comes."""
    if following is None or following.sentence != clause.sentence:
        return False
    verb = find_verb(tuple(words))
    if _BESIDE.match(text) and verb is not None and words[verb[0]].text.endswith(_DOING):
        step = _step_of(state, verb)
        if step is not None:
            state.use(words)
            beside(state, step)
            return True
        return False
    if state.built.steps and _DONE.match(text):
        state.use(words)
        state.grouped = False
        return True
    if verb is None or not _BEHIND.match(text) or any(token.kind == "atom" for token in words):
        return False
    if words[verb[0]].text == verb[3] or _step_of(state, verb) is None:
        return False
    state.use(words)
    state.grouped = False
    return True


def is_beside(words: list[Token], text: str) -> bool:
    """Whether a clause says what is done meanwhile: "while the model is being trained"."""
    verb = find_verb(tuple(words))
    if _BESIDE.match(text) is None or verb is None:
        return False
    return words[verb[0]].text.endswith(_DOING) or "being" in text.split()


def beside(state: Building, step: Step) -> None:
    """Let what follows stand beside a step and all that comes behind it."""
    ends = list(state.frontier)
    groups.divide(state, step.after)
    assert state.region is not None
    state.region.ends, state.region.short = ends, True


def _step_of(state: Building, verb: tuple[int, int, str, str]) -> Step | None:
    """The last step of a verb: of its lemma, else of its role."""
    steps = [step for step in reversed(state.built.steps) if not step.on_failure]
    same = next((step for step in steps if step.lemma == verb[3]), None)
    return same or next((step for step in steps if step.role == verb[2] and verb[2] in lexicon.LIFE), None)
