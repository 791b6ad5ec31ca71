"""Sentences that say which step comes behind which: "B and C run after A", "D depends on both"."""

from __future__ import annotations

import re

from couler_py.nl.offline.built import Building
from couler_py.nl.offline.clauses import Clause
from couler_py.nl.offline.step import Step

_NAME = r"(?:(?:step|task|job|stage) (?:[A-Z]|\d{1,2}|one|two|three|four|five)|[A-Z])"
_NAMES = rf"{_NAME}(?: ?(?:,|and|&|, and) {_NAME})*"
_BEHIND = re.compile(
    rf"(?P<who>(?:both )?{_NAMES}|which)(?: both| all)?(?: must| should| can| may| will| only)*(?: start| run)?s? ?(?P<way>(?:(?:runs?|starts?|comes?|goes?|executes?|run|is run|are run) )?(?:after|once|behind)|(?:depends?|waits?|relies|rely)(?: only)? (?:on|for)|needs?|requires?|follows?|(?:(?:runs?|starts?|comes?|goes?) )?before|precedes?)(?: both| all)? (?P<of>{_NAMES})(?: (?:is|are|have|has)? ?(?:both )?(?:done|finished|complete|completed))?"
)
_FIRST = re.compile(
    rf"^(?:then |next |first |finally )*(?:run |start |execute |do |call |launch )*(?P<who>{_NAMES})(?: first| next| last)?(?: in parallel| side by side| at the same time)?(?: is run| are run| runs?| starts?)?(?: first| next| last)?(?: in parallel| side by side| at the same time)?\s*\.?$"
)


def is_relation(state: Building, clause: Clause, text: str) -> bool:
    """Whether a clause only names steps by a letter or a number, and says in which order they are."""
    found = list(_BEHIND.finditer(text))
    if not found:
        return _named(state, clause, text)
    of: list[Step] = []
    for each in found:
        who = [_step(state, clause, name) for name in _listed(each["who"])] or of
        of = [_step(state, clause, name) for name in _listed(each["of"])]
        before, after = (who, of) if re.search("before|precede", each["way"]) else (of, who)
        for step in after:
            step.after = list(dict.fromkeys([*step.after, *(one.name for one in before if one is not step)]))
    state.use(clause.tokens)
    waited = {name for step in state.built.steps for name in step.after}
    state.frontier = [step.name for step in state.built.steps if step.name not in waited]
    state.base, state.grouped = list(state.frontier), False
    return True


def _named(state: Building, clause: Clause, text: str) -> bool:
    found = _FIRST.match(text)
    if found is None:
        return False
    before = list(state.frontier)
    steps = [_step(state, clause, name) for name in _listed(found["who"])]
    for step in steps:
        step.after = list(before)
    state.use(clause.tokens)
    state.frontier = [step.name for step in steps]
    return True


def _listed(text: str) -> list[str]:
    return re.findall(_NAME, text)


def _step(state: Building, clause: Clause, said: str) -> Step:
    """The step of a letter or number; a new one where there is none yet."""
    name = said.lower().replace(" ", "_")
    plain = name.rpartition("_")[2]
    known = next(
        (step for step in state.built.steps if step.name in (name, plain, f"step_{plain}", f"run_{plain}")), None
    )
    if known is not None:
        return known
    step = Step(
        state.free(name), "", name, said, clause.start, clause.end, clause.sentence, frozenset((plain,)),
        arguments={}, after=[], conditions=[], fields=[], on_failure=[],
    )  # fmt: skip
    state.built.steps.append(step)
    return step
