"""Share layers among the stages of a pipeline, and micro-batches among pipelines: exact, by a search over thresholds.

The two integer programs of Malleus (Li et al., SIGMOD 2025, its lower level). What fits below a time is monotone in the
time, so that no solver is needed; the tests hold it against one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

EXACT = 1e-9  # relative: times are sums of floats


HALVINGS = 24
"""After so many, few of the times at which a pipeline has done a micro-batch are left to look at."""


class InfeasibleError(ValueError):
    """No way of sharing fits."""


def share_layers(rates: Sequence[float], layers: int, most: Sequence[int] | None = None) -> list[int]:
    """Layers for each stage, so that the slowest stage takes the least time.

    `rates` are times of one layer, by stage, and `most` how many fit its memory. A stage may get none.
    Raises `InfeasibleError` where memory holds fewer layers than there are.
    """
    caps = [layers] * len(rates) if most is None else [min(layers, cap) for cap in most]
    if sum(caps) < layers:
        raise InfeasibleError(f"{layers} layers: the memory of all {len(caps)} stages holds {sum(caps)}")

    def fitting(bound: float) -> list[int]:
        return [min(cap, _below(bound, rate)) for rate, cap in zip(rates, caps, strict=True)]

    marks = {rate * count for rate, cap in zip(rates, caps, strict=True) for count in range(cap + 1)}
    found = fitting(_least(marks, lambda bound: sum(fitting(bound)) >= layers))
    for _ in range(sum(found) - layers):  # take back where it takes longest
        slowest = max(
            (each for each in range(len(found)) if found[each]), key=lambda each: (rates[each] * found[each], each)
        )
        found[slowest] -= 1
    return found


def share_micros(
    bottlenecks: Sequence[float], micros: int, least: Sequence[int] | None = None, starts: Sequence[float] | None = None
) -> list[int]:
    """Micro-batches for each pipeline, so that the last pipeline ends soonest.

    Pipeline i takes `starts[i] + m·bottlenecks[i]`; without `starts`, 0, that is its steady part. `least` is how many
    each must get (Malleus: as many as it has stages). Raises `InfeasibleError` where there are too few.
    """
    floor = [1] * len(bottlenecks) if least is None else list(least)
    ahead = [0.0] * len(bottlenecks) if starts is None else list(starts)
    if sum(floor) > micros:
        raise InfeasibleError(f"{micros} micro-batches: the {len(floor)} pipelines need at least {sum(floor)}")

    def fitting(bound: float) -> list[int]:
        return [_below(bound - start, slow) for slow, start in zip(bottlenecks, ahead, strict=True)]

    def enough(bound: float) -> bool:
        counts = fitting(bound)
        return sum(counts) >= micros and all(count >= low for count, low in zip(counts, floor, strict=True))

    moving = [(slow, start) for slow, start in zip(bottlenecks, ahead, strict=True) if math.isfinite(slow + start)]
    low, high = 0.0, max((start + slow * micros for slow, start in moving), default=0.0)
    for _ in range(HALVINGS):  # there are too many marks to sort them all
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    marks = {
        start + slow * count
        for slow, start in moving
        for count in range(max(0, math.floor((low - start) / slow)), min(micros, math.ceil((high - start) / slow)) + 1)
    }
    found = [min(count, micros) for count in fitting(_least(marks, enough))]
    for _ in range(sum(found) - micros):
        able = [each for each in range(len(found)) if found[each] > floor[each]]
        latest = max(able, key=lambda each: (ahead[each] + bottlenecks[each] * found[each], each))
        found[latest] -= 1
    return found


def _below(bound: float, step: float) -> int:
    """How many steps fit below a bound, one that touches it too."""
    return max(0, math.floor(bound / step * (1 + EXACT) + EXACT)) if math.isfinite(step) else 0


def _least(marks: set[float], holds: Callable[[float], bool]) -> float:
    """The least of some numbers from which on something holds."""
    row = sorted(mark for mark in marks if math.isfinite(mark))
    low, high = 0, len(row) - 1
    while low < high:
        middle = (low + high) // 2
        if holds(row[middle]):
            high = middle
        else:
            low = middle + 1
    return row[low]
