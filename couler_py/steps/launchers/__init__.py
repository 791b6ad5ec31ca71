"""Jobs of several nodes, and what they become: processes of this machine, or Kubernetes objects.

`lowered` is what the pass "distributed" calls.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from couler_py.ir.diagnostics import DiagnosticError
from couler_py.ir.model import DistributedJob, Template, Workflow
from couler_py.passes.situation import LoweredJob, Situation
from couler_py.steps.launchers import local


def lowered(workflow: Workflow, templates: tuple[Template, ...], situation: Situation) -> Mapping[str, LoweredJob]:
    """What the jobs of a workflow become on an engine, by the name of their template.

    Raises `DiagnosticError` with all that launchers can't do.
    """
    if situation.engine == "local":
        if found := [problem for each in templates for problem in local.problems(each)]:
            raise DiagnosticError(tuple(found))
        return {each.name: _here(each) for each in templates}
    from couler_py.kubernetes.jobs import LAUNCHERS
    from couler_py.steps.launchers import cluster

    found = [problem for each in templates for problem in cluster.problems(workflow, each)]
    if found:
        raise DiagnosticError(tuple(found))
    made = {}
    for each in templates:
        assert isinstance(each.body, DistributedJob)
        launcher = cluster.launcher_of(each.body)
        needs = LAUNCHERS[launcher].needs
        made[each.name] = LoweredJob(
            cluster.lowered(workflow, each, situation), f"launched as {launcher}", f"needs {needs}"
        )
    return made


def _here(template: Template) -> LoweredJob:
    job = template.body
    assert isinstance(job, DistributedJob)
    made = msgspec.structs.replace(template, body=local.launched(job))
    what = f"{job.nodes} x {job.processes_per_node} processes of this machine"
    return LoweredJob((made,), what, "torchrun starts them" if job.framework == "torch" else "one step starts them")
