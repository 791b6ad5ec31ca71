"""Jobs of several nodes become what the engine has for them: processes here, Kubernetes objects on a cluster.

How they are written is in `couler_py.steps.launchers`; this pass is told by its `Situation`, and without that changes
nothing.
"""

from __future__ import annotations

from msgspec.structs import replace

from couler_py.ir.graph import reachable
from couler_py.ir.model import DistributedJob, Template, Workflow
from couler_py.passes.situation import Note, Outcome, Situation


def apply(workflow: Workflow, situation: Situation) -> Outcome:
    """Lower every job that a run can reach. Raises `DiagnosticError` for what a launcher can't do, all at once."""
    if situation.jobs is None:
        return Outcome(workflow)
    called = set(reachable(workflow))
    jobs = {each.name for each in workflow.templates if each.name in called and isinstance(each.body, DistributedJob)}
    if not jobs:
        return Outcome(workflow)
    lowered = situation.jobs(workflow, tuple(each for each in workflow.templates if each.name in jobs), situation)
    templates: list[Template] = []
    notes = []
    for each in workflow.templates:
        found = lowered.get(each.name)
        templates += [each] if found is None else found.templates
        if found is not None:
            notes.append(Note(each.display or each.name, found.what, found.why, source=each.source))
    return Outcome(replace(workflow, templates=tuple(templates)), tuple(notes))
