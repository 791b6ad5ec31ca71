"""What this machine has, and what the steps of a workflow ask of it: processors, memory and GPUs."""

from __future__ import annotations

import os
from pathlib import Path

from couler_py.ir.model import ContainerSet, DistributedJob, Function, Script, Template
from couler_py.ir.pod import Container, Resources
from couler_py.ir.quantity import quantity as exact
from couler_py.store.shares import Share as Share


def quantity(text: str) -> float:
    """A Kubernetes quantity as a number. Raises `ValueError` for text that is none.

    >>> quantity("500m"), quantity("2Gi")
    (0.5, 2147483648.0)
    """
    found = exact(text)
    if found is None:
        raise ValueError(f"{text!r} is not a quantity, such as '500m', '2' or '4Gi'")
    return float(found)


def asked(template: Template, processors: float = 1.0) -> Share:
    """What a step asks for. One that says nothing takes one processor, and a daemon that serves already takes none.

    The containers of a set ask together, as those of a pod do.
    """
    body = template.body
    parts: list[Resources] = []
    if isinstance(body, Container | Script | Function):
        parts = [body.resources]
    elif isinstance(body, DistributedJob | ContainerSet):
        parts = [each.resources for each in body.containers]
    return Share(
        sum(quantity(each.cpu) for each in parts if each.cpu) if any(each.cpu for each in parts) else processors,
        sum((quantity(each.memory) for each in parts if each.memory), 0.0),
        sum(each.gpu for each in parts),
    )


def available() -> Share:
    """What runs may use here: this process's processors, the memory of the machine or of its cgroup, the GPUs it sees.

    `COULER_CPUS` and `COULER_MEMORY`, quantities, say otherwise: less, or, where steps mostly wait, more. Raises
    `ValueError` for what is none.
    """
    cpu = float(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
    memory = float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    limit = Path("/sys/fs/cgroup/memory.max")
    if limit.is_file():
        text = limit.read_text().strip()
        memory = memory if text == "max" else min(memory, float(text))
    return Share(_bound("COULER_CPUS", cpu), _bound("COULER_MEMORY", memory), len(devices()))


def _bound(name: str, found: float) -> float:
    text = os.environ.get(name)
    if not text:
        return found
    try:
        given = quantity(text)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
    if given <= 0:
        raise ValueError(f"{name} is {text!r}, and nothing could run: give more than 0, or leave it out")
    return given


def devices() -> list[str]:
    """The ids of the GPUs that CUDA may use here: `CUDA_VISIBLE_DEVICES`, else every /dev/nvidia<number>."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None:
        return [name.strip() for name in visible.split(",") if name.strip() and name.strip() != "-1"]
    found = (path.name.removeprefix("nvidia") for path in Path("/dev").glob("nvidia[0-9]*"))
    return sorted((name for name in found if name.isdigit()), key=int)
