"""Jobs that take turns in one pipeline: while one job's micro-batch is down the pipe, another enters (mLoRA, 3.2).

Adapters share nothing that changes, so each is trained as if alone: its next step enters when its last backward has
left the first stage. Who does what in which order is fixed beforehand, by playing it, so that nothing can deadlock.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence

import msgspec

from couler_py.steps.hybrid.timeline import Op


class Job(msgspec.Struct, frozen=True):
    """A job's steps, its micro-batches a step, and the time of one on a stage."""

    steps: int = 1
    micros: int | tuple[int, ...] = 1
    """Of every step, or of each."""
    forward: float = 1.0
    backward: float = 1.0

    def of_step(self, step: int) -> int:
        """The micro-batches of a step, counted from 0."""
        return self.micros if isinstance(self.micros, int) else self.micros[step]


class Schedule(msgspec.Struct, frozen=True):
    """The order of every stage, and which micro-batch is whose."""

    orders: tuple[tuple[Op, ...], ...]
    whose: tuple[tuple[int, int, int], ...]
    """Of each micro-batch: its job, step, and number in the step."""
    spans: dict[Op, tuple[float, float]]
    peak: tuple[int, ...]
    """The most micro-batches that each stage keeps activations of."""

    def bubble(self, since: float = 0.0, until: float = float("inf")) -> float:
        """The share of all stages' time in which they wait, between two moments."""
        end = min(until, max(stop for _, stop in self.spans.values()))
        busy = sum(max(0.0, min(stop, end) - max(start, since)) for start, stop in self.spans.values())
        return 1.0 - busy / (len(self.orders) * (end - since))


def bubble(stages: int, jobs: int, micros: int = 1) -> float:
    """The closed form, for equal stages and free transfers: max((D - 1 + N - L·N) / (D + N - 1), 0)."""
    return max((stages - 1 + micros - jobs * micros) / (stages + micros - 1), 0.0)


def schedule(
    jobs: Sequence[Job],
    stages: int,
    *,
    uneven: Sequence[float] | None = None,
    sending: float = 0.0,
    in_flight: int | None = None,
) -> Schedule:
    """The orders in which stages do all steps of all jobs: a backward before a forward, in the order of arrival.

    `uneven` are factors of the stages' times, `sending` is the time to the next stage, `in_flight` how many
    micro-batches the first stage may keep activations of (default: any). Raises `ValueError` for no job or stage, or a
    limit below 1.
    """
    if not jobs or stages < 1 or (in_flight is not None and in_flight < 1):
        raise ValueError(f"{len(jobs)} jobs, {stages} stages, {in_flight} in flight: there is at least one of each")
    factors = list(uneven) if uneven is not None else [1.0] * stages
    if len(factors) != stages:
        raise ValueError(f"{len(factors)} factors for {stages} stages")
    return _Play(jobs, factors, sending, in_flight).run()


class _Play:
    """Events in the order of time: a stage is done, or something arrives at one."""

    def __init__(self, jobs: Sequence[Job], factors: Sequence[float], sending: float, in_flight: int | None):
        self._jobs, self._factors, self._sending, self._limit = jobs, factors, sending, in_flight
        stages = len(factors)
        self._ready: list[dict[str, list[tuple[float, int, int]]]] = [{"F": [], "B": []} for _ in range(stages)]
        self._orders: list[list[Op]] = [[] for _ in range(stages)]
        self._live, self._peak = [0] * stages, [0] * stages
        self._whose: list[tuple[int, int, int]] = []
        self._left: dict[tuple[int, int], int] = {}
        self._spans: dict[Op, tuple[float, float]] = {}
        self._events: list[tuple[float, int, str, int, Op]] = []
        self._count = 0

    def run(self) -> Schedule:
        """Play until nothing is left."""
        for job, own in enumerate(self._jobs):
            if own.steps:
                self._enter(job, 0, 0.0)
        free = set(range(len(self._factors)))
        now = 0.0
        while True:
            for stage in sorted(free):
                op = self._next(stage)
                if op is not None:
                    free.discard(stage)
                    self._begin(op, stage, now)
            if not self._events:
                break
            now = self._events[0][0]
            while self._events and self._events[0][0] == now:
                _, _, what, stage, op = heapq.heappop(self._events)
                if what == "there":
                    self._arrive(op, stage, now)
                else:
                    free.add(stage)
                    self._over(op, stage, now)
        return Schedule(tuple(map(tuple, self._orders)), tuple(self._whose), self._spans, tuple(self._peak))

    def _enter(self, job: int, step: int, now: float) -> None:
        self._left[job, step] = self._jobs[job].of_step(step)
        for number in range(self._jobs[job].of_step(step)):
            self._whose.append((job, step, number))
            self._arrive(Op("F", len(self._whose) - 1, 0), 0, now)

    def _arrive(self, op: Op, stage: int, now: float) -> None:
        self._count += 1
        heapq.heappush(self._ready[stage][op.kind], (now, self._count, op.micro))

    def _next(self, stage: int) -> Op | None:
        full = stage == 0 and self._limit is not None and self._live[0] >= self._limit
        for kind in ("B", "F"):
            if self._ready[stage][kind] and not (kind == "F" and full):
                return Op(kind, heapq.heappop(self._ready[stage][kind])[2], stage)
        return None

    def _begin(self, op: Op, stage: int, now: float) -> None:
        job = self._jobs[self._whose[op.micro][0]]
        end = now + (job.forward if op.kind == "F" else job.backward) * self._factors[stage]
        self._orders[stage].append(op)
        self._spans[op] = (now, end)
        if op.kind == "F":
            self._live[stage] += 1
            self._peak[stage] = max(self._peak[stage], self._live[stage])
        self._tell(end, "over", stage, op)

    def _over(self, op: Op, stage: int, now: float) -> None:
        last = stage + 1 == len(self._factors)
        if op.kind == "F":
            if last:
                self._arrive(Op("B", op.micro, stage), stage, now)
            else:
                self._tell(now + self._sending, "there", stage + 1, Op("F", op.micro, stage + 1))
            return
        self._live[stage] -= 1
        if stage:
            self._tell(now + self._sending, "there", stage - 1, Op("B", op.micro, stage - 1))
            return
        job, step, _ = self._whose[op.micro]
        self._left[job, step] -= 1
        if self._left[job, step] == 0 and step + 1 < self._jobs[job].steps:
            self._enter(job, step + 1, now)

    def _tell(self, when: float, what: str, stage: int, op: Op) -> None:
        self._count += 1
        heapq.heappush(self._events, (when, self._count, what, stage, op))
