"""Where a job begins: near what alike jobs ended with (DLRover-RM's first stage, warm start)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Literal

import msgspec

from couler_py.steps.dlrm.planning.allocation import Allocation, Load, Space
from couler_py.steps.dlrm.planning.decisions import Decision, Rejected, Value

ALIKE = 5
"""So many of the most similar jobs count."""
RECENT = 0.5
"""What the newest of them counts; each one before that counts so much of what the later ones leave."""
AFTER_OOM = 1.2
"""The memory of a job that ran out counts as so many times what it had."""
COLD = Allocation(2, 1, 1, 1)
"""Where nothing is known: DLRover's last resort, 2 workers and 1 server of a core."""

Outcome = Literal["Succeeded", "Failed", "OutOfMemory"]


class Features(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What jobs are compared by."""

    model: str = "dlrm"
    data: str = ""
    """What tells it from other data."""
    rows: float = 0.0
    tables: int = 26
    width: int = 16
    batch: int = 2048
    optimizer: str = "rowwise_adagrad"
    device: str = "cpu"


class Profile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a job was given, how fast its steps were (median seconds), the most bytes of its nodes, and how it ended."""

    job: str
    features: Features
    load: Load
    allocation: Allocation
    finished: float
    """Seconds since 1970."""
    outcome: Outcome = "Succeeded"
    seconds: float | None = None
    worker_memory: float | None = None
    server_memory: float | None = None


Begun = tuple[Allocation, tuple[Profile, ...], Decision]
TIERS: tuple[tuple[str, Callable[[Profile, str, Features], bool]], ...] = (
    ("the same job", lambda past, job, _: past.job == job),
    ("the same model on the same data", lambda past, _, new: _key(past.features) == _key(new) and bool(new.data)),
    ("the same model", lambda past, _, new: past.features.model == new.model),
)


def similarity(one: Features, other: Features) -> float:
    """How alike two jobs are, from 0 to 1: what is equal, and how near in orders of magnitude the rest is.

    What is 0, or data without a name, isn't known, and doesn't count.

    >>> similarity(Features(rows=1e6), Features(rows=1e6)), round(similarity(Features(rows=1e6), Features(rows=1e7)), 3)
    (1.0, 0.895)
    """
    same = (
        (2.0, one.model == other.model),
        (2.0 if one.data and other.data else 0.0, one.data == other.data),
        (0.5, one.optimizer == other.optimizer),
        (1.0, one.device == other.device),
    )
    numbers = [
        (weight, a, b)
        for weight, a, b in (
            (1.0, one.rows, other.rows),
            (0.5, one.tables, other.tables),
            (0.5, one.width, other.width),
            (0.5, one.batch, other.batch),
        )
        if a > 0 and b > 0
    ]
    near = sum(weight * math.exp(-abs(math.log10(a / b))) for weight, a, b in numbers)
    total = sum(weight for weight, _ in same) + sum(weight for weight, *_ in numbers)
    return (sum(weight for weight, equal in same if equal) + near) / total


def warm_start(job: str, features: Features, load: Load, space: Space, history: Sequence[Profile]) -> Begun:
    """An allocation to begin with, the jobs that it comes from, and the decision.

    Jobs of the nearest tier count: the same job, else the same model and data, else the same model; of these the
    `ALIKE` most similar. Each number is their median, weighted by likeness and by how recent they are, so that one odd
    job doesn't matter. Nothing that is like it: `COLD`, within the space.
    """
    known = [each for each in history if each.load.kind == load.kind]
    for name, belongs in TIERS:
        mine = [each for each in known if belongs(each, job, features) and each.outcome != "Failed"]
        if not mine:
            continue
        alike = sorted(mine, key=lambda each: (-similarity(each.features, features), -each.finished))[:ALIKE]
        allocation = clamped(_median(alike, features), space)
        inputs: dict[str, Value] = {
            "tier": name,
            "jobs of it": len(mine),
            "counted": len(alike),
            "likeness": ", ".join(f"{similarity(each.features, features):.2f}" for each in alike),
        }
        rejected = (
            *(Rejected(str(each.allocation), f"{each.job} is less alike") for each in mine if each not in alike),
            Rejected(str(_cold(space, load)), "what is known of alike jobs is better than nothing"),
        )
        why = f"{name} ended with about this"
        sure: Literal["high", "part"] = "high" if len(alike) >= 3 else "part"
        return allocation, tuple(alike), Decision("warm start", str(allocation), why, inputs, rejected[:SHOWN], sure)
    allocation = _cold(space, load)
    why = f"none of {len(history)} known jobs is like it"
    return allocation, (), Decision("warm start", str(allocation), why, {"known jobs": len(history)}, confidence="low")


SHOWN = 5


def clamped(allocation: Allocation, space: Space) -> Allocation:
    """The nearest allocation of a space: sizes that there are, nodes taken away until the quota is kept."""
    low, high = space.workers
    workers = min(max(allocation.workers, low), high)
    servers = min(max(allocation.servers, space.servers[0]), space.servers[1])
    cores = min(space.worker_cores, key=lambda each: (abs(each - allocation.worker_cores), each))
    of_servers = min(space.server_cores, key=lambda each: (abs(each - allocation.server_cores), each), default=0)
    while space.cores is not None and workers * cores + servers * of_servers > space.cores:
        if workers > low and (workers * cores >= servers * of_servers or servers <= space.servers[0]):
            workers -= 1
        elif servers > space.servers[0]:
            servers -= 1
        elif smaller := [each for each in space.worker_cores if each < cores]:
            cores = max(smaller)
        elif smaller := [each for each in space.server_cores if each < of_servers]:
            of_servers = max(smaller)
        else:
            break
    memory = min(allocation.worker_memory, space.node_memory), min(allocation.server_memory, space.node_memory)
    return Allocation(workers, servers, cores, of_servers if servers else 0, *memory)


def _cold(space: Space, load: Load) -> Allocation:
    return clamped(COLD if load.kind == "servers" else Allocation(1), space)


def _key(features: Features) -> tuple[str, str]:
    return features.model, features.data


def _median(alike: Sequence[Profile], features: Features) -> Allocation:
    newest = sorted(alike, key=lambda each: -each.finished)
    weights = [
        similarity(each.features, features) * RECENT * (1 - RECENT) ** age if age < len(newest) - 1
        # the oldest counts all that the others leave, as in exponential smoothing
        else similarity(each.features, features) * (1 - RECENT) ** age
        for age, each in enumerate(newest)
    ]  # fmt: skip
    numbers = [weighted_median([each.allocation.point[n] for each in newest], weights) for n in range(4)]
    more = [AFTER_OOM if each.outcome == "OutOfMemory" else 1.0 for each in newest]
    workers = max(each.allocation.worker_memory * times for each, times in zip(newest, more, strict=True))
    servers = max(each.allocation.server_memory * times for each, times in zip(newest, more, strict=True))
    of_servers = max(1, round(numbers[3])) if numbers[1] else 0
    return Allocation(round(numbers[0]), round(numbers[1]), round(numbers[2]), of_servers, workers, servers)


def weighted_median(values: Sequence[float], weights: Sequence[float]) -> float:
    """The least value up to which half of the weight lies.

    >>> weighted_median([1, 10, 100], [1, 1, 1]), weighted_median([1, 10], [3, 1])
    (10, 1)
    """
    half, before = sum(weights) / 2, 0.0
    for value, weight in sorted(zip(values, weights, strict=True)):
        before += weight
        if before >= half:
            return value
    raise ValueError("a median takes a value")
