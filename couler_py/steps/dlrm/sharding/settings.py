"""What is handed out, and how."""

from __future__ import annotations

import math
from typing import Literal

import msgspec

from couler_py.steps.corpus.order import shuffled_place

Mode = Literal["at_least_once", "exactly_once"]


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The rows of a training, their order, and what happens when a worker is lost.

    The order of shards depends on the seed and the epoch alone. Raises `ValueError` for what makes no sense.
    """

    rows: int
    shard_rows: int
    epochs: float = 1
    """How often all shards are handed out; a part of an epoch is so many of its shards, and at least one."""
    seed: int = 0
    shuffled: bool = True
    """Whether shards come in an order that the seed gives, and not in that of their rows."""
    mode: Mode = "at_least_once"
    """With "at_least_once" workers take shards on their own, and what one had not reported when it was lost is trained
    on again; with "exactly_once" ranks that step together draw the rows of each step, and the place is saved with the
    model."""
    lease: float = 30.0
    """Seconds without a word after which a worker is taken for lost, and its shards are given to others."""
    retries: int = 3
    """How often a shard that failed, without any progress, is given out again."""
    quarantine: int = 0
    """How many shards may be set aside for good after their retries; one more, and the job fails."""

    def __post_init__(self) -> None:
        for name in ("rows", "shard_rows"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}: it is at least 1")
        if not (self.epochs > 0 and math.isfinite(self.epochs)):
            raise ValueError(f"{self.epochs} epochs: there are more than 0")
        if not (self.lease > 0 and math.isfinite(self.lease)):
            raise ValueError(f"a lease of {self.lease} s: it is above 0")
        if self.retries < 0 or self.quarantine < 0:
            raise ValueError("retries and quarantine are at least 0")

    @property
    def shards(self) -> int:
        """How many shards an epoch has; the last one of the rows may be shorter."""
        return -(-self.rows // self.shard_rows)

    @property
    def places(self) -> int:
        """How many shards are handed out until the end, over all epochs."""
        return max(1, round(self.shards * self.epochs))

    @property
    def order(self) -> tuple[int, int, int, bool, str]:
        """What says which rows a place is, and so what a saved place can be gone back to with."""
        return self.rows, self.shard_rows, self.seed, self.shuffled, self.mode

    def shard(self, place: int) -> tuple[int, int, int]:
        """The epoch, first row and row after the last of the shard at a place of the order, counted over all epochs."""
        epoch, within = divmod(place, self.shards)
        number = shuffled_place(within, self.shards, self.seed, epoch) if self.shuffled else within
        start = number * self.shard_rows
        return epoch, start, min(self.rows, start + self.shard_rows)


def shard_rows(rows: int, batch: int, workers: int, slowest: float = 0.25) -> int:
    """Rows of a shard, a multiple of the batch.

    So few that a shard takes the slowest worker, whose speed is `slowest` times that of the others, no more than 2 % of
    the epoch: who waits at the end waits for one shard. But at least 10 batches, or asking is what takes time, and no
    more than 50,000 shards, or it is keeping account. The last two come first where all can't be had. Raises
    `ValueError` for numbers that make no sense.
    """
    if min(rows, batch, workers) < 1 or not 0 < slowest <= 1:
        raise ValueError("rows, batch and workers are at least 1, and slowest is above 0 and at most 1")
    bound = 0.02 * rows * slowest / (workers - 1 + slowest)
    batches = max(math.floor(bound / batch), 10, math.ceil(rows / 50_000 / batch))
    return batch * batches
