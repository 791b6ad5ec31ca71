"""Names: legal, and each given once in its scope."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from couler_py.ir.model import Source, Template
from couler_py.passes.check.facts import Facts
from couler_py.passes.check.findings import Findings, Place, related

_LEGAL = re.compile(r"[\w-][\w.-]*")
_LENGTH = 250


def check_names(facts: Facts, findings: Findings) -> None:
    """The names of the workflow, its templates, parameters, files, handlers and volumes."""
    workflow = facts.workflow
    place = Place(workflow.name, workflow.source)
    check_name("the workflow", workflow.name, findings, place)
    check_distinct("workflow parameter", workflow.parameters, "CLR205", findings, place)
    check_distinct("workflow file", workflow.artifacts, "CLR205", findings, place)
    check_distinct("handler", workflow.handlers, "CLR205", findings, place)
    check_distinct("volume", (*workflow.volumes, *workflow.volume_claims), "CLR205", findings, place)
    check_distinct("template", workflow.templates, "CLR202", findings, place)


def check_names_of(template: Template, findings: Findings) -> None:
    """The names of a template's inputs and outputs."""
    place = Place(template.name, template.source)
    inputs, outputs = template.inputs, template.outputs
    for what, things in (
        ("input", (*inputs.parameters, *inputs.artifacts)),
        ("output", (*outputs.parameters, *outputs.artifacts)),
    ):
        if things:
            check_distinct(what, things, "CLR205", findings, place)


def check_name(what: str, name: str, findings: Findings, place: Place) -> None:
    """Report a name that no engine could be given a legal form of."""
    if len(name) > _LENGTH or _LEGAL.fullmatch(name) is None:
        if not name:
            message = f"{what} has no name"
        elif len(name) > _LENGTH:
            message = f"the name of {what} has {len(name)} characters, and may have {_LENGTH}"
        else:
            message = f"{name!r} can't be the name of {what}"
        help_ = "use letters, digits, - and _, without blanks or signs; the display name can be any text"
        findings.error("CLR203", message, place, help=help_)


def check_distinct(what: str, things: Iterable[Any], code: str, findings: Findings, place: Place) -> None:
    """Report illegal names, and the second of two things with one name."""
    seen: dict[str, Source | None] = {}
    for thing in things:
        source = getattr(thing, "source", None)
        if not isinstance(source, Source):
            source = None  # a volume's source is no place in a program
        at = place if source is None else Place(thing.name, source)
        if len(thing.name) > _LENGTH or _LEGAL.fullmatch(thing.name) is None:
            check_name(f"{'an' if what[0] in 'aeiou' else 'a'} {what}", thing.name, findings, at)
        if thing.name in seen:
            findings.error(
                code,
                f"two of the name {thing.name!r}: each {what} needs its own",
                at,
                related=related(("the first", seen[thing.name])),
            )
        else:
            seen[thing.name] = source
