"""Modules that steps import and that this machine doesn't have, where steps run as its processes."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence

import msgspec

from couler_py.ir.diagnostics import Diagnostic
from couler_py.ir.model import Function, Workflow
from couler_py.passes.check.packages import unprovided


def for_here(findings: Sequence[Diagnostic], workflow: Workflow) -> list[Diagnostic]:
    """The findings, with those of modules that images don't have only where this machine lacks them, each said once."""
    bodies = {template.name: template.body for template in workflow.templates}
    found: list[Diagnostic] = []
    places: dict[tuple[str, ...], int] = {}
    steps: dict[tuple[str, ...], list[str]] = {}
    for finding in findings:
        if finding.code != "CLR290" or finding.step is None:
            found.append(finding)
            continue
        lacks = _lacks(bodies[finding.step], workflow)
        if not lacks:
            continue
        if lacks not in places:
            places[lacks] = len(found)
            found.append(finding)
        steps.setdefault(lacks, []).append(finding.step)
    for lacks, place in places.items():
        said = f"this machine doesn't have {_listed(lacks)}, which {_listed(steps[lacks])} import"
        found[place] = msgspec.structs.replace(found[place], message=f"{said}{'s' if len(steps[lacks]) == 1 else ''}")
    return found


def _lacks(body: object, workflow: Workflow) -> tuple[str, ...]:
    missing = unprovided(body, workflow.includes) if isinstance(body, Function) else {}
    return tuple(name for name in missing if name not in sys.modules and importlib.util.find_spec(name) is None)


def _listed(names: Sequence[str]) -> str:
    *before, last = names
    return f"{', '.join(before)} and {last}" if before else last
