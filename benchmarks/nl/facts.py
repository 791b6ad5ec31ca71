"""Whether a workflow is what somebody meant: each fact of a description, held or not and why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.nl import of_graph, of_workflow
from benchmarks.nl.descriptions import Description
from benchmarks.nl.findings import Finding, Seen
from benchmarks.nl.reading import Reading, best_reading, roles_of
from benchmarks.nl.units import units
from couler_py.ir.model import Workflow


@dataclass(frozen=True)
class Told:
    """What was said to the person beside the workflow. `notes` are assumptions and explanations."""

    questions: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    refusals: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    engine: str = ""


def check(description: Description, workflow: Workflow | None, told: Told = Told()) -> tuple[Finding, ...]:
    """Every fact of a description on a workflow and what was said with it.

    Where the text leaves something open or can't be done, no workflow is right too.
    """
    found = list(_said(description, told))
    if description.facts.engine:
        engines = {told.engine, *(workflow.engines if workflow else ())}
        fact = f"engine {description.facts.engine}"
        found.append(Finding(fact, description.facts.engine in engines, f"it is {told.engine or 'open'}"))
    if workflow is not None:
        found += _workflow(description, workflow)
    elif description.kind in ("plain", "hostile"):
        found.append(Finding("a workflow", False, "there is none"))
    return tuple(found)


def passes(findings: tuple[Finding, ...]) -> bool:
    """Whether all facts hold."""
    return all(finding.held for finding in findings)


def _workflow(description: Description, workflow: Workflow) -> Iterator[Finding]:
    leaves = units(workflow)

    def found(reading: Reading) -> list[Finding]:
        seen = Seen(description.facts, workflow, leaves, reading)
        return [*_roles(description, seen), *of_graph.findings(seen), *of_workflow.of_roles(seen)]

    most = len(found({}))
    reading = best_reading(roles_of(description, leaves), lambda one: sum(f.held for f in found(one)), most)
    yield from found(reading)
    yield from of_workflow.of_all(Seen(description.facts, workflow, leaves, reading))
    if description.facts.schedule is None and description.kind in ("plain", "hostile"):
        yield Finding("no schedule", workflow.schedule is None, "it starts by itself")


def _roles(description: Description, seen: Seen) -> Iterator[Finding]:
    """Every role has a task, and few tasks have no role."""
    for role in description.roles:
        yield Finding(f"a task for {role}", bool(seen.places(role)), "nobody plays it")
    spare = max(2, len(description.roles) // 2)
    playing = {place for places in seen.reading.values() for place in places}
    others = [u.path[-1] for place, u in enumerate(seen.units) if not u.moment and place not in playing]
    if description.roles:
        yield Finding("nothing invented", len(others) <= spare, f"{', '.join(others)} have no role")


def _said(description: Description, told: Told) -> Iterator[Finding]:
    said = description.said
    asked = " ".join(told.questions).casefold()
    answers = " ".join([*told.questions, *told.refusals, *told.flags]).casefold()
    notes = " ".join(told.notes).casefold()
    for words in said.ask:
        yield Finding(f"asks for {words[0]}", any(word.casefold() in asked for word in words), "it is not asked")
    for words in said.say:
        # A note may repeat the text, which says nothing.
        new = [word for word in words if word.casefold() not in description.text.casefold()]
        right = any(word.casefold() in answers for word in words) or any(word.casefold() in notes for word in new)
        yield Finding(f"says {words[0]}", right, "it is not said")
    for words in said.settled:
        again = any(word.casefold() in asked for word in words)
        yield Finding(f"does not ask {words[0]}", not again, "it is asked though the text says it")
    if said.flag:
        yield Finding("flags the text", bool(told.flags), "nothing is flagged")


__all__ = ["Finding", "Told", "check", "passes"]
