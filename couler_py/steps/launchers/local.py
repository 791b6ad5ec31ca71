"""Jobs of several nodes on this machine: one step whose process starts the others (see `couler_py.runner.launch`)."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import msgspec

from couler_py.ir.diagnostics import Diagnostic, error
from couler_py.ir.model import DistributedJob, JobRole, Template
from couler_py.ir.pod import Container, Resources
from couler_py.ir.quantity import quantity
from couler_py.runner.launch import program

PATIENCE = 3
"""Health time-outs after which a job hangs of which no process has computed or written anything."""
HEALTH_TIMEOUT = 5.0
"""Seconds after which a node of this machine that isn't heard of is lost, where the job doesn't say."""


def problems(template: Template) -> list[Diagnostic]:
    """What this machine can't do of a job."""
    job = template.body
    assert isinstance(job, DistributedJob)
    if job.elastic is None or job.framework == "torch":
        return []
    step = template.display or template.name
    message = f"{step}: this machine runs a fixed number of processes of {job.framework}"
    help_ = "leave elastic= out here, or write the job for torch, whose nodes may be lost and come back"
    return [error("CLR286", message, source=template.source, step=step, help=help_)]


def launched(job: DistributedJob) -> Container:
    """The job as one container that asks for what all its nodes do."""
    inner = job.container
    spec: dict[str, Any] = {
        "framework": job.framework,
        "nodes": job.nodes,
        "processes": job.processes_per_node,
        "least": job.nodes if job.elastic is None else min(job.elastic[0], job.nodes),
        "restarts": job.max_restarts,
        "health": HEALTH_TIMEOUT if job.health_timeout is None else job.health_timeout,
        "patience": PATIENCE * (job.health_timeout or 0.0),
        "roles": [_role(each, inner) for each in job.roles if each.name != "launcher"],
    }
    return msgspec.structs.replace(
        inner,
        command=("python", "-c", program(), msgspec.json.encode(spec).decode(), *inner.command, *inner.args),
        args=(),
        resources=_of_all(job),
    )


def _role(role: JobRole, job: Container) -> dict[str, Any]:
    found: dict[str, Any] = {"name": role.name, "nodes": role.nodes}
    if role.container is not None and role.container.command != job.command:
        found["command"] = [*role.container.command, *role.container.args]
    return found


def _of_all(job: DistributedJob) -> Resources:
    """What all nodes ask for together; the limits are those of the job's own container."""
    asked = job.container.resources

    def total(read: Callable[[Resources], str]) -> str:
        found = [(quantity(text), nodes) for each, nodes in job.asking if (text := read(each.resources))]
        if not found or job.nodes == 1:
            return read(asked)
        if any(amount is None for amount, _ in found):
            return read(asked)
        whole = sum((Fraction(amount) * nodes for amount, nodes in found if amount is not None), Fraction())
        return str(whole.numerator) if whole.denominator == 1 else f"{-(-whole * 1000 // 1)}m"

    return msgspec.structs.replace(
        asked,
        cpu=total(lambda each: each.cpu),
        memory=total(lambda each: each.memory),
        cpu_limit=None if asked.cpu_limit is None else total(lambda each: each.cpu_limit or ""),
        memory_limit=None if asked.memory_limit is None else total(lambda each: each.memory_limit or ""),
        gpu=sum(each.resources.gpu * nodes for each, nodes in job.asking),
    )
