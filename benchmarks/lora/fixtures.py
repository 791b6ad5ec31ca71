"""What LobRA's repository says of its experiments (PKU-DAIR/Hetu, examples/lobra, commit 45840dd), and lengths to plan
for. Its profiles aren't in it, and the lengths of its data sets neither: those here are drawn, of our choosing."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import NamedTuple

from couler_py.steps.lora.planning.costs import Config
from couler_py.steps.lora.planning.roofline import A100_40GB, A800_80GB, Device
from couler_py.steps.models.config import DecoderConfig

Kinds = tuple[tuple[int, int, int, int], ...]
"""Tensor parallelism, stages, tokens that fit, and how many there are."""


class Fixture(NamedTuple):
    """A model, GPUs, and the plans that were deployed on them."""

    name: str
    model: DecoderConfig
    device: Device
    tasks: int
    homogeneous: Kinds
    heterogeneous: Kinds
    known: tuple[tuple[int, int, int], ...]
    """All kinds of replicas whose tokens are told."""

    @property
    def ranks(self) -> int:
        return sum(config.ranks for config in plan(self.homogeneous))

    @property
    def configs(self) -> list[Config]:
        return [Config(*each) for each in self.known]


def plan(kinds: Kinds) -> tuple[Config, ...]:
    return tuple(Config(*kind) for *kind, count in kinds for _ in range(count))


FIXTURES = (
    Fixture(
        "7B, 16 A100",
        DecoderConfig(32000, 32, 4096, 32, 32, 11008, 16384),
        A100_40GB,
        6,
        ((8, 1, 16384, 2),),
        ((8, 1, 16384, 1), (2, 1, 4096, 1), (1, 1, 2048, 6)),
        ((1, 1, 2048), (2, 1, 4096), (4, 1, 8192), (8, 1, 16384)),
    ),
    Fixture(
        "32B, 64 A800",
        DecoderConfig(152064, 60, 6656, 64, 8, 17920, 16384),
        A800_80GB,
        12,
        ((8, 1, 16384, 8),),
        ((8, 1, 16384, 2), (4, 1, 8192, 2), (2, 2, 4096, 4), (1, 6, 2048, 4)),
        ((1, 4, 2048), (1, 6, 2048), (2, 2, 4096), (4, 1, 8192), (8, 1, 16384)),
    ),
    Fixture(
        "70B, 64 A800",
        DecoderConfig(32000, 80, 8192, 64, 8, 28672, 16384),
        A800_80GB,
        12,
        ((16, 1, 16384, 4),),
        ((16, 1, 16384, 1), (8, 1, 8192, 1), (4, 2, 4096, 1), (2, 4, 2048, 4)),
        ((2, 4, 2048), (4, 2, 4096), (8, 1, 8192), (16, 1, 16384)),
    ),
)
"""Layers and widths of 32B are those of its script; heads and the feed-forward part are our guess for 32 B in all."""

TASKS = (
    (180, 0.6), (120, 0.9), (200, 0.6), (220, 0.4), (350, 0.3), (400, 0.9),
    (500, 0.7), (450, 0.6), (900, 0.5), (450, 0.7), (2500, 0.8), (2200, 0.8),
)  # fmt: skip
"""Medians and spreads of log-normal lengths, in tokens: questions, instructions, code, news, bills and meetings."""
BATCH, LONGEST, SHORTEST = 64, 16384, 16


def lengths(tasks: int, seed: int, batches: int = 1) -> list[int]:
    """Rows of some steps, of every task as many; the longest there may be is among them, as LobRA plans for it."""
    draw = random.Random(seed)
    chosen: Sequence[tuple[int, float]] = TASKS[:: len(TASKS) // tasks]
    found = [
        min(LONGEST, max(SHORTEST, round(draw.lognormvariate(math.log(median), spread))))
        for median, spread in chosen
        for _ in range(BATCH * batches)
    ]
    return [*found[:-1], LONGEST]
