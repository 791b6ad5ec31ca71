"""Where a step goes: what it waits for, and what waits for it."""

from __future__ import annotations

import re

import msgspec

from couler_py.nl.offline import fans
from couler_py.nl.offline.built import Building
from couler_py.nl.offline.clauses import Clause
from couler_py.nl.offline.step import Step
from couler_py.nl.words import name_of


def place(state: Building, step: Step, deps: list[str], clause: Clause) -> None:
    """Add a step, or one for each of its things where these are different."""
    beside = deps != state.frontier or state.grouped
    if step.items and step.separate and not state.block:
        steps = []
        for item in step.items:
            own = msgspec.structs.replace(
                step, items=(), arguments=dict(step.arguments), conditions=[], fields=[], on_failure=[]
            )
            own.name = name_of(f"{step.lemma}_{_short(str(item))}", step.role or "step")
            own.words = own.words | frozenset(str(item).split())
            steps.append(own)
    else:
        steps = [step]
    names = []
    for each in steps:
        each.name = state.free(each.name)
        each.after = list(deps)
        if state.failed:
            each.on_failure = list(state.failed) if not any(_is_side(state, name) for name in deps) else []
            each.after = [name for name in deps if _is_side(state, name)]
        each.block = state.block
        state.built.steps.append(each)
        names.append(each.name)
    if (step.items or step.count) and not step.separate and not state.block:
        fans.fan_out(state, step)
    if state.failed:
        return
    state.frontier = [*state.frontier, *names] if beside and _beside_frontier(state, deps) else names
    if not state.grouped:
        state.base = list(deps)


def _beside_frontier(state: Building, deps: list[str]) -> bool:
    """Whether the steps at the frontier stand beside one that waits for `deps`."""
    return all(name not in deps for name in state.frontier)


def _is_side(state: Building, name: str) -> bool:
    return any(step.name == name and (step.on_failure or _is_side_of(state, step)) for step in state.built.steps)


def _is_side_of(state: Building, step: Step) -> bool:
    return any(_is_side(state, name) for name in step.after)


def anyway(state: Building, steps: list[Step], before: list[str]) -> None:
    """Let steps run however all others ended. What comes behind them waits for what came before, too."""
    mine = {step.name for step in steps}
    others = [step for step in state.built.steps if step.name not in mine]
    waited = {name for step in others for name in (*step.after, *step.on_failure)}
    ends = [step.name for step in others if step.name not in waited]
    for at, step in enumerate(steps):
        if ends and not step.block:
            step.always = [*ends, *(each.name for each in steps[:at])]
            step.after, step.on_failure, step.conditions = [], [], []
    state.frontier = list(dict.fromkeys([*before, *(step.name for step in steps)]))


def _short(item: str) -> str:
    inside = re.search(r"\(([^)]*)\)?", item)
    return " ".join(item.split()[:3]) if inside is None else item
