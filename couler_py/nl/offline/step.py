"""A step on its way."""

from __future__ import annotations

from typing import Any

import msgspec

from couler_py.nl.offline import lexicon


class Step(msgspec.Struct):
    """A step on its way: what it is, what it is given, and how it hangs together with others."""

    name: str
    role: str
    lemma: str
    text: str
    start: int
    end: int
    sentence: int
    words: frozenset[str]
    gives: lexicon.Gives = "value"
    arguments: dict[str, Any] = {}
    items: tuple[Any, ...] = ()
    count: int = 0
    noun: str = "item"
    separate: bool = False
    command: str = ""
    wait: float | None = None
    after: list[str] = []
    block: str = ""
    conditions: list[Any] = []
    on_failure: list[str] = []
    always: list[str] = []
    fields: list[str] = []
    compared: lexicon.Gives | None = None


def give(step: Step, name: str, value: Any) -> None:
    """Give a step an argument, under a name of its own."""
    found, number = name, 2
    while found in step.arguments:
        found, number = f"{name}_{number}", number + 1
    step.arguments[found] = value
