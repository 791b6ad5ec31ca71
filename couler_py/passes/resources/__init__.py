"""Steps that ask for what they use: `right_size` gives them the requests and limits that earlier runs speak for.

What they do stays the same; how much of a machine is kept for them changes. GPUs, disks and further resources stay as
they are, and steps of which too little is known.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from couler_py.ir.graph import reachable
from couler_py.ir.model import Function, Script, Template, Workflow
from couler_py.ir.pod import Container, Resources
from couler_py.ir.quantity import amount
from couler_py.passes.history import asked_of
from couler_py.passes.resources.advice import ENOUGH, Advice, advise
from couler_py.passes.resources.amounts import memory_text
from couler_py.passes.situation import Note, Outcome, Situation


def apply(workflow: Workflow, situation: Situation) -> Outcome:
    """Give steps the resources that their earlier attempts speak for."""
    notes: list[Note] = []
    called = set(reachable(workflow))
    templates = []
    for template in workflow.templates:
        found = advice_for(workflow, template, situation) if template.name in called else None
        templates.append(template if found is None else _sized(template, found, notes))
    return Outcome(replace(workflow, templates=tuple(templates)), tuple(notes))


def advice_for(workflow: Workflow, template: Template, situation: Situation) -> Advice | None:
    """The advice for a template that runs one container; None for others, and where nothing is known."""
    if not isinstance(template.body, Function | Container | Script):
        return None
    seen = situation.history.find(workflow.name, template)
    if seen is None or not seen.attempts:
        return None
    return advise(template.display or template.name, seen.attempts, asked_of(template))


def _sized(template: Template, found: Advice, notes: list[Note]) -> Template:
    body: Any = template.body
    if not found.enough:
        what = f"stays as it is: {found.attempts} of at least {ENOUGH} attempts are known"
        notes.append(Note(found.step, what, "too little to go by", source=template.source))
        return template
    wanted = _wanted(body.resources, found)
    if wanted == body.resources:
        return template
    notes.append(Note(found.step, _change(body.resources, wanted), _why(found), _saves(found), template.source))
    return replace(template, body=replace(body, resources=wanted))


def _wanted(given: Resources, found: Advice) -> Resources:
    more: dict[str, str | None] = {}
    if found.memory is not None and found.memory_limit is not None:
        more["memory"] = memory_text(found.memory)
        more["memory_limit"] = None if found.memory_limit == found.memory else memory_text(found.memory_limit)
    if found.cpu is not None and found.cpu_limit is not None:
        more["cpu"] = cpu_text(found.cpu)
        more["cpu_limit"] = None if found.cpu_limit == found.cpu else cpu_text(found.cpu_limit)
    return replace(given, **more)


def cpu_text(processors: float) -> str:
    """Processors as a quantity.

    >>> cpu_text(0.05), cpu_text(2.0)
    ('50m', '2')
    """
    thousandths = round(processors * 1000)
    return f"{thousandths}m" if thousandths % 1000 else str(thousandths // 1000)


def _change(given: Resources, wanted: Resources) -> str:
    parts = [
        f"{name} {getattr(given, name) or 'nothing'} -> {getattr(wanted, name)}"
        for name in ("memory", "cpu")
        if getattr(given, name) != getattr(wanted, name)
    ]
    return ", ".join(parts) or "other limits"


def _why(found: Advice) -> str:
    used = []
    if found.used_memory is not None:
        used.append(amount(found.used_memory))
    if found.used_cpu is not None:
        used.append(f"{found.used_cpu:.2g} processors")
    ended = f", and {found.out_of_memory} ran out of memory" if found.out_of_memory else ""
    return f"{found.attempts:,} attempts used at most {' and '.join(used) or 'nobody knows what'} (19 of 20){ended}"


def _saves(found: Advice) -> str:
    parts = []
    if found.asked_memory is not None and found.memory is not None and found.memory < found.asked_memory:
        parts.append(amount(found.asked_memory - found.memory))
    if found.asked_cpu is not None and found.cpu is not None and found.cpu < found.asked_cpu:
        parts.append(f"{found.asked_cpu - found.cpu:.2g} processors")
    return " and ".join(parts)
