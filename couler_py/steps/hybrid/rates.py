"""How slow each rank is, and whether that is news: Malleus's rates (Li et al., SIGMOD 2025; PKU-DAIR/Hetu).

A rate is the time of a layer, as a multiple of a healthy rank's: 1 is healthy, infinity is gone.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

import msgspec

from couler_py.steps.hybrid.straggler import SLOW

GAP = 0.3
"""A rate that moved by less is no reason to plan anew (`safe_gap` there)."""


class Timing(msgspec.Struct, frozen=True):
    """What a rank computed in a step, without what it waited for others: no collectives, no optimizer."""

    seconds: float
    layers: int
    micros: int
    alpha: float = 1.0
    """How many times longer a layer takes on a healthy group of this size than on one of the largest."""

    @property
    def unit(self) -> float:
        """Seconds of a layer of a micro-batch, as on the largest group."""
        return self.seconds / (self.layers * self.micros * self.alpha)


def longer(alpha: Mapping[int, float], size: int, largest: int) -> float:
    """How many times longer a layer takes on a group of `size` ranks than on one of `largest`; below 1 on a larger one.

    `alpha` says it by how many times smaller a group is, a power of two; what it leaves out is as many times longer.
    """
    small, large = sorted((size, largest))
    found = alpha.get(large // small, large / small)
    return found if size <= largest else 1 / found


class Rates(msgspec.Struct, frozen=True):
    """What was found."""

    rates: tuple[float, ...]
    changed: bool
    """Whether a plan made for the rates before should be made anew."""
    slow: tuple[tuple[int, float], ...]
    """Ranks that are not healthy, the slowest first."""


def profile_devices(
    window: Sequence[Mapping[int, Timing]],
    baselines: Sequence[float],
    planned: Sequence[float] | None = None,
    *,
    suspended: Collection[int] = (),
    lost: Collection[int] = (),
) -> Rates:
    """Rates from the timings of the last steps, which are averaged.

    `baselines` are the seconds of a layer of a micro-batch that each rank took while all was well, on the largest
    group. `planned` are the rates that the current plan was made for (default: all healthy); a rank without timings
    keeps its own. Ranks that do nothing are `suspended` and timed by a small computation of their own: that one stays
    slow is no news, however slow. Raises `ValueError` for a rank without a baseline.
    """
    before = list(planned) if planned is not None else [1.0] * len(baselines)
    found = []
    for rank, base in enumerate(baselines):
        units = [step[rank].unit for step in window if rank in step]
        if rank in lost:
            found.append(math.inf)
        elif not units:
            found.append(before[rank])
        else:
            rate = math.fsum(units) / len(units) / base
            found.append(rate if rate >= SLOW else 1.0)
    strangers = sorted({rank for step in window for rank in step if not 0 <= rank < len(baselines)})
    if strangers:
        raise ValueError(f"rank {strangers[0]} has no baseline: there are {len(baselines)}")
    changed = moved(before, found, suspended)
    slow = sorted(((rank, rate) for rank, rate in enumerate(found) if rate > 1.0), key=lambda each: (-each[1], each[0]))
    return Rates(tuple(found), changed, tuple(slow))


def moved(before: Sequence[float], now: Sequence[float], suspended: Collection[int] = ()) -> bool:
    """Whether a rate has moved by so much that it is news; that a suspended rank stays slow is none, however slow."""
    return any(
        _far(old, new) and not (rank in suspended and min(old, new) >= SLOW)
        for rank, (old, new) in enumerate(zip(before, now, strict=True))
    )


def pays(before: float, after: float, steps: int, moving: float) -> bool:
    """Whether another plan gains more in the steps that are left than changing to it costs, all in the same unit."""
    return (before - after) * steps > moving


def _far(old: float, new: float) -> bool:
    if math.isinf(old) or math.isinf(new):
        return old != new
    return abs(new - old) >= GAP - 1e-9
