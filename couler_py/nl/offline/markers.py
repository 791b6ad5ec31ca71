"""Clauses that say something of the steps around them, and are no step."""

from __future__ import annotations

import re

from couler_py.nl.offline import fans, groups, lexicon, loops
from couler_py.nl.offline.built import Building
from couler_py.nl.offline.clauses import Clause
from couler_py.nl.offline.things import listed, singular
from couler_py.nl.offline.tokens import Token
from couler_py.nl.offline.verbs import find_verb
from couler_py.nl.offline.wording import says_nothing

_AT_SAME = re.compile(
    r"^(?:,|and|but)*\s*(?:at the same time|meanwhile|in the meantime|in parallel(?: to (?:that|this|it))?|simultaneously|concurrently|gleichzeitig|parallel dazu|al mismo tiempo|en paralelo|en même temps|en parallèle|nel frattempo|in parallelo|ao mesmo tempo|同时|同時に)\s*,?\s*$"
)
_DEFINED = re.compile(
    r"^(?:(?:the|our|my|these|we have|there are|have|with)\s+)*(?:\w+ )?(?P<noun>[a-z]+s)\s*(?::|=|are)\s*(?P<list>.+)$"
)
_NAMED_PLACE = re.compile(r"\b(?:table|topic|bucket|database|collection|queue|index)\s+([a-z][\w.-]*\w)")
_ABOUT = re.compile(
    r"^(?:the )?(?P<noun>[a-z-]+)(?: step| job| task| part)? (?:needs?|requires?|gets?|uses?|takes|has|should (?:be|have|get)|must (?:be|have)|may (?:be|have))\b(?P<rest>.*)$"
)


def is_marker(
    state: Building, clause: Clause, words: list[Token], text: str, marks: list[Token], following: Clause | None
) -> bool:
    """What is said about the steps around, and is no step itself."""
    verb = find_verb(tuple(words))
    atoms = [
        atom.value
        for token in words
        if token.kind == "atom"
        for atom in state.script.atoms_in(token.start, token.start + 1)
    ]
    ends = [mark for mark in marks if mark.kind == "if"]
    if ends and state.looping is not None and verb is not None and verb[2] == "stop":
        state.use(words)
        state.condition = []
        loops.close(state, state.conditions[ends[0].start], None, body=state.built.steps[state.looping :])
        state.looping = None
        return True
    if _AT_SAME.match(text):
        state.use(words)
        if state.built.steps:
            groups.meanwhile(state, clause)
        return True
    if (
        text.startswith(("these", "those", "both", "all ", "the two", "the three", "the first", "the last", "they"))
        and groups.PARALLEL.search(text)
        and not re.search(r"\b(?:branch|path|track|arm|line|side|halve)(?:e?s)?\b", text)
        and (verb is None or verb[2] in ("run", "use"))
    ):
        state.use(words)
        groups.regroup(state, text)
        return True
    if says_nothing(text) and not marks:
        state.sources += atoms
        named = _NAMED_PLACE.search(state.script.rest, clause.start, clause.end)
        if named is not None:
            state.sources.append(state.script.text[slice(*named.span(1))])
            state.script.use(clause.start, clause.end)
        state.use(token for token in words if token.kind == "atom")
        return True
    defined = _DEFINED.match(re.sub("\ue000", "", text)) if verb is None else None
    if defined is not None and (things := listed(defined["list"], whole=True)):
        state.lists[singular(defined["noun"])] = things
        state.use(words)
        return True
    if verb is not None and verb[3] in loops.REPEAT:
        untils = [mark for mark in marks if mark.kind == "until"]
        if untils:
            state.use(words)
            loops.close(state, state.conditions[untils[0].start], None, text)
            return True
    about = _ABOUT.match(text)
    if about is not None and not marks and _only_about(state, about):
        state.use(words)
        return True
    if re.fullmatch(r"(?:do )?(?:the following )?in parallel :", text):
        state.use(words)
        groups.divide(state, state.frontier)
        if following is not None and following.sentence == clause.sentence:
            state.grouped, state.base = not following.branching, list(state.frontier)
        return True
    if verb is not None and verb[3] in loops.REPEAT and len(words) <= 4 and words[-1].kind == "colon":
        state.use(words)
        state.looping = len(state.built.steps)
        return True
    heading = words[-1].kind == "colon" or (any(token.kind == "colon" for token in words[:4]) and verb is None)
    bare = (
        verb is None
        or verb[2] in ("run", "use", "repeat")
        or (len(words) <= 4 and not lexicon.DETERMINERS & {token.text for token in words})
    )
    apiece = (
        fans.EACH_END.search(text.rstrip(" :"))
        if heading and words[-1].kind == "colon" and not fans.EACH.match(text)
        else None
    )
    things = listed(apiece["list"] or "", whole=True) if apiece is not None and not state.block else ()
    if apiece is not None and len(things) > 1:  # "sales per region (us, eu):"
        state.use(words)
        state.block = fans.opened(state, apiece["noun"].split()[0], things, "")
        return True
    inner = next((at for at, token in enumerate(words) if token.kind == "colon"), len(words) - 1)
    if heading and inner < len(words) - 1:
        return False
    if heading and not fans.EACH.match(text) and not state.built.steps and not atoms and bare:
        state.use(words)
        state.built.title = state.built.title or text.split(":")[0].strip()
        return True
    return False


def _only_about(state: Building, about: re.Match[str]) -> bool:
    """Whether a clause says of a step that is there what it needs, and nothing else: "training needs" (4 GPUs)."""
    found = lexicon.verb(about["noun"])
    if found is None or not any(step.role == found[0] for step in state.built.steps):
        return False
    rest = set(re.findall(r"[a-z]+", about["rest"])) - lexicon.FILLERS - lexicon.AUXILIARIES
    return not rest - {"retried", "cached", "repeated", "ram", "memory", "least", "most"}


def without_heading(state: Building, words: list[Token]) -> list[Token]:
    """A clause without the title before its colon: "Diamond: A"."""
    at = next((at for at, token in enumerate(words[:4]) if token.kind == "colon"), 0)
    head = words[:at]
    if state.built.steps or not head or at == len(words) - 1 or any(token.kind != "word" for token in head):
        return words
    text = " ".join(token.text for token in head)
    if find_verb(tuple(words)) is not None or fans.EACH.match(text) or groups.PARALLEL.search(text):
        return words
    if head[-1].text.endswith("s"):  # "regions: us, eu"
        return words
    state.use(head)
    state.built.title = state.built.title or text
    return words[at + 1 :]
