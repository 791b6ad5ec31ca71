"""What this machine has, and who uses it: processors, memory and GPUs, handed out in the order of asking."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
from collections import deque
from collections.abc import AsyncIterator
from decimal import Decimal
from pathlib import Path

import msgspec

from couler_py.ir.model import DistributedJob, Function, Script, Template
from couler_py.ir.pod import Container, Resources

# Kubernetes quantities: https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/
_QUANTITY = re.compile(r"([+-]?[0-9.]+)([eE][-+]?[0-9]+|[numkMGTPE]|[KMGTPE]i)?")
_UNITS = {"n": Decimal("1e-9"), "u": Decimal("1e-6"), "m": Decimal("1e-3"), "k": Decimal(1000), None: Decimal(1)}
_UNITS |= {unit: Decimal(1000) ** power for power, unit in enumerate("MGTPE", 2)}
_UNITS |= {f"{unit}i": Decimal(1024) ** power for power, unit in enumerate("KMGTPE", 1)}


def quantity(text: str) -> float:
    """A Kubernetes quantity as a number. Raises `ValueError` for text that is none.

    >>> quantity("500m"), quantity("2Gi")
    (0.5, 2147483648.0)
    """
    found = _QUANTITY.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is not a quantity, such as '500m', '2' or '4Gi'")
    number, unit = found.groups()
    if unit and unit[0] in "eE" and len(unit) > 1:
        return float(number + unit)
    return float(Decimal(number) * _UNITS[unit])


class Share(msgspec.Struct, frozen=True):
    """What one step asks for, or what a machine has. `memory` is in bytes."""

    cpu: float
    memory: float
    gpus: int


def asked(template: Template) -> Share:
    """What a step asks for. One that says nothing takes one processor."""
    body = template.body
    resources = Resources()
    if isinstance(body, Container | Script | Function):
        resources = body.resources
    elif isinstance(body, DistributedJob):
        resources = body.container.resources
    return Share(
        quantity(resources.cpu) if resources.cpu else 1.0,
        quantity(resources.memory) if resources.memory else 0.0,
        resources.gpu,
    )


def available() -> Share:
    """What this process may use: its processors, the memory of the machine or of its cgroup, the GPUs it sees."""
    cpu = float(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
    memory = float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    limit = Path("/sys/fs/cgroup/memory.max")
    if limit.is_file():
        text = limit.read_text().strip()
        memory = memory if text == "max" else min(memory, float(text))
    return Share(cpu, memory, len(devices()))


def devices() -> list[str]:
    """The ids of the GPUs that CUDA may use here: `CUDA_VISIBLE_DEVICES`, else every /dev/nvidia<number>."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None:
        return [name.strip() for name in visible.split(",") if name.strip() and name.strip() != "-1"]
    found = (path.name.removeprefix("nvidia") for path in Path("/dev").glob("nvidia[0-9]*"))
    return sorted((name for name in found if name.isdigit()), key=int)


class Grant(msgspec.Struct, frozen=True):
    """What a step may use while it holds its share: the ids of its GPUs, and the descriptors that say that it does."""

    gpus: list[str]
    locks: list[int] = []


class Machine:
    """Hands out shares, first come, first served; a share larger than the machine is cut to it."""

    def __init__(self, total: Share, gpus: list[str]):
        self.total = total
        self._cpu, self._memory, self._gpus = total.cpu, total.memory, list(gpus)
        self._waiting: deque[tuple[Share, asyncio.Future[list[str]]]] = deque()

    @contextlib.asynccontextmanager
    async def use(self, share: Share) -> AsyncIterator[Grant]:
        """Wait for a share and hold it. Who supervises the step holds the locks of the grant too, until its end."""
        share = Share(min(share.cpu, self.total.cpu), min(share.memory, self.total.memory), share.gpus)
        turn: asyncio.Future[list[str]] = asyncio.get_running_loop().create_future()
        self._waiting.append((share, turn))
        self._next()
        try:
            gpus = await turn
        except asyncio.CancelledError:
            if turn.cancelled():
                self._waiting.remove((share, turn))
            else:
                self._give_back(share, turn.result())
            self._next()
            raise
        try:
            yield Grant(gpus)
        finally:
            self._give_back(share, gpus)
            self._next()

    def _fits(self, share: Share) -> bool:
        # Shares are sums of fractions: a billionth of a processor is rounding.
        return share.cpu <= self._cpu + 1e-9 and share.memory <= self._memory and share.gpus <= len(self._gpus)

    def _next(self) -> None:
        while self._waiting and self._fits(self._waiting[0][0]):
            share, turn = self._waiting.popleft()
            self._cpu -= share.cpu
            self._memory -= share.memory
            gpus, self._gpus = self._gpus[: share.gpus], self._gpus[share.gpus :]
            turn.set_result(gpus)

    def _give_back(self, share: Share, gpus: list[str]) -> None:
        self._cpu += share.cpu
        self._memory += share.memory
        self._gpus = sorted(self._gpus + gpus)
