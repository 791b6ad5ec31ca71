"""One clause as a step: its verb, its things, where its data comes from and goes to."""

from __future__ import annotations

import re

from couler_py.nl.offline import languages, lexicon
from couler_py.nl.offline.arguments import GENERIC, PLACES, arguments
from couler_py.nl.offline.clauses import Clause
from couler_py.nl.offline.script import Script
from couler_py.nl.offline.step import Step
from couler_py.nl.offline.things import HOLLOW, listed, of_many, spoken_of
from couler_py.nl.offline.tokens import Token
from couler_py.nl.offline.verbs import find_verb
from couler_py.nl.words import name_of

_PLAIN = {"rm": "remove", "mail": "email"}
_DIRT = frozenset(
    "duplicates duplicate outliers outlier nulls null nans missing empty invalid rows columns stopwords stop bots noise spam punctuation html whitespace incomplete broken bad".split()
)
_ALONE = frozenset("data result results".split())


def step_of(script: Script, clause: Clause, verb: tuple[int, int, str, str] | None) -> Step | None:
    """The step that a clause says; None where it has no word for one."""
    given = clause.tokens
    if verb is None:
        return _commanded(script, clause) or _unnamed(script, clause)
    at, size, role, lemma = verb
    objects, _ = _objects(given, at + size)
    if not objects:
        objects = _subject(given, at)
    if role in ("run", "try", "use") or lemma in GENERIC:
        role = _role_of(objects) or role
    if role == "delete" and any(word in _DIRT for word in objects):
        role = "clean"
    if lemma in ("compute", "calculate", "determine") and re.fullmatch(lexicon.METRICS, " ".join(objects)):
        role = "evaluate"
    atoms = [atom for token in given if token.kind == "atom" for atom in script.atoms_in(token.start, token.start + 1)]
    english = (
        lexicon.verb(given[at].text) is not None
        or lemma != role
        or (given[at].text.isascii() and languages.foreign(given[at].text) is None)
    )
    found = Step(
        name="",
        role=role,
        lemma=lemma,
        text=_said(script, clause),
        start=clause.start,
        end=clause.end,
        sentence=clause.sentence,
        words=frozenset(token.text for token in given if token.kind == "word"),
        gives=lexicon.gives(role),
        after=[],
    )
    arguments(script, found, given, atoms)
    of_many(found, given, at + size)
    if not found.items and not found.count:
        spoken_of(found, given, at)
    naming = [] if not english else [word for word in objects if word not in _ALONE or len(objects) > 1]
    if found.items:
        naming = [word for word in naming if not any(word in str(item).split() for item in found.items)]
    if found.command and not naming:
        naming = re.findall(r"[a-z]\w+", found.command.lower())[:2]
    found.name = name_of("_".join([_PLAIN.get(lemma, lemma), *naming[:3]]), role)
    if found.name == "step":
        found.name = role
    _use(script, given, several=bool(found.items) or at > 2, head=at)
    return found


def _use(script: Script, given: tuple[Token, ...], *, several: bool = False, head: int = 0) -> None:
    """Take note of the words of a step; what stands behind a comma and is no thing of a list, isn't of it."""
    apart = False
    for at, token in enumerate(given):
        if token.kind in ("atom", "number", "open"):
            apart = False
        elif token.kind == "comma" and not several and at > head:
            apart = True
        if not apart or token.text in lexicon.FILLERS:
            script.use(token.start, token.end)


def _unnamed(script: Script, clause: Clause) -> Step | None:
    """A step that is said by a noun alone: "terraform plan", "backtest"."""
    objects, _ = _objects(clause.tokens, 0)
    things = listed(" ".join(token.text for token in clause.tokens if token.kind in ("word", "comma", "and")))
    if not objects or len(objects) > 5 or not all(re.search("[a-z]", word.lower()) for word in objects):
        return None
    role = _role_of(objects)
    found = Step(
        "", role, objects[0], clause.text(), clause.start, clause.end, clause.sentence, frozenset(objects), after=[]
    )
    found.text = _said(script, clause)
    found.gives = lexicon.gives(role) if role else "value"
    atoms = [
        atom
        for token in clause.tokens
        if token.kind == "atom"
        for atom in script.atoms_in(token.start, token.start + 1)
    ]
    arguments(script, found, clause.tokens, atoms)
    found.name = name_of("_".join(objects[:3]), "step")
    if things:
        found.items, found.separate, found.lemma = things, True, ""
    _use(script, clause.tokens)
    return found


def _commanded(script: Script, clause: Clause) -> Step | None:
    """A step that is said by its command alone."""
    atoms = [
        atom
        for token in clause.tokens
        if token.kind == "atom"
        for atom in script.atoms_in(token.start, token.start + 1)
        if atom.kind == "command" and " " in atom.value
    ]
    if len(atoms) != 1:
        return None
    [atom] = atoms
    words = re.findall(r"[a-z]\w+", atom.value.lower())[:3]
    script.use(atom.start, atom.end)
    return Step(
        name_of("_".join(words), "run"), "run", "run", _said(script, clause), clause.start, clause.end, clause.sentence,
        frozenset(words), arguments={}, command=atom.value, after=[], conditions=[], fields=[], on_failure=[],
    )  # fmt: skip


def _said(script: Script, clause: Clause) -> str:
    """What was typed, without what only joins it to what stands before."""
    typed = script.text[clause.start : clause.end].strip(" ,;:-\n)(")
    return re.sub(r"^(?:(?:and|then|und|y|et)\s+)+", "", typed, flags=re.IGNORECASE)


def _role_of(words: list[str]) -> str:
    for word in reversed(words):
        found = lexicon.verb(word)
        if found is not None and (
            word in ("search", "sweep", "scan", "check")
            or word.endswith(("ion", "ing", "al", "ment", "test", "tests", "view"))
            or len(words) == 1
        ):
            return found[0]
    return ""


def _objects(given: tuple[Token, ...], at: int) -> tuple[list[str], int]:
    """The words of the thing that a verb works on, and where they end."""
    words: list[str] = []
    depth = 0
    while at < len(given):
        token = given[at]
        depth += (token.kind == "open") - (token.kind == "close")
        if token.kind in ("atom", "if", "until", "colon") or (token.kind == "comma" and words):
            break
        if token.kind == "word" and depth <= 1:
            if token.text in PLACES and words:
                break
            if token.text in ("and", "or", "&") and words:
                break
            if (
                token.text not in lexicon.FILLERS and token.text not in lexicon.DETERMINERS and token.text not in HOLLOW
            ) or token.text in _ALONE:
                words.append(token.text)
        at += 1
    return words[:5], at


def _subject(given: tuple[Token, ...], at: int) -> list[str]:
    return [
        token.text
        for token in given[:at]
        if token.kind == "word"
        and token.text not in lexicon.FILLERS
        and token.text not in lexicon.DETERMINERS
        and token.text not in HOLLOW
        and token.text.isascii()
    ][-2:]


__all__ = ["Step", "find_verb", "step_of"]
