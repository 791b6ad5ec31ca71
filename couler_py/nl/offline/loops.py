"""Loops: the steps before, again until a condition holds."""

from __future__ import annotations

import re

import msgspec

from couler_py.nl import outline as o
from couler_py.nl.offline import branches, lexicon
from couler_py.nl.offline import conditions as c
from couler_py.nl.offline.built import Building
from couler_py.nl.offline.numbers import COUNT, count
from couler_py.nl.offline.script import Script
from couler_py.nl.offline.step import Step

_MOST = re.compile(
    rf"\(?\s*,?\s*(?:but |and |or )?(?:after )?(?P<n2>{COUNT}) (?:rounds?|times|iterations?|loops?|cycles?|tries|attempts?) (?:at (?:the )?(?:very )?most|max(?:imum)?|tops)|\(?\s*,?\s*or after (?P<n3>{COUNT}) (?:rounds?|times|iterations?|loops?|cycles?|tries|attempts?)|\(?\s*,?\s*(?:but |and )?(?:at most|max(?:imum|\.)?(?: of)?|up to|no more than|not more than|for at most|höchstens|como máximo|au plus|al massimo|no máximo|maximal|最多)\s*(?P<n>{COUNT})\s*(?:rounds?|times?|iterations?|loops?|cycles?|repetitions?|tries|attempts?|passes|mal|durchläufe\w*|runden|veces|fois|volte|vezes|次|轮|回)\s*\)?"
)
REPEAT = frozenset("repeat loop iterate".split())
_PRODUCERS = frozenset("train finetune tune try label transform generate flip run".split())


def limits(script: Script) -> dict[int, int]:
    """Where a text says how often something is repeated at most, and how often; it is taken out."""
    found_all = {}
    for found in script.find(_MOST):
        script.take(*found.span())
        found_all[found.start()] = count(found["n"] or found["n2"] or found["n3"])
    return found_all


def close(
    state: Building, clause: c.Clause, step: Step | None, text: str = "", *, body: list[Step] | None = None
) -> None:
    """The steps before are repeated until a condition holds."""
    body = _body(state, step, text) if body is None else body
    if not body:
        return
    giver = branches.giver_of(state, clause, body)
    assert giver is not None
    if giver.block or any(state.built.blocks[each.block].kind == "loop" for each in body if each.block):
        return
    name = state.free("repeat")
    condition = branches.compare(state, clause, giver)
    most = [many for at, many in state.most.items() if at > body[0].start - 1]
    state.built.blocks[name] = o.Block(name, "loop", most=min(most[0], 1000) if most else 50)
    state.built.untils[name] = condition
    if not most:
        state.built.assumptions.append(f"{name} ends after 50 rounds at the latest: the text names no limit")
    for each in body:
        if each.block:
            state.built.blocks[each.block] = msgspec.structs.replace(state.built.blocks[each.block], inside=name)
        else:
            each.block = name


def _body(state: Building, step: Step | None, text: str) -> list[Step]:
    steps = [each for each in state.built.steps if not each.on_failure]
    if not steps:
        return []
    if re.search(r"\b(?:all of|all|everything)\b.*\b(?:this|that|it|everything|again)\b|\beverything\b", text):
        return steps
    many = re.search(rf"\b(?:all|these|those|the last|last|both)?\s*({COUNT}|both)\b", text) if text else None
    if many is not None and (many[1] == "both" or count(many[1]) > 1):
        number = 2 if many[1] == "both" else count(many[1])
        return steps[-number:]
    if text and (named := re.findall(r"[a-z]+", text)):
        lemmas = {found[1] for word in named if (found := lexicon.verb(word)) is not None}
        spoken = [each for each in steps if each.lemma in lemmas and each.lemma not in REPEAT]
        if spoken:
            return steps[steps.index(spoken[0]) :]
    last = steps[-1].sentence
    here = [each for each in steps if each.sentence == last]
    if (
        step is None
        and text
        and len(here) == 1
        and len({each.sentence for each in steps}) == len(steps)
        and len(steps) > 2
    ):
        here = steps
    first = next((each for each in here if each.role in _PRODUCERS), here[-1])
    return here[here.index(first) :]
