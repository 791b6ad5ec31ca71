"""How much each replica counts in a round, module by module: plain numbers in, plain numbers out."""

from __future__ import annotations

import math
from collections.abc import Sequence

from couler_py.steps.edit.settings import Penalty


def weights(
    norms: Sequence[float],
    rejected: Sequence[bool],
    steps: Sequence[int],
    penalty: Penalty | None,
) -> tuple[float, ...] | None:
    """The weight of each replica for one module: they sum to 1, and to exactly 0 for the rejected and the idle.

    `steps` are the local steps of each replica since the last round: who made none has nothing to say. None where
    nobody is left: the module goes back to its anchor.
    """
    heard = [n for n, (no, made) in enumerate(zip(rejected, steps, strict=True)) if made and not no]
    if not heard:
        return None
    shares = [1.0 / len(heard)] * len(heard)
    if penalty and penalty.temperature is not None:
        shares = _softmax([norms[n] for n in heard], penalty.temperature, penalty.relative)
    if penalty and penalty.step_ratio:
        total = sum(steps[n] for n in heard)
        ratio = penalty.step_ratio
        shares = [(1 - ratio) * share + ratio * steps[n] / total for share, n in zip(shares, heard, strict=True)]
    given = [0.0] * len(norms)
    for n, share in zip(heard, shares, strict=True):
        given[n] = share
    return tuple(given)


def shrunk(norm: float, clip: float | None) -> float:
    """What to multiply a vector of a norm by so that it is no longer than `clip`."""
    return 1.0 if clip is None or norm <= clip else clip / norm


def _softmax(norms: Sequence[float], temperature: float, relative: bool) -> list[float]:
    if relative:
        mean = sum(norms) / len(norms)
        norms = [norm / mean if mean else 0.0 for norm in norms]
    least = min(norms)  # the largest exponent is 0: nothing overflows, and the sum is at least 1
    powers = [math.exp((least - norm) / temperature) for norm in norms]
    total = sum(powers)
    return [power / total for power in powers]
