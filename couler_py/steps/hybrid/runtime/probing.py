"""How fast a rank is that has nothing to do: a small computation of its own, timed, as Hetu does it for Malleus.

Hetu (PKU-DAIR) multiplies by the two matrices of a feed-forward part, 20 times; a rank's rate is what that takes over
what it takes on a healthy rank.
"""

from __future__ import annotations

import time

import torch

from couler_py.steps.hybrid.runtime.emulated import Timed, wait_until

REPEATS = 20
"""How often it multiplies; less often where that would take longer than it may, and what it took counts for more."""
WIDEST, LONGEST = 2048, 1024
"""A model's width and a micro-batch's tokens count up to here: 128 MiB of float32, only while it is timed."""


class Probe:
    """The small computation of one rank, for a model of so many hidden numbers and micro-batches of so many tokens.

    With `compute` it takes as long as a layer of a micro-batch does there, forward and backward.
    """

    def __init__(self, hidden: int, tokens: int, seat: int, device: torch.device | str, compute: Timed | None = None):
        self._width, self._tokens = min(hidden, WIDEST), min(tokens, LONGEST)
        self._seat, self._device, self._compute = seat, device, compute

    @torch.no_grad()
    def seconds(self, most: float) -> float:
        """Do it, and give how long all of it takes; the first time on a device warms up.

        Where that is longer than `most` seconds, only a part is done: others don't wait for a rank that is slow.
        """
        x = torch.ones(self._tokens, self._width, device=self._device)
        up = torch.full((self._width, 4 * self._width), 1 / self._width, device=self._device)
        down = torch.full((4 * self._width, self._width), 1 / (4 * self._width), device=self._device)
        float(x[0, 0])  # whatever the device was still doing is done
        started, done, took = time.perf_counter(), 0, 0.0
        while not done or (done < REPEATS and took < most):
            x = x @ up @ down
            float(x[0, 0])
            done, took = done + 1, time.perf_counter() - started
        if self._compute is None:
            return took * REPEATS / done
        each = self._compute.seconds(self._seat, "F", 1) + self._compute.seconds(self._seat, "B", 1)
        wait_until(started + min(each, most))
        return max(each, time.perf_counter() - started)
