"""How a job is doing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

State = Literal["ready", "running", "done", "stopped", "cancelled", "failed"]
FINISHED: tuple[State, ...] = ("done", "stopped")
"""All steps were made, or no more were worth it."""
UNFINISHED: tuple[State, ...] = ("cancelled", "failed")
"""Nothing is lost where a job begins anew."""
ENDED = FINISHED + UNFINISHED


class Progress(msgspec.Struct):
    """What of a job is no tensor: all of it travels in checkpoints."""

    state: State = "ready"
    reason: str = ""
    """Why it ended as it did."""
    step: int = 0
    """Windows of examples that are behind it, in which the optimizer moved or a scaler left the step out."""
    within: int = 0
    """Pieces of this step whose gradients are there already."""
    moved: int = 0
    """Steps of the optimizer."""
    scale: float = 1.0
    good: int = 0
    """Steps since the scale last changed."""
    sum: float = 0.0
    """This step's loss so far."""
    odd: str = ""
    """A loss of this step that was no number: JSON has no word for it."""
    losses: list[float] = []
    """Of each step in which the optimizer moved."""
    seen: list[tuple[int, float]] = []
    """Losses on held-out lines, each with the steps before it."""
    tokens: int = 0
    """That it learned from, without padding and prompts."""
    waited: int = 0
    seconds: float = 0.0
    """Of its passes, each shared by those in it as their rows are."""


def last_losses(jobs: Mapping[str, Progress]) -> dict[str, float]:
    """Of each job that finished: on its held-out lines, or of its last step where there are none.

    One that has neither is left out: its scaler left out all of its steps.
    """
    found = {}
    for name, each in jobs.items():
        known = [loss for _, loss in each.seen] or each.losses
        if each.state in FINISHED and known:
            found[name] = known[-1]
    return found
