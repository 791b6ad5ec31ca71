"""What a training is: data that a workflow writes and every rank reads. No torch here."""

from __future__ import annotations

import math
from typing import Literal

import msgspec

from couler_py.steps.edit.settings import Settings
from couler_py.steps.models.config import DecoderConfig


class Inner(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """AdamW, with a rate that rises linearly and falls along a cosine to a tenth."""

    lr: float = 3e-3
    betas: tuple[float, float] = (0.9, 0.95)
    weight_decay: float = 0.1
    rise: int = 20
    """Steps until the rate is whole."""
    clip: float | None = 1.0
    """The largest norm of a step's gradient, over one replica's shards."""

    def rate(self, progress: float, steps: int) -> float:
        """The rate after so many of all steps."""
        if progress < self.rise:
            return self.lr * (progress + 1) / self.rise
        fallen = min(1.0, (progress - self.rise) / max(1, steps - self.rise))
        return self.lr * (0.55 + 0.45 * math.cos(math.pi * fallen))


class Task(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A training of the built-in decoder on a folder of tokens."""

    settings: Settings
    model: DecoderConfig
    replicas: int
    steps: int
    """Optimizer steps of each replica; where the clock calls rounds, their mean over the replicas."""
    shards: int = 1
    sequence: int = 64
    """Tokens of a row."""
    batch: int = 8
    """Rows of a replica's step."""
    accumulate: int = 1
    """Backwards of a step, each over an equal part of the batch."""
    inner: Inner = Inner()
    precision: Literal["fp32", "bf16"] = "fp32"
    recompute: bool = False
    """Whether activations are computed again in the backward instead of kept."""
    seed: int = 0
    evaluate_every: int | None = None
    """After how many rounds, or synchronous steps, the held-out rows are looked at; at the end in any case."""
    held_out: int = 64
    """Rows at the end of the corpus that nobody trains on."""
    save_every: int | None = None
    """Steps (rounds, where the clock calls them) between checkpoints."""

    def __post_init__(self) -> None:
        if self.batch % (self.shards * self.accumulate):
            raise ValueError(
                f"a batch of {self.batch} rows isn't shared evenly by {self.shards} shards in {self.accumulate} parts"
            )
        if self.sequence > self.model.context:
            raise ValueError(f"rows of {self.sequence} tokens: the model's context holds {self.model.context}")

    def with_ranks(self, ranks: int) -> Task:
        """The same training with as many replicas as there are ranks for.

        Raises `ValueError` where that is none, or not a whole number.
        """
        if ranks < self.shards or ranks % self.shards:
            raise ValueError(f"{ranks} ranks are no whole number of replicas of {self.shards} shards")
        return msgspec.structs.replace(self, replicas=ranks // self.shards)
