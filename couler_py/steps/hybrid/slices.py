"""Pipelines whose sequences are cut into slices: less waiting, and less memory for activations (MEPipe, SVPP).

Sun et al., "MEPipe: Democratizing LLM training with memory-efficient slice-level pipeline scheduling on cost-effective
accelerators", EuroSys 2025. p workers, v chunks of the model on each, s slices of a sequence, n micro-batches.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable

import msgspec

from couler_py.steps.hybrid.timeline import DeadlockError, Op, Timeline, needs, play


class Shape(msgspec.Struct, frozen=True):
    """A pipeline's shape. Raises `ValueError` for one that no schedule fits."""

    workers: int
    slices: int = 1
    chunks: int = 1
    micros: int = 1

    def __post_init__(self) -> None:
        for name in ("workers", "slices", "chunks", "micros"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}: a pipeline has at least 1")

    @property
    def stages(self) -> int:
        """Parts of the model, one after the other."""
        return self.workers * self.chunks

    @property
    def group(self) -> int:
        """Micro-batches that go through a chunk together: enough slices to keep every worker busy."""
        return -(-self.workers // self.slices)

    @property
    def is_even(self) -> bool:
        """Whether the formulas hold: groups are whole, or there is one chunk."""
        return self.chunks == 1 or self.micros % self.group == 0

    @property
    def most_live(self) -> int:
        """Slices that the first worker holds where memory is no limit."""
        p, s, v = self.workers, self.slices, self.chunks
        return min(v * max(p, s) + min(p, s) - 1, self.micros * v * s)

    @property
    def least_live(self) -> int:
        """Slices that a worker must be able to hold: below, a schedule can't go on."""
        return (self.chunks - 1) * self.group * self.slices + self.slices

    @property
    def bubble(self) -> float:
        """The share of time that is waited, all slices equally long: what the schedule comes to."""
        p = self.workers
        return (p - 1) / (p - 1 + self.micros * self.chunks * self.slices)

    def memory(self, live: int) -> float:
        """What so many live slices take, as a share of the activations of one micro-batch of the whole model."""
        return live / (self.slices * self.workers * self.chunks)


def forwards(shape: Shape, worker: int) -> list[Op]:
    """The forwards of a worker: by groups of micro-batches, each chunk for the whole group before the next."""
    return [
        Op("F", micro, chunk * shape.workers + worker, part)
        for micros in _groups(shape)
        for chunk in range(shape.chunks)
        for micro in micros
        for part in range(shape.slices)
    ]


def backwards(shape: Shape, worker: int) -> list[Op]:
    """The backwards of a worker: the same groups, the last chunk and the last slice first."""
    return [
        Op("B", micro, chunk * shape.workers + worker, part)
        for micros in _groups(shape)
        for chunk in reversed(range(shape.chunks))
        for micro in micros
        for part in reversed(range(shape.slices))
    ]


def explicit(shape: Shape) -> list[list[Op]]:
    """The orders of all workers where memory is no limit: forwards first, then backward and forward in turns."""
    orders = []
    for worker in range(shape.workers):
        ahead, behind = forwards(shape, worker), backwards(shape, worker)
        warm = min(
            shape.chunks * max(shape.workers, shape.slices) + min(shape.workers, shape.slices) - 1 - worker, len(ahead)
        )
        order = ahead[:warm]
        for number, op in enumerate(behind):
            order.append(op)
            if warm + number < len(ahead):
                order.append(ahead[warm + number])
        orders.append(order)
    return orders


def bounded(shape: Shape, live: int, duration: Callable[[Op], float] = lambda _: 1.0) -> Timeline:
    """A schedule in which no worker holds more than so many slices.

    Each worker does a backward after a forward and a forward after a backward, or the other where that isn't ready.
    Raises `DeadlockError` for fewer live slices than any schedule needs.
    """
    ahead = [forwards(shape, worker) for worker in range(shape.workers)]
    behind = [backwards(shape, worker) for worker in range(shape.workers)]
    nexts = [[0, 0] for _ in range(shape.workers)]
    holds, last = [0] * shape.workers, ["B"] * shape.workers
    orders: list[list[Op]] = [[] for _ in range(shape.workers)]
    done: set[Op] = set()
    running: list[tuple[float, int, Op]] = []
    idle = set(range(shape.workers))
    now = 0.0

    def ready(worker: int, kind: str) -> Op | None:
        row, at = (ahead[worker], nexts[worker][0]) if kind == "F" else (behind[worker], nexts[worker][1])
        if at == len(row) or (kind == "F" and holds[worker] >= live):
            return None
        return row[at] if all(need in done for need in needs(row[at], shape.stages, shape.slices)) else None

    while True:
        for worker in sorted(idle):
            preferred = "F" if last[worker] == "B" else "B"
            op = ready(worker, preferred) or ready(worker, "B" if preferred == "F" else "F")
            if op is None:
                continue
            nexts[worker][op.kind == "B"] += 1
            holds[worker] += op.kind == "F"
            last[worker] = op.kind
            orders[worker].append(op)
            idle.discard(worker)
            heapq.heappush(running, (now + duration(op), worker, op))
        if not running:
            break
        now = running[0][0]
        while running and running[0][0] == now:
            _, worker, op = heapq.heappop(running)
            done.add(op)
            holds[worker] -= op.kind == "B"
            idle.add(worker)
    if any(at != [len(ahead[worker]), len(behind[worker])] for worker, at in enumerate(nexts)):
        raise DeadlockError(
            f"with {live} live slices a worker, this schedule can't go on: it takes at least {shape.least_live}"
        )
    return play(orders, duration, stages=shape.stages, slices=shape.slices)


class Choice(msgspec.Struct, frozen=True):
    """A shape that fits the memory, with what it costs."""

    shape: Shape
    live: int
    """Slices that a worker holds at most."""
    step: float
    """The time of a step, in the unit of the durations."""
    memory: float
    """Bytes of the first worker: what it always has, and its live slices."""


def plan_slices(
    micros: int,
    forward: float,
    activations: float,
    *,
    fixed: float,
    capacity: float,
    workers: int,
    slices: tuple[int, ...] = (1, 2, 4, 8),
    chunks: tuple[int, ...] = (1, 2),
    overhead: float = 0.0,
    backward: float = 2.0,
) -> list[Choice]:
    """The shapes that fit a worker's memory, the fastest first.

    `forward` is the time of one micro-batch's forward through the whole model, `activations` its bytes; `overhead` a
    time that each slice of each stage adds, as kernels get smaller; `fixed` the bytes of weights and optimizer on a
    worker, and `capacity` all that it has. Shapes whose micro-batches don't make whole groups are left out.
    Raises `ValueError` where nothing fits, with how much the smallest takes.
    """
    found: list[Choice] = []
    least = math.inf
    for s in slices:
        for v in chunks:
            shape = Shape(workers, s, v, micros)
            if not shape.is_even:
                continue
            unit = activations * shape.memory(1)
            least = min(least, fixed + unit * shape.least_live)
            live = min(shape.most_live, math.floor((capacity - fixed) / unit + 1e-9))
            if live < min(shape.least_live, micros * v * s):
                continue
            one = forward / (shape.stages * s)
            cost = {"F": one + overhead, "B": backward * one + overhead}
            played = bounded(shape, live, lambda op, cost=cost: cost[op.kind])  # type: ignore[misc]
            held = max(played.peak)
            found.append(Choice(shape, held, played.makespan, fixed + unit * held))
    if not found:
        raise ValueError(f"no shape fits {capacity:g} bytes on {workers} workers: the smallest takes {least:g}")
    return sorted(found, key=lambda choice: (choice.step, choice.memory))


def _groups(shape: Shape) -> list[range]:
    return [range(first, min(first + shape.group, shape.micros)) for first in range(0, shape.micros, shape.group)]
