"""A feed of shards that each rank leases on its own: fast ranks take more of them, and no rank asks for the others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from couler_py.steps.checkpoint.peers import Peers, together
from couler_py.steps.dlrm.drawing import cut
from couler_py.steps.dlrm.sharding.messages import Lease, Piece
from couler_py.steps.dlrm.sharding.shares import Speeds

if TYPE_CHECKING:
    from couler_py.steps.dlrm.data.reading import Pieces
    from couler_py.steps.dlrm.feeding import Batch
    from couler_py.steps.dlrm.sharding.worker import Worker

LEASED = "leases"


class Leasing:
    """A feed of shards from a master with `mode="at_least_once"`, of which each rank has a worker.

    A step has `rows` rows, shared by the speeds that ranks have shown, and fewer at the end, where some ranks have a
    shard left and others find none. What a rank had in a step is reported when the next one begins, and before what the
    master knows is saved. Which rank has which shard depends on who asked first, and so do the steps.
    """

    def __init__(self, worker: Worker, pieces: Pieces, rows: int, ranks: Peers, *, most: int | None = None):
        self._worker, self._pieces, self._ranks, self._most = worker, pieces, ranks, most
        self.speeds = Speeds(ranks.size, rows)
        self._lease: Lease | None = None
        self._cursor = 0
        self._trained: list[tuple[Lease, int]] = []
        """Leases that the newest step had rows of, and how far it came in each."""
        self._whole = False
        """Whether the newest step gave this rank all rows that it asked for."""
        self._begun = False

    def next(self, rank: int, world: int) -> list[Batch]:
        """This rank's rows of the next step; the first, where nothing was restored, is the first of all."""
        if not self._begun:
            self._begin("")
        self._report()
        left = self.speeds.shares[rank]
        pieces = []
        while left and (lease := self._held()) is not None:
            first, last = self._cursor, min(lease.rows, self._cursor + left)
            pieces.append(Piece(lease.epoch, lease.start, lease.stop, first, last))
            self._trained.append((lease, last))
            self._cursor, left = last, left - (last - first)
            if last == lease.rows:
                self._lease = None
        self._whole = not left
        return cut(self._pieces.drawn(pieces), self._most) if pieces else []

    def computed(self, seconds: float) -> None:
        """Hear how long this rank has computed in a step; where one had too few rows, that says nothing of speeds."""
        told = self._ranks.gather((max(seconds, 1e-6), self._whole))
        if all(whole for _, whole in told):
            self.speeds.measured([each for each, _ in told])

    def facts(self) -> dict[str, Any]:
        """What the master knows when all ranks have reported, told by the first."""
        together(self._ranks, self._report)
        return {LEASED: self._worker.state()} if self._ranks.rank == 0 else {}

    def restore(self, facts: Mapping[str, Any]) -> None:
        """Have the master go back to what it knew. Raises `ValueError` for what another kind of feed has saved."""
        if LEASED not in facts:
            raise ValueError("the checkpoint is of a training whose rows came from elsewhere than leased shards")
        self._begin(facts[LEASED])

    def _begin(self, state: str) -> None:
        first = self._ranks.rank == 0
        together(self._ranks, lambda: self._worker.restore(state) if first else None)
        together(self._ranks, lambda: None if first else self._worker.join())
        self._begun = True

    def _held(self) -> Lease | None:
        """The shard that this rank is in, another where it is done with that, or None where no shard is free."""
        if self._lease is None:
            found = self._worker.take()
            if isinstance(found, Lease):
                self._lease, self._cursor = found, found.cursor
        return self._lease

    def _report(self) -> None:
        for lease, cursor in self._trained:
            self._worker.advance(lease, cursor)
        self._trained.clear()
