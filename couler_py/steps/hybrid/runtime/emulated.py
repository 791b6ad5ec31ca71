"""Computation that takes as long as on other hardware: a rank computes something small, and waits for the rest."""

from __future__ import annotations

import time
from collections.abc import Mapping

import msgspec


class Timed(msgspec.Struct, frozen=True):
    """How long a layer takes for a micro-batch on a healthy rank, in seconds, whatever is really computed.

    What computing leaves of that is waited. A slice takes its part of the sequence; gradients of weights, where they
    are computed apart, half of the backward pass.
    """

    forward: float
    backward: float
    slowdown: Mapping[int, float] = {}
    """By rank, how many times as long it takes (default 1)."""

    def seconds(self, rank: int, kind: str, layers: float) -> float:
        """Of a forward ("F"), a backward ("B") or its gradients of weights alone ("W"), for so many layers."""
        each = {"F": self.forward, "B": self.backward, "W": self.backward / 2}[kind]
        return each * layers * self.slowdown.get(rank, 1.0)


def wait_until(moment: float) -> None:
    """Wait until `time.perf_counter()` says so."""
    left = moment - time.perf_counter()
    if left > 0:
        time.sleep(left)
