"""What a job is given, what a job is like, and what there is to give. No NumPy here."""

from __future__ import annotations

from typing import Literal

import msgspec

GIB = 1 << 30
Kind = Literal["servers", "ranks"]
"""How a job trains: workers push to parameter servers, each at its own pace; or ranks step together."""


class Allocation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Nodes by role, cores of a node, and bytes of memory of a node (0: not decided).

    Raises `ValueError` for numbers that make no sense.
    """

    workers: int
    servers: int = 0
    worker_cores: int = 1
    server_cores: int = 0
    worker_memory: float = 0.0
    server_memory: float = 0.0

    def __post_init__(self) -> None:
        if self.workers < 1 or self.worker_cores < 1 or self.servers < 0 or self.server_cores < 0:
            raise ValueError(f"{self.point}: a job has a worker with a core, and nothing is below 0")
        if (self.servers == 0) != (self.server_cores == 0):
            raise ValueError(f"{self.servers} servers with {self.server_cores} cores: both are 0, or neither")

    @property
    def point(self) -> tuple[int, int, int, int]:
        """Workers, servers, cores of a worker, cores of a server."""
        return self.workers, self.servers, self.worker_cores, self.server_cores

    @property
    def cores(self) -> int:
        """Of all nodes together."""
        return self.workers * self.worker_cores + self.servers * self.server_cores

    @property
    def memory(self) -> float:
        """Bytes of all nodes together."""
        return self.workers * self.worker_memory + self.servers * self.server_memory

    def __str__(self) -> str:
        """In words.

        >>> print(Allocation(2, 1, 4, 8, server_memory=GIB))
        2 workers of 4 cores, 1 server of 8 cores and 1.0 GiB
        """
        parts = [_role(self.workers, "worker", self.worker_cores, self.worker_memory)]
        if self.servers:
            parts.append(_role(self.servers, "server", self.server_cores, self.server_memory))
        return ", ".join(parts)


def _role(count: int, name: str, cores: int, memory: float) -> str:
    nodes = f"{count} {name}{'s' * (count != 1)} of {cores} core{'s' * (cores != 1)}"
    return nodes + (f" and {memory / GIB:.1f} GiB" if memory else "")


class Load(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a step of a job works on."""

    kind: Kind = "servers"
    batch: int = 512
    """Rows of a worker's mini-batch with servers; of the whole step, all ranks together, with ranks."""
    embedded: float = 416.0
    """Numbers of embeddings that a row looks up: features by width."""
    transfer: float = 0.04
    """Seconds to move the dense weights over the network of one node: their bytes by its bytes a second."""


class Prices(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a core and a GiB of memory cost an hour, in any unit."""

    core: float = 1.0
    gib: float = 0.125

    def hour(self, allocation: Allocation) -> float:
        """What an allocation costs an hour."""
        return self.core * allocation.cores + self.gib * allocation.memory / GIB


class Goal(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a job is to be: as fast as its quota allows, or as fast as is worth its price.

    `worth` is what a million rows are worth, in the unit of the prices; None asks for speed alone.
    """

    prices: Prices = Prices()
    worth: float | None = None


class Measured(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The median time of a step, in seconds, under an allocation; the first steps don't count."""

    allocation: Allocation
    load: Load
    seconds: float


class Space(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What an allocation may be: numbers of nodes from least to most, sizes of nodes, and what all together may be.

    The defaults are DLRover's bounds of nodes (`NodeResourceLimit`): up to 60 workers and 15 servers.
    """

    workers: tuple[int, int] = (1, 60)
    servers: tuple[int, int] = (1, 15)
    worker_cores: tuple[int, ...] = (1, 2, 4, 8, 16, 32)
    server_cores: tuple[int, ...] = (1, 2, 4, 8, 16, 32)
    cores: int | None = None
    """Of all nodes together: the quota. None is none."""
    memory: float | None = None
    """Bytes of all nodes together."""
    node_memory: float = 64.0 * GIB
    """The most bytes of a node."""

    def __post_init__(self) -> None:
        for low, high in (self.workers, self.servers):
            if not 0 <= low <= high:
                raise ValueError(f"from {low} to {high} nodes: the least is not above the most")
        if self.workers[0] < 1 or not self.worker_cores or min(self.worker_cores) < 1:
            raise ValueError("there is at least one worker, and a node has at least one core")
        if bool(self.servers[1]) != bool(self.server_cores) or min(self.server_cores, default=1) < 1:
            raise ValueError("servers have cores, and where there are none, server_cores is empty")

    @property
    def values(self) -> tuple[tuple[int, ...], ...]:
        """What workers, servers and their cores may be."""
        nodes = [tuple(range(low, high + 1)) for low, high in (self.workers, self.servers)]
        return nodes[0], nodes[1], self.worker_cores, self.server_cores or (0,)

    @property
    def size(self) -> int:
        """How many allocations there are, those above the quota too."""
        found = 1
        for each in self.values:
            found *= len(each)
        return found
