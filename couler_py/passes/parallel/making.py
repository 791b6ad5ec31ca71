"""Templates that a pass makes beside those of a workflow, and those that are called no longer."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from couler_py.ir.graph import reachable
from couler_py.ir.model import Template, Workflow


def keep(template: Template, known: Mapping[str, Template], made: dict[str, Template]) -> str:
    """The name under which `made` has a template now: that of one like it, where there is one already."""
    name, number = template.name, 1
    while name in known or (name in made and replace(made[name], name=template.name) != template):
        number += 1
        name = f"{template.name}-{number}"
    made[name] = replace(template, name=name)
    return name


def with_made(workflow: Workflow, made: Mapping[str, Template]) -> Workflow:
    """The workflow with what was made, and without what only that made superfluous; the same where nothing was made."""
    if not made:
        return workflow
    whole = replace(workflow, templates=(*workflow.templates, *made.values()))
    called = set(reachable(whole))
    return replace(whole, templates=tuple(each for each in whole.templates if each.name in called))
