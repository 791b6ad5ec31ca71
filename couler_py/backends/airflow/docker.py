"""The container of a step on a Docker daemon, in the words of Airflow's DockerOperator."""

from __future__ import annotations

from typing import Any

from couler_py.backends.airflow.emission import Emission
from couler_py.ir.model import Function, Script, Template
from couler_py.ir.pod import Container, Resources
from couler_py.ir.quantity import quantity
from couler_py.printer.layout import Doc
from couler_py.printer.literal import literal


def container_entry(emission: Emission, template: Template) -> dict[str, Doc]:
    """What the constant of a step says of its container; nothing where nothing is asked for."""
    found = container_settings(template)
    if template.pod.host_network or emission.workflow.pod.host_network:
        found["network_mode"] = "host"
    return {"container": literal(found)} if found else {}


def container_settings(template: Template) -> dict[str, Any]:
    """Processors, memory (bytes), graphics processors and the image's rule, as arguments of the operator."""
    body = template.body
    assert isinstance(body, Container | Script | Function)
    found = _resources(body.resources)
    if body.pull_policy == "Always":
        found["force_pull"] = True
    return found


def _resources(resources: Resources) -> dict[str, Any]:
    found: dict[str, Any] = {}
    cpu = quantity(resources.cpu) if resources.cpu else None
    memory = quantity(resources.memory_limit or resources.memory)
    if cpu is not None:
        found["cpus"] = float(cpu)
    if memory is not None:
        found["mem_limit"] = int(memory)
    if resources.gpu:
        found["gpus"] = resources.gpu
    return found
