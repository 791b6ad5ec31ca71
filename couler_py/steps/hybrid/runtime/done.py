"""What a step came to."""

from __future__ import annotations

import msgspec


class Done(msgspec.Struct, frozen=True):
    """A step that was done; the same on every rank but for `seconds`."""

    step: int
    """Steps that are done now."""
    loss: float
    """The mean over all targets that count."""
    norm: float
    """Of all gradients together, before clipping."""
    seconds: float
    """From the first forward to the new weights, on this rank."""
