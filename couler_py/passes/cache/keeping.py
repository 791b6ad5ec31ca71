"""Which steps can have a cache without being asked one by one, and what keeping their results is worth."""

from __future__ import annotations

from statistics import median

import msgspec

from couler_py.ir.expr import Run
from couler_py.ir.model import Function, Script, Template, Workflow
from couler_py.ir.pod import Container
from couler_py.ir.structs import nodes
from couler_py.passes.cache.improving import planned
from couler_py.passes.cache.trace import Artifact
from couler_py.passes.history import History
from couler_py.passes.parallel.effects import Effects


class Worth(msgspec.Struct, frozen=True):
    """What one result of a step takes: seconds to make it and bytes to keep it, as earlier runs saw (medians)."""

    seconds: float
    size: int


def obstacle(template: Template, effects: Effects, engine: str) -> str:
    """Why results of a step can't be reused unless it says so itself; "" where they can."""
    body = template.body
    if not isinstance(body, Function | Container | Script):
        return "it is no step with a program"
    if not template.outputs.parameters and not template.outputs.artifacts:
        return "it gives nothing to keep"
    if found := effects.of_template(template.name):
        return found
    reads_run = any(isinstance(node, Run) for node in nodes(template))
    if reads_run or (isinstance(body, Function) and any("run_info" in piece.text for piece in body.pieces)):
        return "it reads facts of the run"
    if engine == "argo" and template.inputs.artifacts:
        return "it reads files, whose content Argo's cache doesn't see"
    return ""


def worth(workflow: Workflow, template: Template, history: History) -> Worth | None:
    """What earlier runs say of a step; None where there were none."""
    seen = history.find(workflow.name, template)
    if seen is None or not seen.seconds:
        return None
    return Worth(median(seen.seconds), sum(int(median(sizes)) for sizes in seen.outputs.values() if sizes))


def kept(found: dict[str, Worth], budget: int) -> frozenset[str]:
    """The steps whose results a budget in bytes has room for, if each is asked for again with the same probability."""
    artifacts = {name: Artifact(name, each.size, each.seconds) for name, each in found.items()}
    return planned(artifacts, set(found), [dict.fromkeys(sorted(found), 1.0)], budget)[0] if found else frozenset()
