"""What each rank trains on in a step: micro-batches, the same ones in all whatever the number of ranks. No torch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from couler_py.steps.corpus.order import Order
from couler_py.steps.elastic import microbatches


class Batch(Protocol):
    """Some rows, encoded: `couler_py.steps.dlrm.data.shards.Batch` is one."""

    @property
    def label(self) -> Any:
        """An array [rows] of float32, 0 or 1."""

    @property
    def dense(self) -> Any:
        """An array [rows, dense features] of float32."""

    @property
    def sparse(self) -> Any:
        """An array [rows, sparse features] of integers: rows of the tables."""


class Source(Protocol):
    """Rows that can be read from any place on."""

    def __len__(self) -> int:
        """How many."""

    def take(self, start: int, stop: int) -> Batch:
        """Those from one number up to another."""


class Feed(Protocol):
    """Where batches come from. What it knows is saved in the same commit as the model, so no row counts twice."""

    def next(self, rank: int, world: int) -> list[Batch]:
        """This rank's micro-batches of the next step; where no rank gets any, training ends."""

    def computed(self, seconds: float) -> None:
        """Hear how long this rank has computed in the step, without what it waited for others; all ranks call it."""

    def facts(self) -> dict[str, Any]:
        """Where it is after the steps that it gave, as JSON; what several ranks tell is the same on all of them."""

    def restore(self, facts: Mapping[str, Any]) -> None:
        """Go on from there."""


CURSOR = "micro-batches"


class Blocks:
    """A feed of blocks of neighbouring rows, in an order that the seed alone decides.

    A step is `planned` blocks of `size` rows, whoever takes them: rank r of n takes those that `elastic.microbatches`
    says. The last block may be shorter, and the last step may have fewer.
    """

    def __init__(self, source: Source, size: int, planned: int, *, epochs: float = 1.0, seed: int = 0):
        if size < 1 or planned < 1 or epochs <= 0:
            raise ValueError(f"{planned} micro-batches of {size} rows, {epochs} epochs: all of them are above 0")
        self._source, self._size, self._planned = source, size, planned
        blocks = -(-len(source) // size)
        self._order = Order(blocks, seed)
        self.blocks = max(1, round(blocks * epochs))
        """Micro-batches until the end."""
        self.done = 0
        """Those that were given, on all ranks."""

    @property
    def steps(self) -> int:
        """Steps until the end."""
        return -(-self.blocks // self._planned)

    def next(self, rank: int, world: int) -> list[Batch]:
        """This rank's blocks of the next step."""
        places = [self.done + number for number in microbatches(self._planned, rank, world)]
        self.done = min(self.done + self._planned, self.blocks)
        return [self._block(self._order[place]) for place in places if place < self.blocks]

    def computed(self, seconds: float) -> None:
        """Blocks are shared evenly, whatever the speed of ranks."""

    def facts(self) -> dict[str, Any]:
        """How many micro-batches were given."""
        return {CURSOR: self.done}

    def restore(self, facts: Mapping[str, Any]) -> None:
        """Go on behind those that were given."""
        self.done = int(facts[CURSOR])

    def _block(self, number: int) -> Batch:
        start = number * self._size
        return self._source.take(start, min(start + self._size, len(self._source)))
