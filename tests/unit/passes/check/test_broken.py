"""Workflows broken anywhere, as a program or an editor may leave them: findings, never a crash."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from couler_py.ir import Workflow
from couler_py.ir.codes import explanations
from couler_py.passes.check import check
from tests.strategies import random_ir

ODD: list[Any] = ["", "x", 0, -1, 2**60, None, [], {}, "{{x}}", 1.5, True]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Every value inside a JSON value, with the way to it."""
    yield path, value
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(inner, (*path, key))


def mutilate(document: Any, chance: random.Random) -> None:
    """Put another's value, an odd one, or nothing in some place; or something twice."""
    everything = [(path, value) for path, value in places(document) if path]
    path, value = chance.choice(everything)
    parent = document
    for key in path[:-1]:
        parent = parent[key]
    alike = [other for way, other in everything if type(other) is type(value) and way[-1] == path[-1]]
    match chance.randrange(4):
        case 0:
            parent[path[-1]] = copy.deepcopy(chance.choice(alike))
        case 1:
            del parent[path[-1]]
        case 2 if isinstance(parent, list):
            parent.append(copy.deepcopy(value))
        case _:
            parent[path[-1]] = chance.choice(ODD)


def broken(seed: int) -> Workflow | None:
    """A workflow broken in up to four places, or None where it isn't of the form of one any more."""
    chance = random.Random(f"couler broken {seed}")
    document = msgspec.json.decode(msgspec.json.encode(random_ir(seed % 100)))
    for _ in range(chance.randint(1, 4)):
        mutilate(document, chance)
    try:
        return msgspec.convert(document, Workflow)
    except msgspec.ValidationError:
        return None


@pytest.mark.parametrize("hundred", range(8))
def test_a_broken_workflow_gets_findings_never_a_crash(hundred: int) -> None:
    found = [workflow for seed in range(hundred * 100, hundred * 100 + 100) if (workflow := broken(seed)) is not None]
    codes = {one.code for workflow in found for one in check(workflow)}
    assert codes
    assert codes <= explanations().keys()
