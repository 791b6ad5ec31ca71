"""A text as a draft, without a model."""

from __future__ import annotations

import re
import time

import msgspec

from couler_py.ir.diagnostics import DiagnosticError
from couler_py.nl.checking import OutlineError
from couler_py.nl.draft import Cost, Draft, Question
from couler_py.nl.offering import offer
from couler_py.nl.offline import (
    anyway,
    asking,
    conditions,
    contradictions,
    corrections,
    hostile,
    parameters,
    schedules,
    settings,
)
from couler_py.nl.offline.building import build
from couler_py.nl.offline.built import Built
from couler_py.nl.offline.outlining import outline
from couler_py.nl.offline.script import Script
from couler_py.nl.words import name_of

LONGEST = 20_000
"""Signs of a text that are read; what is behind is said to be unread."""


def draft(text: str, *, name: str = "") -> Draft:
    """A draft of the workflow that a text describes, or one without a workflow that says why there is none.

    >>> draft("load data.csv, then train a model").workflow.name
    'train_model'
    """
    began = time.perf_counter()
    found = _draft(text[:LONGEST], name)
    if len(text) > LONGEST:
        found = msgspec.structs.replace(
            found, assumptions=(*found.assumptions, f"only the first {LONGEST} signs of the text were read")
        )
    return msgspec.structs.replace(found, text=text, cost=Cost(seconds=time.perf_counter() - began))


def _draft(text: str, name: str) -> Draft:
    script = Script(text)
    flags = hostile.cut(script)
    impossible = contradictions.find(script)
    corrections.correct(script)
    left_out = corrections.unwanted(script)
    timed = schedules.read(script)
    said = settings.read(script)
    given = parameters.read(script)
    anyway.read(script)
    built = build(script, conditions.read(script))
    impossible = (*impossible, *timed.impossible)
    assumptions = [f"left out, as the text says: {each}" for each in left_out]
    assumptions += [*timed.assumptions, *built.assumptions]
    questions = [*timed.questions, *asking.questions(script, built, said, given)]
    found = Draft(text, flags=flags, impossible=impossible, engine=said.engine)
    if impossible:
        return _finished(script, found, [*questions, *built.questions], assumptions)
    if not built.steps:
        return _finished(script, found, [*asking.nothing(script), *built.questions, *questions], assumptions)
    flow = outline(name or _named(built), text, built, said, given, timed.schedule)
    questions += built.questions
    commands = tuple(task.command for task in flow.tasks if task.command)
    try:
        found = offer(flow, msgspec.structs.replace(found, commands=commands))
    except (OutlineError, DiagnosticError) as problem:
        questions.append(
            Question(f"This can't be a workflow as it was understood: {_first_line(problem)}", "structure")
        )
    return _finished(script, found, questions, assumptions)


def _finished(script: Script, draft: Draft, questions: list[Question], assumptions: list[str]) -> Draft:
    return msgspec.structs.replace(
        draft,
        questions=tuple(dict.fromkeys(questions)),
        assumptions=tuple(dict.fromkeys(assumptions)),
        unused=script.unused(),
    )


def _first_line(problem: Exception) -> str:
    return str(problem).splitlines()[0]


def _named(built: Built) -> str:
    """A name for the workflow: its title, or what its most telling step does."""
    if built.title and re.search("[a-z]{3}", built.title):
        return name_of(built.title.removeprefix("the ").removeprefix("a "), "workflow")
    telling = ("train", "finetune", "deploy", "predict", "evaluate", "build", "export", "load")
    step = next((step for role in telling for step in built.steps if step.role == role), built.steps[0])
    return step.name


__all__ = ["draft"]
