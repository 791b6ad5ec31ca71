"""What a sequence costs on a pipeline of some shape, and how long one may be: the model of Hydraulis (SIGMOD 2026).

Constants of 32 B parameters are those of PKU-DAIR/Hetu, `examples/hydraulis/strategy`: milliseconds on A800 GPUs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import msgspec

MIB = 1 << 20


class Scheme(msgspec.Struct, frozen=True, order=True):
    """A pipeline of so many stages, each of so many ranks; forward and backward of a sequence on one of its stages.

    A sequence of s tokens takes `square`·s² + `linear`·s, a micro-batch of packed ones the sum and `fixed`.
    """

    tensor: int
    stages: int
    square: float
    linear: float
    fixed: float
    longest: int
    """Tokens of a micro-batch that its memory holds."""
    useful: int = 0
    """Tokens of a micro-batch below which its GPUs are under-used."""

    @property
    def ranks(self) -> int:
        """How many it takes."""
        return self.tensor * self.stages

    def cost(self, length: float) -> float:
        """The time of a sequence on a stage, without what its micro-batch adds."""
        return self.square * length * length + self.linear * length

    def time(self, micros: Sequence[float]) -> float:
        """The time of all micro-batches whose sequences cost so much: Σ + (stages - 1) · the longest."""
        if not micros:
            return 0.0
        return math.fsum(micros) + len(micros) * self.fixed + (self.stages - 1) * (max(micros) + self.fixed)

    def __str__(self) -> str:
        return f"({self.tensor},{self.stages})"


class Model(msgspec.Struct, frozen=True):
    """A model, the layout in which its optimizer's state lies for good, and the memory of a rank, in bytes.

    `states` are bytes of state for each weight-sized square of a layer, of which `sharded` lie in the fixed layout
    (`owners`: data, tensor and pipeline parallel), the rest in the layout of the step.
    """

    layers: int
    hidden: int
    vocabulary: int
    activations: Mapping[int, float]
    """Bytes of a token, layer and hidden unit that a rank keeps for the backward, by tensor parallelism."""
    owners: tuple[int, int, int]
    states: float = 201.0
    sharded: float = 0.75
    capacity: float = 81252 * MIB
    gap: float = 5000 * MIB
    safe: float = 10 * 1024 * MIB

    def state_bytes(self, tensor: int, stages: int) -> float:
        """Weights, gradients and optimizer state on a rank."""
        data, tensor_os, stages_os = self.owners
        layer = self.hidden**2 * self.states
        ends = self.hidden * self.vocabulary
        step = self.layers / stages * layer / tensor + ends / tensor * end_bytes(stages)
        fixed = self.layers / stages_os * layer / tensor_os + ends / tensor_os * end_bytes(stages_os)
        return step * (1 - self.sharded) + fixed * self.sharded / data

    def longest(self, tensor: int, stages: int) -> int:
        """Tokens of a micro-batch that fit: activations don't shrink with stages, as 1F1B keeps as many in flight."""
        room = self.capacity - self.safe - self.gap - self.state_bytes(tensor, stages)
        return max(0, math.floor(room / (self.activations[tensor] * self.layers * self.hidden / tensor)))


def end_bytes(stages: int) -> int:
    """Bytes for each weight of embedding and head: both are on the one stage, or each on one."""
    return 32 if stages == 1 else 16


M32 = Model(60, 6656, 30592, {1: 36, 2: 36, 4: 37, 8: 42, 16: 50}, owners=(4, 16, 1))
"""32 B parameters on 64 ranks, optimizer state in the layout dp4 tp16 pp1."""

POOL32 = tuple(
    Scheme(tensor, stages, square, linear, fixed, M32.longest(tensor, stages), useful)
    for tensor, stages, square, linear, fixed, useful in (
        (16, 1, 1.378e-6, 0.10244, 145.7, 1280),
        (8, 1, 2.125e-6, 0.14141, 122.9, 1024),
        (8, 2, 1.068e-6, 0.07106, 61.8, 1024),
        (8, 3, 6.855e-7, 0.04828, 38.1, 1024),
        (8, 4, 4.911e-7, 0.03708, 25.4, 1024),
        (4, 1, 3.87e-6, 0.2390, 120.7, 768),
        (4, 2, 2.046e-6, 0.1183, 65.4, 768),
        (4, 4, 1.058e-6, 0.0592, 35.3, 768),
        (2, 4, 1.970e-6, 0.10656, 42.9, 512),
    )
)
"""Its schemes, as they were measured; what they hold follows from the model of memory."""


class Strategy(msgspec.Struct, frozen=True):
    """Pipelines that share a step's sequences."""

    pipelines: tuple[Scheme, ...]

    @property
    def ranks(self) -> int:
        """How many all its pipelines take."""
        return sum(each.ranks for each in self.pipelines)

    @property
    def longest(self) -> int:
        """Tokens of the longest sequence that any of them holds."""
        return max((each.longest for each in self.pipelines), default=0)

    def __str__(self) -> str:
        return " + ".join(f"{count}×{scheme}" for scheme, count in counted(self.pipelines))


def counted(schemes: Iterable[Scheme]) -> list[tuple[Scheme, int]]:
    """Each scheme and how often it is there, what holds the longest sequences first."""
    found: dict[Scheme, int] = {}
    for scheme in schemes:
        found[scheme] = found.get(scheme, 0) + 1
    return sorted(found.items(), key=lambda each: (-each[0].longest, each[0]))


def homogeneous(scheme: Scheme, ranks: int) -> Strategy:
    """As many pipelines of one scheme as there are ranks for. Raises `ValueError` where there are too few for one."""
    if ranks < scheme.ranks:
        raise ValueError(f"a pipeline {scheme} takes {scheme.ranks} ranks: there are {ranks}")
    return Strategy((scheme,) * (ranks // scheme.ranks))
