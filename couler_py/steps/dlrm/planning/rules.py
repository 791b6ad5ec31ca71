"""What DLRover's open repository does instead of a model: thresholds on how busy and how full nodes are.

The fallback where nothing can be fitted. Numbers are those of its code (version 0.7: `local_optimizer.py`, `job.py`,
`constants.py`, and `go/brain`'s `optalgorithm`); where its local and cluster-wide optimizers differ, the local one's.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import msgspec

from couler_py.steps.dlrm.planning.allocation import GIB, Allocation, Space
from couler_py.steps.dlrm.planning.decisions import Decision, Rejected, Value

OVERLOADED = 0.95
TARGET = 0.9
WORTH_ADDING = 0.2
HOT = 0.9
FULL = 0.9
IDLE = 0.4
MORE_MEMORY = 8.0 * GIB
MOST_CORES = 32
RELAUNCHES = 3
RECORDS = 5


class Seen(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a job used under its allocation: parts of what its servers have, the latest report last."""

    server_cpu: tuple[float, ...] = ()
    """Of the busiest server."""
    server_memory: tuple[float, ...] = ()
    """Of the fullest server."""
    speeds: tuple[tuple[int, float], ...] = ()
    """Numbers of workers that there were, and rows a second with them."""


def estimated(worker_cpu: float, servers_cpu: float, quota: int, server_cores: int) -> tuple[int, int]:
    """Workers and servers for a quota of cores, from what one worker and all its servers used together.

    >>> estimated(worker_cpu=4.0, servers_cpu=2.0, quota=60, server_cores=8)
    (10, 3)
    """
    workers = max(1, int(quota / (worker_cpu + servers_cpu)))
    return workers, max(1, math.ceil((quota - workers * worker_cpu) / server_cores))


def workers(now: int, most: int, seen: Seen) -> tuple[int, str]:
    """How many workers there should be by the head-room of servers, and why."""
    if not seen.server_cpu:
        return now, "nobody measured how busy servers are"
    busy = max(seen.server_cpu[-RECORDS:])
    if busy > OVERLOADED:
        return now, f"a server is busy by {busy:.0%}, more than {OVERLOADED:.0%}"
    if len(seen.speeds) >= 2:
        (few, slow), (many, fast) = seen.speeds[-2:]
        ratio = (fast - slow) / (many - few) / (slow / few) if many != few and slow > 0 else 1.0
        if many > few and ratio < WORTH_ADDING:
            return now, f"the last workers brought {ratio:.0%} of what the first did, less than {WORTH_ADDING:.0%}"
    wanted = math.floor(now * TARGET / max(busy, 1e-9))
    found = max(now, min(wanted, most))
    return found, f"servers are busy by {busy:.0%}: {found} workers would make it {busy * found / now:.0%}"


def hot_servers(cores: Sequence[float], used: Sequence[float], workers_now: int, most: int) -> tuple[int, ...]:
    """Cores for each server, where one is busy by `HOT`: what each used times one factor, moved only if that is more.

    >>> hot_servers([8, 8], [7.6, 4.0], workers_now=4, most=8)
    (16, 8)
    """
    if all(use / have < HOT for use, have in zip(used, cores, strict=True)):
        return tuple(int(each) for each in cores)
    factor = min(most / workers_now, MOST_CORES / max(used))
    return tuple(max(int(have), math.ceil(use * factor)) for have, use in zip(cores, used, strict=True))


def reclaimed(cores: int, used: float) -> int:
    """Cores for a server that is idle: what it used at most, and 4.

    >>> reclaimed(32, 5.2), reclaimed(32, 20.0)
    (10, 32)
    """
    return min(cores, math.ceil(used) + 4) if used / cores < IDLE else cores


def after_oom(memory: float, relaunches: int, node_memory: float = 64.0 * GIB) -> float | None:
    """Bytes for a node that ran out of memory: twice as many, by no more than 8 GiB; None where it isn't tried again.

    >>> after_oom(4 * GIB, 0) / GIB, after_oom(32 * GIB, 2) / GIB, after_oom(4 * GIB, 3)
    (8.0, 40.0, None)
    """
    if relaunches >= RELAUNCHES or memory >= node_memory:
        return None
    return min(2 * memory, memory + MORE_MEMORY, node_memory)


def pending_too_long(cores: int, memory: float) -> tuple[int, float]:
    """What a node that wasn't placed for 900 s asks for instead.

    >>> pending_too_long(16, 16 * GIB) == (8, 8 * GIB), pending_too_long(8, 8 * GIB) == (8, 8 * GIB)
    (True, True)
    """
    return cores // 2 if cores // 2 > 4 else cores, memory / 2 if memory / 2 > 6 * GIB else memory


def fallback(current: Allocation, space: Space, seen: Seen) -> tuple[Allocation, Decision]:
    """The allocation by the rules, and the decision; it keeps the quota."""
    taken = current.servers * current.server_cores
    room = math.inf if space.cores is None else (space.cores - taken) // current.worker_cores
    most = int(min(space.workers[1], room))
    count, why = workers(current.workers, max(current.workers, most), seen)
    memory = current.server_memory
    full = len(seen.server_memory) >= 3 and min(seen.server_memory[-3:]) > FULL
    if full and memory:
        memory = min(memory + MORE_MEMORY, space.node_memory)
        why += f"; a server was full by more than {FULL:.0%} three times, so it gets {memory / GIB:.0f} GiB"
    found = msgspec.structs.replace(current, workers=count, server_memory=memory)
    rejected = () if found == current else (Rejected(str(current), "servers have room, or need more memory"),)
    inputs: dict[str, Value] = {
        "policy": "rules",
        "busiest server": max(seen.server_cpu[-RECORDS:], default=None),
        "fullest server": max(seen.server_memory[-3:], default=None),
        "quota of cores": space.cores,
    }
    sure: Literal["part", "low"] = "part" if seen.server_cpu else "low"
    return found, Decision("fallback", str(found), why, inputs, rejected, sure)
