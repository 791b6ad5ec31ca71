"""Which norms are odd for one replica and one module: running mean and variance, judged one-sidedly."""

from __future__ import annotations

import math

import msgspec

from couler_py.steps.edit.settings import Penalty


class Running(msgspec.Struct, frozen=True):
    """What a replica remembers of a module's norms. It is plain data, and part of a checkpoint."""

    mean: float = 0.0
    variance: float = 0.0
    count: int = 0
    refused: int = 0
    """Rejections in a row."""


def judged(running: Running, norm: float, penalty: Penalty) -> tuple[bool, Running]:
    """Whether a norm is rejected, and what is remembered after it.

    A norm that is no number is rejected at any time and never remembered, nor is any other rejected one. After
    `restart_after` rejections in a row of numbers the memory begins anew with the next norm, so that norms that have
    changed for good don't lock a replica out.
    """
    if not math.isfinite(norm):
        return True, running
    if running.count >= penalty.rounds_before and score(running, norm) > penalty.threshold:
        refused = running.refused + 1
        if refused >= penalty.restart_after:
            return True, Running()
        return True, msgspec.structs.replace(running, refused=refused)
    return False, updated(running, norm, penalty)


def score(running: Running, norm: float) -> float:
    """How many deviations a norm lies above the mean; 0 where none was seen to deviate yet."""
    return (norm - running.mean) / math.sqrt(running.variance) if running.variance > 0 else 0.0


def updated(running: Running, norm: float, penalty: Penalty) -> Running:
    """Exponentially weighted: mean ← αx + (1-α)mean, then variance ← (1-α)variance + α(x - mean)².

    The form in EDiT's public code, whose deviation is taken from the new mean (arXiv 2412.07210; atorch).
    """
    alpha = penalty.smoothing
    if running.count == 0 and penalty.start == "first":
        return Running(mean=norm, variance=0.0, count=1)
    mean = alpha * norm + (1 - alpha) * running.mean
    variance = (1 - alpha) * running.variance + alpha * (norm - mean) ** 2
    return Running(mean=mean, variance=variance, count=running.count + 1)
