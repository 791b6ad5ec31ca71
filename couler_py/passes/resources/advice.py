"""What a step should ask for, from what its attempts used.

A request is the 95th percentile of what attempts used and 15 % more, as the recommender of Kubernetes' vertical pod
autoscaler adds (https://github.com/kubernetes/autoscaler/tree/master/vertical-pod-autoscaler, recommendation margin
fraction). Memory that runs out ends a step, so its limit is above the most that was ever seen, and where an attempt was
ended for it, twice what that one had. A processor that is short only makes a step slower: its limit leaves room for the
busiest moment.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeVar

import msgspec

from couler_py.passes.history import Attempt
from couler_py.passes.retry.recognise import recognise

Number = TypeVar("Number", int, float)

PERCENTILE = 0.95
MARGIN = 0.15
MEMORY_STEP = 16 * 1024 * 1024
"""Amounts of memory are rounded up to a multiple of this (16 MiB), of processors to hundredths."""
LEAST_MEMORY = 4 * MEMORY_STEP
LEAST_CPU = 0.05
ENOUGH = 3
"""So many attempts are needed for advice to be followed without a person's eye."""

_OUT_OF_MEMORY = frozenset({"k8s-oom", "own-memory", "machine-no-memory"})


class Advice(msgspec.Struct, frozen=True):
    """What attempts used and what to ask for. Memory in bytes, `cpu` in processors; None where nobody measured.

    `workflow` is that of the step, where steps of several are beside each other.
    `memory`, `cpu` and their limits are what is recommended. `wasted_memory` (byte seconds) and `wasted_cpu`
    (processor seconds) are what attempts asked for and didn't use, over the time that they ran.
    """

    step: str
    attempts: int
    out_of_memory: int
    seconds: float
    asked_memory: int | None = None
    asked_cpu: float | None = None
    used_memory: int | None = None
    used_cpu: float | None = None
    memory: int | None = None
    memory_limit: int | None = None
    cpu: float | None = None
    cpu_limit: float | None = None
    wasted_memory: float = 0.0
    wasted_cpu: float = 0.0
    workflow: str = ""

    @property
    def enough(self) -> bool:
        """Whether there were attempts enough to follow it; running out of memory once is enough."""
        return self.attempts >= ENOUGH or self.out_of_memory > 0

    @property
    def waste(self) -> float:
        """How bad the waste is, to compare steps by: processor seconds, 4 GiB of memory counting as one processor."""
        return self.wasted_cpu + self.wasted_memory / (4 * 1024**3)


def advise(step: str, attempts: Sequence[Attempt], asked: tuple[int | None, float | None] = (None, None)) -> Advice:
    """The advice for a step from its attempts; `asked` is what it asks for now.

    >>> from couler_py.passes.history import Attempt
    >>> used = [Attempt("Succeeded", 0.0, 10.0, memory=300 * 1024**2, processors=0.4, asked_memory=2 * 1024**3)] * 3
    >>> found = advise("train", used)
    >>> found.memory // 1024**2, found.memory_limit // 1024**2, found.cpu, round(found.wasted_memory / 1024**3, 1)
    (352, 400, 0.46, 51.2)
    """
    ended = [each for each in attempts if ran_out(each)]
    peaks = sorted(each.memory for each in attempts if each.memory is not None)
    averages = sorted(each.processors for each in attempts if each.processors is not None)
    busiest = sorted(each.busiest for each in attempts if each.busiest is not None)
    memory, memory_limit = _memory(peaks, ended)
    cpu = None if not averages else _round_cpu(quantile(averages, PERCENTILE) * (1 + MARGIN))
    limit = None if cpu is None else max(cpu, _round_cpu(busiest[-1] * (1 + MARGIN)) if busiest else cpu)
    return Advice(
        step,
        len(attempts),
        len(ended),
        sum(each.seconds for each in attempts),
        *asked,
        used_memory=quantile(peaks, PERCENTILE) if peaks else None,
        used_cpu=quantile(averages, PERCENTILE) if averages else None,
        memory=memory,
        memory_limit=memory_limit,
        cpu=cpu,
        cpu_limit=limit,
        wasted_memory=sum(_left(each.asked_memory, each.memory) * each.seconds for each in attempts),
        wasted_cpu=sum(_left(each.asked_cpu, each.processors) * each.seconds for each in attempts),
    )


def ran_out(attempt: Attempt) -> bool:
    """Whether an attempt was ended because its memory ran out."""
    if attempt.state != "Failed":
        return False
    found = recognise(attempt.message, attempt.exit_code)
    return found is not None and found.pattern.name in _OUT_OF_MEMORY


def _memory(peaks: Sequence[int], ended: Sequence[Attempt]) -> tuple[int | None, int | None]:
    had = [max(each.asked_memory or 0, each.memory or 0) for each in ended]
    doubled = 2 * max(had, default=0)
    if not peaks and not doubled:
        return None, None
    request = max(quantile(peaks, PERCENTILE) * (1 + MARGIN) if peaks else 0, doubled, LEAST_MEMORY)
    limit = max(peaks[-1] * (1 + 2 * MARGIN) if peaks else 0, request)
    return _round_memory(request), _round_memory(limit)


def quantile(ordered: Sequence[Number], share: float) -> Number:
    """The smallest value that so large a share of the values doesn't exceed (the nearest rank).

    >>> quantile([1, 2, 3, 4], 0.5), quantile([1, 2, 3, 4], 0.95)
    (2, 4)
    """
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def _round_memory(amount: float) -> int:
    return math.ceil(amount / MEMORY_STEP) * MEMORY_STEP


def _round_cpu(amount: float) -> float:
    return max(LEAST_CPU, math.ceil(round(amount * 100, 6)) / 100)


def _left(asked: float | None, used: float | None) -> float:
    return max(0.0, asked - used) if asked is not None and used is not None else 0.0
