"""What a training of a recommender is: data that a workflow writes and every rank reads. No torch here."""

from __future__ import annotations

from typing import Literal

import msgspec

from couler_py.steps.dlrm.shapes import Shape


class Emulated(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What goes wrong, for demonstrations and tests: nothing, unless said otherwise."""

    slow: tuple[tuple[int, float], ...] = ()
    """Ranks that take so many seconds longer for each row."""
    lost: tuple[tuple[int, int], ...] = ()
    """Ranks that are killed after a step (of the whole training), each once: the process, and with it its node."""


class Task(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How to train. Nothing in it says on how many ranks: a step is the same step on any number of them."""

    shape: Shape = Shape()
    batch: int = 2048
    """Rows of a step, of all ranks together."""
    micro_batches: int = 1
    """Parts of a step, which ranks share: as many as the ranks that the job is planned with, or more."""
    epochs: float = 1.0
    dense_optimizer: Literal["adam", "adagrad", "sgd"] = "adam"
    dense_lr: float = 1e-3
    row_optimizer: Literal["rowwise_adagrad", "adagrad", "sgd"] = "rowwise_adagrad"
    row_lr: float = 0.05
    seed: int = 0
    save_every: int | None = None
    """Steps between checkpoints."""
    flash: bool = True
    """Whether checkpoints go through memory, so that training waits for no disk."""
    evaluate_every: int | None = None
    """Steps between looks at the rows for testing; at the end in any case."""
    rebalance_every: int | None = None
    """Steps between looks at which ranks look up too much; parts of tables move where one does."""
    sharding: Literal["exactly_once", "at_least_once", "fixed"] = "exactly_once"
    """Who says which rows a rank gets: a master from which a step's rows are drawn ("exactly_once") or shards are
    leased by each rank on its own ("at_least_once"), more of them for ranks that are fast; or the seed alone."""
    tolerance: float = 0.2
    """How much more than the mean a rank may look up."""
    watch_every: int | None = 10
    """Steps between looks at the memory of all ranks: a training that would run out is saved and ended before."""
    memory_limit: float | None = None
    """Bytes that a process may have, besides the bounds of its container and its address space."""
    memory: float | None = None
    """Bytes of a rank that tables may be held in, nine tenths of them; None doesn't look."""
    precision: Literal["fp32", "fp64"] = "fp32"
    emulated: Emulated = Emulated()

    @property
    def micro_batch(self) -> int:
        """Rows of a micro-batch."""
        return self.batch // self.micro_batches

    def __post_init__(self) -> None:
        if self.batch < 1 or self.micro_batches < 1 or self.batch % self.micro_batches:
            raise ValueError(f"a step of {self.batch} rows isn't shared evenly by {self.micro_batches} micro-batches")
        counts = {"save_every": self.save_every, "evaluate_every": self.evaluate_every}
        counts |= {"rebalance_every": self.rebalance_every, "watch_every": self.watch_every}
        for name, count in counts.items():
            if count is not None and count < 1:
                raise ValueError(f"{name} is {count}: it is at least 1, or None")
        if self.dense_lr <= 0 or self.row_lr <= 0 or self.epochs <= 0:
            raise ValueError("rates and epochs are above 0")
