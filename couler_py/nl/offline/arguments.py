"""What a step is given: places, files, addresses, commands and numbers."""

from __future__ import annotations

import re

from couler_py.nl.offline import lexicon, parameters
from couler_py.nl.offline.script import Atom, Script
from couler_py.nl.offline.step import Step, give
from couler_py.nl.offline.tokens import Token
from couler_py.nl.words import name_of

PLACES = frozenset(
    "from in of on with using via by into to at as onto for against per against and under through after before until within over than where which that each von aus mit auf in nach zu desde con en de a du dans vers da di su para em uit naar op z do na из в на с från till med och som".split()
)
_TO = frozenset("to into as onto at nach zu a en vers à su para em naar do na в till 到 至 في".split())
GENERIC = frozenset(
    "run do perform make create use try execute start get apply conduct carry generate produce set".split()
)


def arguments(script: Script, step: Step, given: tuple[Token, ...], atoms: list[Atom]) -> None:
    """Give a step what its clause names: places, files, addresses, a command and numbers."""
    step.arguments = {}
    for atom in atoms:
        script.use(atom.start, atom.end)
        at = next(index for index, token in enumerate(given) if token.start == atom.start)
        before = [token.text for token in given[max(0, at - 6) : at] if token.kind == "word"]
        if atom.kind == "command" and _is_command(atom, step, before):
            step.command = atom.value
            continue
        give(step, _argument_name(atom, step, before), atom.value)
    found = parameters.numbers(script, step.start, step.end)
    for name, given_value in found.items():
        give(step, name, given_value)
    topic = re.search(
        r"\b(?:image|topic|queue|table|index|bucket|collection|branch|cluster|namespace|database|registry)\s+([a-z][\w.:/-]*[\w])\b",
        script.rest[step.start : step.end],
    )
    if (
        topic is not None
        and topic[1] not in lexicon.FILLERS
        and topic[1] not in PLACES
        and lexicon.verb(topic[1]) is None
    ):
        give(
            step,
            name_of(topic.group().split()[0]),
            script.text[step.start + topic.start(1) : step.start + topic.end(1)],
        )


def _is_command(atom: Atom, step: Step, before: list[str]) -> bool:
    if " " in atom.value or step.role == "run" or step.lemma in GENERIC:
        return not re.fullmatch(r"[\w./-]+\.(?:csv|json|parquet|txt|pkl|ya?ml)", atom.value)
    return bool(before) and before[-1] in ("with", "by", "using", "command", "via", "running") and "." not in atom.value


def _argument_name(atom: Atom, step: Step, before: list[str]) -> str:
    if atom.kind == "email":
        return "to"
    if atom.kind == "channel":
        return "channel"
    if atom.kind in ("quote", "command"):
        return "text"
    near = next(
        (
            word
            for word in reversed(before)
            if word in _TO or word in ("from", "on", "of", "with", "using", "in", "and")
        ),
        "",
    )
    if near == "and" and step.arguments:
        return list(step.arguments)[-1].rstrip("_0123456789")
    if near == "at" and step.role == "load":
        return "source"
    if near in _TO and step.role not in ("train", "evaluate", "finetune"):
        return "target"
    if near in ("from", "on", "of", "with", "using"):
        return "source"
    return "target" if step.role in ("export", "register") else "source"
