"""Clauses as steps that hang together: order, branches, fan-outs and loops."""

from __future__ import annotations

import re
from collections import Counter

import msgspec

from couler_py.nl.offline import (
    branches,
    fans,
    groups,
    lexicon,
    loops,
    markers,
    mentions,
    placing,
    relations,
    spreads,
    sweeps,
)
from couler_py.nl.offline import conditions as c
from couler_py.nl.offline.built import Building, Built, without
from couler_py.nl.offline.clauses import MARKS, Clause, paired
from couler_py.nl.offline.clauses import clauses as split
from couler_py.nl.offline.numbers import LENGTH, length
from couler_py.nl.offline.script import Script
from couler_py.nl.offline.step import Step, give
from couler_py.nl.offline.steps import step_of
from couler_py.nl.offline.tokens import Token
from couler_py.nl.offline.verbs import find_verb
from couler_py.nl.offline.wording import says_nothing, wanting

_GATHER = frozenset("join aggregate compare select".split())
_SUMS = frozenset("sum average total tally count collect".split())
_ALL_OF = re.compile(
    r"\b(?:all|everything|results?|both|together|winner|best|counts|outputs|scores|them all|the models|parts|pieces|regions|countries)\b"
)
_WAIT = re.compile(
    rf"\b(?:give|leave|let) (?:it|them|that|this|the [a-z]+)(?: [a-z]+)?(?: for)? (?P<length3>{LENGTH})|\bwait(?:s|ing)?\b[^.;]*?(?P<length>{LENGTH})|\b(?:sleep|pause)(?:s)?\b[^.;]*?(?P<length2>{LENGTH})"
)
_BEFORE_ALL = re.compile(r"\b(?:before|beforehand|before that|vorher|antes)\b(?=\s*(?:[.;\n]|$))")
_NO_HEAD = frozenset(
    "in at on by of for with from to into if when where whether while as about per during over".split()
)


def build(script: Script, conditions: dict[int, c.Clause]) -> Built:
    """What a text says, once its conditions were read and stand in it as signs."""
    state = Building(script, conditions, loops.limits(script) if conditions else {})
    clauses = split(script)
    many = Counter(clause.sentence for clause in clauses)
    state.single = {sentence for sentence, clauses_ in many.items() if clauses_ == 1}
    for at, clause in enumerate(clauses):
        following = clauses[at + 1] if at + 1 < len(clauses) else None
        _clause(state, _plain(state, clause), following)
    for step, condition in state.later.values():
        state.grouped, state.block, state.failed = False, "", []
        placing.place(state, step, list(state.frontier), clauses[-1])
        branches.guard(state, step, condition)
    groups.unite(state)
    if state.sources and state.built.steps:  # said at the end: "The images are in s3://…"
        _add_sources(state, state.built.steps[0])
    _before(state)
    return state.built


def _before(state: Building) -> None:
    """A sentence that ends with "before" speaks of what comes before all others."""
    steps = state.built.steps
    for found in _BEFORE_ALL.finditer(state.script.rest):
        mine = [step for step in steps if step.start < found.start() and step.end > found.start() - 3]
        if not mine:
            continue
        mine = [step for step in steps if step.sentence == mine[0].sentence]
        others = [step for step in steps if step not in mine]
        if not others or any(step.start < min(each.start for each in others) for step in mine):
            continue
        for step in others:
            step.after = step.after or [mine[-1].name]
        mine[0].after = []
        state.script.use(*found.span())


def _plain(state: Building, clause: Clause) -> Clause:
    """The clause without what only says that somebody wants it."""
    text = " ".join(token.text for token in clause.tokens)
    skip = wanting(text)
    if not skip:
        return clause
    kept, at = [], 0
    for token in clause.tokens:
        if at >= skip or token.kind in ("atom", "if", "until"):
            kept.append(token)
        at += len(token.text) + 1
    if not kept or (find_verb(tuple(kept)) is None and find_verb(clause.tokens) is not None):
        return clause
    for token in clause.tokens:
        if token not in kept:
            state.script.use(token.start, token.end)
    return msgspec.structs.replace(clause, tokens=tuple(kept))


def _clause(state: Building, clause: Clause, following: Clause | None) -> None:
    words = [token for token in clause.tokens if token.kind not in MARKS]
    marks = [token for token in clause.tokens if token.kind in ("if", "until")]
    text = " ".join(token.text for token in words)
    if clause.sentence != state.sentence:
        _sentence(state, clause, text)
    if clause.then and not state.condition and not state.block:
        state.grouped = False
        if state.region is not None and state.region.short:
            groups.unite(state)
    turned = branches.ELSE.match(text)
    if turned is not None:
        branches.otherwise(state)
        words = without(words, turned.end())
        text = " ".join(token.text for token in words)
        state.script.use(clause.start, clause.start + 4)
    leading = [mark for mark in marks if not words or mark.start < _first_word(words)]
    for mark in leading:
        if mark.kind == "if":
            branches.begin(state, state.conditions[mark.start], clause)
    anyway = any(token.kind == "anyway" for token in clause.tokens)
    if not any(token.kind in ("word", "atom", "number") for token in words):
        for mark in marks:
            if mark.kind == "until":
                loops.close(state, state.conditions[mark.start], None)
        state.anyway = state.anyway or anyway
        return
    words = markers.without_heading(state, words)
    text = " ".join(token.text for token in words)
    said = groups.branch(state, text)
    if said:
        state.use(words[: len(words) - len(without(words, said))])
        words = without(words, said)
        text = " ".join(token.text for token in words)
    if markers.is_marker(state, clause, words, text, marks, following):
        return
    if not marks and relations.is_relation(state, clause, text):
        return
    if not marks and mentions.is_mention(state, clause, words, text, following):
        return
    known = len(state.built.steps)
    if spreads.over_list(state, words, text):
        return
    if re.search("分别|分別|各自|逐", text):
        spreads.apiece(state, clause)
    each = fans.EACH.match(text)
    if each is None:
        spreads.in_place(state, words, text)
        text = " ".join(token.text for token in words)
    if each is not None:
        words = fans.begin(state, words, text, each, clause)
        if not any(token.kind in ("word",) for token in words):
            return
        text = " ".join(token.text for token in words)
    plain = msgspec.structs.replace(clause, tokens=tuple(sorted([*words, *marks], key=lambda token: token.start)))
    before = list(state.frontier)
    beside = not marks and mentions.is_beside(words, text)
    _steps(state, plain, text, [mark for mark in marks if mark not in leading], following)
    if anyway or state.anyway:
        placing.anyway(state, state.built.steps[known:], before)
    elif beside and len(state.built.steps) > known:
        mentions.beside(state, state.built.steps[known])


def _sentence(state: Building, clause: Clause, text: str) -> None:
    state.sentence = clause.sentence
    state.anyway = False
    if state.region is not None and groups.goes_on(clause, text):
        if clause.bullet or clause.joined:
            groups.turn(state)
    else:
        groups.unite(state)
    if state.branches:
        state.frontier = list(dict.fromkeys([*state.frontier, *state.branches]))
    state.branches = []
    state.condition, state.failed, state.last_on = [], [], state.last_on
    if not clause.bullet:
        state.block = ""
    state.grouped = False
    state.base = list(state.frontier)


def _steps(state: Building, clause: Clause, text: str, trailing: list[Token], following: Clause | None) -> None:
    """One step; or several beside each other, where a verb has things of several places."""
    parts = paired(clause)
    if len(parts) < 2 or state.block:
        _step(state, clause, text, trailing, following)
        return
    before, names = list(state.frontier), []
    for part in parts:
        state.frontier = list(before)
        _step(state, part, " ".join(token.text for token in part.tokens), trailing, following)
        names += state.frontier
    state.frontier = names


def _step(state: Building, clause: Clause, text: str, trailing: list[Token], following: Clause | None) -> None:
    verb = find_verb(clause.tokens)
    before_others = following is not None and following.then and following.sentence == clause.sentence
    commanded = any(
        atom.kind == "command" and " " in atom.value
        for token in clause.tokens
        if token.kind == "atom"
        for atom in state.script.atoms_in(token.start, token.start + 1)
    )
    if verb is None and not commanded and not _may_stand_alone(state, clause, text, first=before_others):
        state.sources += [
            atom.value
            for token in clause.tokens
            if token.kind == "atom"
            for atom in state.script.atoms_in(token.start, token.start + 1)
        ]
        state.use(token for token in clause.tokens if token.kind == "atom")
        for mark in trailing:
            if mark.kind == "until":
                loops.close(state, state.conditions[mark.start], None)
        return
    end_each = fans.EACH_END.search(re.sub("[\ue001\ue002]+", "", text).rstrip(" .,;")) if not state.block else None
    step = step_of(state.script, clause, verb)
    if step is None or (verb is not None and verb[3] == "stop" and len(clause.tokens) <= 2):
        return
    if not state.block and not step.items:
        sweeps.numbered(state.script, step)
    conditions = [state.conditions[mark.start] for mark in trailing if mark.kind == "if"]
    if conditions and not state.built.steps:
        state.later[step.lemma] = (step, conditions[0])
        return
    if step.lemma in state.later and not conditions:
        conditions = [state.later.pop(step.lemma)[1]]
    _add_sources(state, step)
    _waiting(state, step, text)
    inside_each = re.search(r"\b(?:each|every one|each of them|each one|all of them)\b", text) is not None
    parallel = groups.PARALLEL.search(text) is not None
    gathers = _ALL_OF.search(text) or step.role in ("select", "compare") or (clause.then and step.role == "join")
    if step.lemma in _SUMS and re.search(r"\b(?:them|these|results?)\b", text):
        gathers = True
    if (
        state.block
        and (step.role in _GATHER or step.lemma in _SUMS)
        and gathers
        and not re.search(r"\b(?:each|every|per)\b", text)
    ):
        state.block = ""
    if end_each is not None and not state.block:
        fans.trailing(state, step, end_each)
    elif not state.block and inside_each and not step.items and not step.count:
        block = fans.block_before(state, text)
        if block:
            state.block = block
    elif not state.block and parallel and not step.items and not step.count:
        state.block = spreads.over_parts(state, step, text)
    before = state.entry if state.condition and branches.opens(state) else state.frontier
    deps = list(state.base) if state.grouped or (parallel and groups.joins(state, clause, step)) else list(before)
    placing.place(state, step, deps, clause)
    if conditions:
        for each in conditions:
            branches.guard(state, step, each)
    if state.condition and not state.failed:
        step.conditions += [each for each in state.condition if each not in step.conditions]
        branches.branch_on(state, step)
    for mark in trailing:
        if mark.kind == "until":
            loops.close(state, state.conditions[mark.start], step)


def _may_stand_alone(state: Building, clause: Clause, text: str, *, first: bool) -> bool:
    words = [token.text for token in clause.tokens if token.kind == "word" and token.text not in lexicon.FILLERS]
    if (
        not words
        or len(words) > 6
        or says_nothing(text)
        or text.strip(" .!?") in ("etc", "no", "yes", "ok", "thanks", "whole thing")
    ):
        return False
    if "?" in text or any(
        word in ("thanks", "thank", "hello", "pipeline", "workflow", "whole", "sorry", "cheers", "job")
        for word in words
    ):
        return False
    head = next(token for token in clause.tokens if token.kind == "word")
    if head.text in (
        "i",
        "we",
        "you",
        "it",
        "that",
        "this",
        "there",
        "because",
        "since",
        "so",
        "what",
        "how",
        "why",
        "the",
    ):
        return False
    if first or clause.then or clause.bullet:
        return True
    if clause.sentence in state.single or head.text in _NO_HEAD:
        return False
    return bool(state.built.steps) and len(words) <= 4


def _add_sources(state: Building, step: Step) -> None:
    if state.sources and not any(name.startswith("source") for name in step.arguments):
        for source in state.sources:
            give(step, "source", source)
        state.sources = []


def _waiting(state: Building, step: Step, text: str) -> None:
    said = state.script.rest[step.start : step.end]
    waits = _WAIT.search(said)
    if waits is not None and step.role == "wait":
        step.wait = length(waits["length"] or waits["length2"] or waits["length3"])
        state.script.use(step.start + waits.start(), step.start + waits.end())


def _first_word(words: list[Token]) -> int:
    found = [
        token.start
        for token in words
        if token.kind in ("word", "atom", "number") and token.text not in ("and", "but", "only", "then", "to", "then,")
    ]
    return found[0] if found else words[-1].end
