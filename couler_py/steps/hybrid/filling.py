"""Weight gradients fill the gaps of a pipeline: nobody waits for them, so they run when nothing else can.

MEPipe (EuroSys 2025): a backward is parted in the gradient of its input, which the stage before waits for, and those of
weights: one piece for each matrix product, seven in a layer of a Llama. A worker that has nothing to do takes the next
piece.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Sequence

import msgspec

from couler_py.steps.hybrid.timeline import Op, check_done, needs
from couler_py.steps.trace import Trace


class Filled(msgspec.Struct, frozen=True):
    """When everything ran, in the unit of its durations."""

    spans: dict[Op, tuple[float, float]]
    """Forwards, and backwards without weights."""
    weights: tuple[tuple[tuple[Op, int, float, float], ...], ...]
    """By worker: the backward that a piece belongs to, its number, start and end."""
    peak: tuple[int, ...]
    """The most pieces of each worker that waited at once; each keeps its input and its output's gradient alive."""

    @property
    def makespan(self) -> float:
        """From the first start to the last end."""
        ends = [end for _, end in self.spans.values()]
        ends += [end for row in self.weights for _, _, _, end in row]
        return max(ends, default=0.0)

    def trace(self, orders: Sequence[Sequence[Op]], unit: float = 1e-3) -> Trace:
        """It as a Chrome trace, where a unit takes so many seconds."""
        made = Trace()

        def span(worker: int, name: str, start: float, end: float, kind: str) -> None:
            made.span(
                name,
                process="pipeline",
                thread=f"worker {worker}",
                start=start * unit,
                seconds=(end - start) * unit,
                kind=kind,
            )

        for worker, order in enumerate(orders):
            for op in order:
                kind = "forward" if op.kind == "F" else "backward"
                span(worker, f"{op.kind}{op.micro}.{op.slice}", *self.spans[op], kind)
            for op, piece, start, end in self.weights[worker]:
                span(worker, f"W{op.micro}.{op.slice}.{piece}", start, end, "weights")
        return made


def fill(
    orders: Sequence[Sequence[Op]],
    duration: Callable[[Op], float],
    weights: Callable[[Op], Sequence[float]],
    *,
    stages: int,
    slices: int = 1,
) -> Filled:
    """Run each worker's operations in its order, and pieces of weight gradients where the next one isn't ready yet.

    `duration` is that of a forward, and of a backward without weights; `weights` are the durations of a backward's
    pieces. A piece that has begun is finished, also when what was waited for is there. Raises `DeadlockError` for
    orders that can't go on.
    """
    place = [0] * len(orders)
    queues: list[deque[tuple[Op, int, float]]] = [deque() for _ in orders]
    peak = [0] * len(orders)
    spans: dict[Op, tuple[float, float]] = {}
    pieces: list[list[tuple[Op, int, float, float]]] = [[] for _ in orders]
    done: set[Op] = set()
    running: list[tuple[float, int, Op | None]] = []  # a worker runs one at a time: ops are never compared
    idle = set(range(len(orders)))
    now = 0.0
    while True:
        for worker in sorted(idle):
            row = orders[worker]
            op = row[place[worker]] if place[worker] < len(row) else None
            if op is not None and all(need in done for need in needs(op, stages, slices)):
                place[worker] += 1
                spans[op] = (now, now + duration(op))
                heapq.heappush(running, (spans[op][1], worker, op))
            elif queues[worker]:
                of, piece, takes = queues[worker].popleft()
                pieces[worker].append((of, piece, now, now + takes))
                heapq.heappush(running, (now + takes, worker, None))
            else:
                continue
            idle.discard(worker)
        if not running:
            break
        now = running[0][0]
        while running and running[0][0] == now:
            _, worker, over = heapq.heappop(running)
            idle.add(worker)
            if over is not None:
                done.add(over)
                if over.kind == "B":
                    queues[worker].extend((over, piece, takes) for piece, takes in enumerate(weights(over)))
                    peak[worker] = max(peak[worker], len(queues[worker]))
    check_done(orders, place)
    return Filled(spans, tuple(map(tuple, pieces)), tuple(peak))
