"""What a micro-batch takes on a replica of some shape (LobRA, its cost model), and constants from what was measured."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import msgspec

from couler_py.passes.solver import not_negative


class Tau(msgspec.Struct, frozen=True):
    """Time of one layer, forward and backward, for b rows of S tokens: (c1 b + c2) S² + (c3 b + c4) S + (c5 b + c6)."""

    constants: tuple[float, float, float, float, float, float]

    def time(self, rows: int, length: int) -> float:
        """The time; nothing takes none."""
        if rows == 0:
            return 0.0
        per_row, once = self.parts(length)
        return per_row * rows + once

    def parts(self, length: int) -> tuple[float, float]:
        """What each row adds, and what the micro-batch takes besides."""
        c1, c2, c3, c4, c5, c6 = self.constants
        return (c1 * length + c3) * length + c5, (c2 * length + c4) * length + c6


class Config(msgspec.Struct, frozen=True, order=True):
    """A kind of replica: `<tensor, stages>`, and how many tokens of a micro-batch its memory holds."""

    tensor: int
    stages: int
    tokens: int

    @property
    def ranks(self) -> int:
        """How many it takes."""
        return self.tensor * self.stages

    def rows(self, length: int) -> int:
        """How many rows of a length fit a micro-batch; none where a single one doesn't."""
        return self.tokens // length

    def __str__(self) -> str:
        return f"<{self.tensor},{self.stages}>:{self.tokens}"


class Costs(msgspec.Struct, frozen=True):
    """A model of so many layers, and the time of one by tensor parallelism."""

    layers: int
    taus: Mapping[int, Tau]

    def micro(self, config: Config, rows: int, length: int) -> float:
        """A micro-batch on one stage."""
        return self.taus[config.tensor].time(rows, length) * self.layers / config.stages

    def replica(self, config: Config, counts: Mapping[int, int]) -> float:
        """A step of a replica that does so many rows of each length: full micro-batches, and one of what is left.

        Σ of all micro-batches + (stages - 1) · the longest of them (the pipeline fills). Infinite where a row doesn't
        fit.
        """
        total, longest = 0.0, 0.0
        for length, count in counts.items():
            if count == 0:
                continue
            most = config.rows(length)
            if most == 0:
                return math.inf
            full, left = divmod(count, most)
            for times, rows in ((full, most), (1, left)):
                if times and rows:
                    one = self.micro(config, rows, length)
                    total += times * one
                    longest = max(longest, one)
        return total + (config.stages - 1) * longest

    def throughput(self, config: Config) -> float:
        """Tokens a rank does in a unit of time, with 16 micro-batches as long as may be."""
        one = self.micro(config, 1, config.tokens)
        return config.tokens * 16 / (config.ranks * one * (16 + config.stages - 1))


class Sample(msgspec.Struct, frozen=True):
    """The time that one layer took."""

    tensor: int
    rows: int
    length: int
    time: float


def fit(samples: Sequence[Sample]) -> dict[int, tuple[Tau, float]]:
    """The six constants of each tensor parallelism, and the largest error as a share of what was measured.

    Least squares relative to what was measured, no constant below 0. Raises `ValueError` for a time that isn't
    positive, and where rows or lengths are too few to tell the constants apart. Needs SciPy.
    """
    import numpy as np

    found = {}
    for tensor in sorted({sample.tensor for sample in samples}):
        own = [sample for sample in samples if sample.tensor == tensor]
        if len({each.rows for each in own}) < 2 or len({each.length for each in own}) < 3:
            raise ValueError(f"tensor parallelism {tensor} takes measures of 2 numbers of rows and 3 lengths at least")
        bad = [each for each in own if not (each.time > 0 and math.isfinite(each.time))]
        if bad:
            raise ValueError(f"{bad[0]}: times are above 0")
        columns = np.array(
            [[b * s * s, s * s, b * s, s, b, 1.0] for b, s in ((float(each.rows), float(each.length)) for each in own)]
        )
        times = np.array([each.time for each in own])
        constants = not_negative(columns / times[:, None], np.ones_like(times))
        worst = float(np.abs(columns @ constants / times - 1).max())
        found[tensor] = (Tau(tuple(constants.tolist())), worst)
    return found
