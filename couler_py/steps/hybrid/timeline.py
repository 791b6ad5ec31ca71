"""Play a schedule of pipelines: when each operation runs, who waits, and how much is live. Pure and exact."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import msgspec

from couler_py.steps.trace import Trace

Kind = Literal["F", "B"]


class Op(NamedTuple):
    """A piece of work: forward or backward of a slice of a micro-batch on a stage."""

    kind: Kind
    micro: int
    stage: int
    """Counted along the model: with v chunks a worker, stage `chunk * workers + worker`."""
    slice: int = 0

    def __str__(self) -> str:
        return f"{self.kind}(micro-batch {self.micro}, stage {self.stage}, slice {self.slice})"


class DeadlockError(ValueError):
    """A schedule in which all that is left waits for something that is left."""


class Timeline(msgspec.Struct, frozen=True):
    """When everything ran, in the unit of its durations."""

    orders: tuple[tuple[Op, ...], ...]
    """What each worker did, in this order."""
    spans: dict[Op, tuple[float, float]]
    peak: tuple[int, ...]
    """The most forwards of a worker whose backward was still to come, at once."""

    @property
    def makespan(self) -> float:
        """From the first start to the last end."""
        return max((end for _, end in self.spans.values()), default=0.0)

    @property
    def busy(self) -> tuple[float, ...]:
        """How long each worker worked."""
        return tuple(sum(self.spans[op][1] - self.spans[op][0] for op in order) for order in self.orders)

    @property
    def bubble(self) -> float:
        """The share of all workers' time in which they wait."""
        return 1.0 - sum(self.busy) / (len(self.orders) * self.makespan) if self.spans else 0.0

    def trace(self, unit: float = 1e-3) -> Trace:
        """It as a Chrome trace, where a unit takes so many seconds."""
        made = Trace()
        self.into(made, unit, "pipeline", [f"worker {worker}" for worker in range(len(self.orders))])
        return made

    def into(self, trace: Trace, unit: float, process: str, workers: Sequence[str]) -> None:
        """Add it to a trace, under the name of a process, with a row for each of the named workers."""
        for name, order in zip(workers, self.orders, strict=True):
            for op in order:
                start, end = self.spans[op]
                trace.span(
                    f"{op.kind}{op.micro}.{op.slice}",
                    process=process,
                    thread=name,
                    start=start * unit,
                    seconds=(end - start) * unit,
                    kind="forward" if op.kind == "F" else "backward",
                    stage=op.stage,
                )


def needs(op: Op, stages: int, slices: int = 1) -> list[Op]:
    """What must be over before an operation: the stage before it, and slices that it attends to or is attended by.

    A forward of a slice reads keys and values of the slices before; their gradients come from the slices behind
    (MEPipe, EuroSys 2025).
    """
    kind, micro, stage, part = op
    found = []
    if kind == "F":
        if stage:
            found.append(Op("F", micro, stage - 1, part))
        if part:
            found.append(Op("F", micro, stage, part - 1))
        return found
    found.append(Op("B", micro, stage + 1, part) if stage + 1 < stages else Op("F", micro, stage, part))
    found.append(Op("B", micro, stage, part + 1) if part + 1 < slices else Op("F", micro, stage, part))
    return list(dict.fromkeys(found))


def play(
    orders: Sequence[Sequence[Op]],
    duration: Callable[[Op], float],
    *,
    stages: int,
    slices: int = 1,
    sending: float = 0.0,
) -> Timeline:
    """Run each worker's operations in its order, each as soon as what it needs is there.

    `sending` is the time from the end on one worker to where another may use it. Raises `DeadlockError`, which names
    what each worker waits for, and `ValueError` for an operation that is there twice or not at all.
    """
    home: dict[Op, int] = {}
    for worker, order in enumerate(orders):
        for op in order:
            if op in home:
                raise ValueError(f"{op} is on worker {home[op]} and on worker {worker}")
            home[op] = worker
    spans: dict[Op, tuple[float, float]] = {}
    waiting: defaultdict[Op, list[int]] = defaultdict(list)
    place = [0] * len(orders)
    free = [0.0] * len(orders)
    live, peak = [0] * len(orders), [0] * len(orders)
    turns = deque(range(len(orders)))
    while turns:
        worker = turns.popleft()
        while place[worker] < len(orders[worker]):
            op = orders[worker][place[worker]]
            start = free[worker]
            missing = None
            for need in needs(op, stages, slices):
                if need not in home:
                    raise ValueError(f"{op} needs {need}, which no worker does")
                if need not in spans:
                    missing = need
                    break
                start = max(start, spans[need][1] + (sending if home[need] != worker else 0.0))
            if missing is not None:
                waiting[missing].append(worker)
                break
            free[worker] = start + duration(op)
            spans[op] = (start, free[worker])
            place[worker] += 1
            live[worker] += 1 if op.kind == "F" else -1
            peak[worker] = max(peak[worker], live[worker])
            turns.extend(waiting.pop(op, ()))
    check_done(orders, place)
    return Timeline(tuple(map(tuple, orders)), spans, tuple(peak))


def check_done(orders: Sequence[Sequence[Op]], place: Sequence[int]) -> None:
    """Raise `DeadlockError`, with what they wait to do, where workers at these places of their orders have more."""
    stuck = [
        f"worker {worker} waits to do {orders[worker][at]}"
        for worker, at in enumerate(place)
        if at < len(orders[worker])
    ]
    if stuck:
        raise DeadlockError("; ".join(stuck))


def one_forward_one_backward(stages: int, micros: int) -> list[list[Op]]:
    """The order of 1F1B (PipeDream-flush, DAPPLE): stage j has at most `stages - j` micro-batches in flight."""
    orders = []
    for stage in range(stages):
        warm = min(stages - stage, micros)
        order = [Op("F", micro, stage) for micro in range(warm)]
        for micro in range(micros):
            order.append(Op("B", micro, stage))
            if micro + warm < micros:
                order.append(Op("F", micro + warm, stage))
        orders.append(order)
    return orders


def pipeline_step(times: Sequence[float], micros: int, backward: float = 2.0) -> float:
    """How long 1F1B takes where a micro-batch takes so long on each stage, forward and backward together.

    A backward takes `backward` times its forward.
    """
    share = {"F": 1.0 / (1.0 + backward), "B": backward / (1.0 + backward)}
    orders = one_forward_one_backward(len(times), micros)
    return play(orders, lambda op: times[op.stage] * share[op.kind], stages=len(times)).makespan
