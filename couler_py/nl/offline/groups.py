"""Steps beside each other: what "in parallel" speaks of."""

from __future__ import annotations

import re

from couler_py.nl.offline.built import Building, Region
from couler_py.nl.offline.clauses import Clause
from couler_py.nl.offline.numbers import COUNT, count
from couler_py.nl.offline.step import Step

PARALLEL = re.compile(
    r"\bin parallel\b|\bparallel\b!?|\bconcurrently\b|\bsimultaneously\b|\bat the same time\b|\bat once\b|\bmeanwhile\b|\bin the meantime\b|\bside by side\b|\bindependently\b|\bgleichzeitig\b|\bparallel dazu\b|\ben paralelo\b|\ben parallèle\b|\bin parallelo\b|\bem paralelo\b|\bparallelt\b|\brównolegle\b|\bпараллельно\b|\bparalel\b|\btegelijk\w*\b|并行|並行|同时|同時|並列|병렬|동시에"
)


def joins(state: Building, clause: Clause, step: Step) -> bool:
    """Whether "in parallel" speaks of the steps of the sentence so far, too."""
    if step.items or step.count or state.block:
        return False
    here = [each for each in state.built.steps if each.sentence == clause.sentence]
    first = next((token for token in clause.tokens if token.kind == "word"), None)
    if first is not None and PARALLEL.match(" ".join(token.text for token in clause.tokens[:3])):
        state.grouped = True
        state.base = list(state.frontier)
        return True
    if not here:
        return False
    previous = here[-1]
    if clause.then or _SPEAKS_OF.search(" ".join(token.text for token in clause.tokens)):
        return False
    group = [previous]
    same = [each for each in here if each.lemma == step.lemma]
    if len(same) > 1 and same == here[-len(same) :]:
        group = same
    for each in reversed(here[:-1]):  # "lint, test and build in parallel": verbs alone are one list
        if len(each.text.split()) > 1 or len(group[0].text.split()) > 1:
            break
        group.insert(0, each)
    state.base = list(group[0].after)
    for each in group:
        each.after = list(state.base)
    state.frontier = [each.name for each in group]
    return True


def regroup(state: Building, text: str) -> None:
    """The last steps stand beside each other, not one behind the other."""
    found = re.search(rf"\b({COUNT})\b", text)
    many = count(found[1]) if found is not None else 2
    steps = [step for step in state.built.steps if not step.on_failure]
    if text.startswith("the first") and len(steps) > many > 1:
        for step in steps[1:many]:
            step.after = list(steps[0].after)
        steps[many].after = [step.name for step in steps[:many]]
        return
    here = steps[-many:]
    if len(here) < 2:
        return
    for step in here[1:]:
        step.after = list(here[0].after)
    state.frontier = [step.name for step in here]
    state.base = list(here[0].after)


_SPEAKS_OF = re.compile(r"\b(?:it|them|the (?:result|results|best|winner|output))\b")
_FIRST = re.compile(
    r"^(?:and |then )*(?:on the one hand|(?:the |in the |on the )?(?:one|first) (?:branch|path|track|arm|line|part|side|half|thread)|branch (?:a|1|one))\b[\s:,]*(?:is to |should |will |must )?"
)
_NEXT = re.compile(
    r"^(?:and |while |whereas |but )*(?:on the other hand|(?:the |in the |on the |in an)?(?:other|another|second|third|fourth)(?: (?:branch|path|track|arm|line|part|side|half|thread|one))?(?= )|branch (?:b|c|d|2|3|4|two|three|four))\b[\s:,]*(?:is to |should |will |must )?"
)


def goes_on(clause: Clause, text: str) -> bool:
    """Whether a sentence goes on with the branches at hand."""
    return clause.bullet or clause.joined or _NEXT.match(text) is not None


def divide(state: Building, base: list[str]) -> None:
    """Begin branches side by side, each behind `base`."""
    state.region = Region(list(base))
    state.frontier, state.grouped = list(base), False


def meanwhile(state: Building, clause: Clause) -> None:
    """Begin a branch beside the step before; at the beginning of a sentence, beside all steps of the one before."""
    last = state.built.steps[-1]
    beside = [step for step in state.built.steps if step.sentence == last.sentence and not step.on_failure]
    first = last if last.sentence == clause.sentence or not beside else beside[0]
    ends = list(state.frontier)
    divide(state, first.after)
    assert state.region is not None
    state.region.ends, state.region.short = ends, last.sentence == clause.sentence


def turn(state: Building) -> None:
    """Begin the next of the branches."""
    assert state.region is not None
    state.region.ends += [name for name in state.frontier if name not in state.region.base]
    state.frontier, state.grouped = list(state.region.base), False


def unite(state: Building) -> None:
    """End the branches: what comes next waits for all of them."""
    if state.region is None:
        return
    turn(state)
    state.frontier = list(dict.fromkeys(state.region.ends)) or list(state.region.base)
    state.base, state.region = list(state.frontier), None


def branch(state: Building, text: str) -> int:
    """How many signs of a clause say that it begins a branch: "one branch …", "the other …"; it is begun."""
    found = _FIRST.match(text)
    if found is not None and state.region is None:
        divide(state, state.frontier)
        return found.end()
    found = _NEXT.match(text)
    if found is not None and state.region is not None:
        turn(state)
        return found.end()
    return 0
