"""What is built of clauses, and what is known on the way."""

from __future__ import annotations

import keyword
from collections.abc import Iterable
from typing import Any

import msgspec

from couler_py.nl import outline as o
from couler_py.nl.draft import Question
from couler_py.nl.offline import conditions as c
from couler_py.nl.offline.script import Script
from couler_py.nl.offline.step import Step
from couler_py.nl.offline.tokens import Token

Condition = tuple[str, str, c.Operator, Any]


class Built(msgspec.Struct):
    """What was built: the steps, the blocks, and what there is to say of them."""

    steps: list[Step] = []
    blocks: dict[str, o.Block] = {}
    untils: dict[str, Condition] = {}
    questions: list[Question] = []
    assumptions: list[str] = []
    title: str = ""


class Region(msgspec.Struct):
    """Branches side by side: each begins behind `base`; `ends` are those of the branches that are read already.

    A `short` one ends where the text says "then", and any where its sentence does.
    """

    base: list[str]
    ends: list[str] = []
    short: bool = False


class Building:
    """A workflow on its way. `frontier` are the steps that what comes next waits for."""

    def __init__(self, script: Script, conditions: dict[int, c.Clause], most: dict[int, int]):
        self.script = script
        self.conditions = conditions
        self.most = most  # where rounds are counted, and how many these are at most
        self.built = Built([], {}, {}, [], [])
        self.frontier: list[str] = []
        self.base: list[str] = []  # what the steps of the group at hand wait for
        self.grouped = False  # the next step stands beside the one before
        self.sentence = -1
        self.single: set[int] = set()  # sentences of one clause: without a verb they say no step
        self.condition: list[Condition] = []
        self.anyway = False  # what follows in this sentence is done in any case
        self.looping: int | None = None  # how many steps came before those of "loop: …"
        self.region: Region | None = None
        self.failed: list[str] = []  # steps whose failure the clauses of this sentence are about
        self.last: c.Clause | None = None
        self.last_on = ""
        self.entry: list[str] = []  # the frontier before the branch at hand
        self.branches: list[str] = []
        self.block = ""
        self.lists: dict[str, tuple[str, ...]] = {}
        self.sources: list[str] = []
        self.later: dict[str, tuple[Step, c.Clause]] = {}  # said before there is a step to compare

    def step(self, name: str) -> Step:
        """The step of a name."""
        return next(step for step in self.built.steps if step.name == name)

    def free(self, name: str) -> str:
        """A name that no step and no block has."""
        taken = {step.name for step in self.built.steps} | set(self.built.blocks)
        if name not in taken and not keyword.iskeyword(name):
            return name
        if keyword.iskeyword(name):
            return self.free(f"{name}_step")
        number = 2
        while f"{name}_{number}" in taken:
            number += 1
        return f"{name}_{number}"

    def use(self, words: Iterable[Token]) -> None:
        """Take note that words were used."""
        for token in words:
            self.script.use(token.start, token.end)


def without(words: list[Token], length_: int) -> list[Token]:
    """The tokens behind the first signs of their text."""
    at, kept = 0, []
    for token in words:
        if at >= length_:
            kept.append(token)
        at += len(token.text) + 1
    return kept
