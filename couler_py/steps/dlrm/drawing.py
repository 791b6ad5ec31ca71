"""A feed from a master of shards: each row once, and fewer of them for a rank that is slow."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from couler_py.steps.checkpoint.peers import Peers, together
from couler_py.steps.dlrm.sharding.shares import Speeds

if TYPE_CHECKING:
    from couler_py.steps.dlrm.data.reading import Pieces
    from couler_py.steps.dlrm.feeding import Batch
    from couler_py.steps.dlrm.sharding.worker import Worker

STATE, STEP = "master", "step"


class Drawing:
    """A feed of rows that the first rank draws for all from a master with `mode="exactly_once"`; only it has a worker.

    A step has `rows` rows, cut by the speeds that ranks have shown (`sharding.shares.Speeds`), or evenly: its rows are
    the same however it is cut. Each rank takes its part in micro-batches of up to `most` rows, or as one. What the
    master knows is saved with the model, so after a kill every row is in the model once. Clocks decide how a step is
    cut, and so in which order numbers are added up: where a training must end with the same bits, set `even`.
    """

    def __init__(
        self, worker: Worker | None, pieces: Pieces, rows: int, ranks: Peers, *, even: bool = False,
        most: int | None = None,
    ):  # fmt: skip
        self._worker, self._pieces, self._ranks, self._even, self._most = worker, pieces, ranks, even, most
        self.speeds = Speeds(ranks.size, rows)
        self._step = 0

    def next(self, rank: int, world: int) -> list[Batch]:
        """This rank's rows of the next step; the first, where nothing was restored, is the first of all."""
        if not self._step:
            self._begin("")
        self._step += 1
        worker, step = self._worker, self._step
        told = together(self._ranks, lambda: worker.draw(step, self.speeds.shares) if worker else ())
        drawn = told[0][rank]
        return cut(self._pieces.drawn(drawn), self._most) if drawn else []

    def computed(self, seconds: float) -> None:
        """Hear how long this rank has computed in a step."""
        if not self._even:
            self.speeds.measured(self._ranks.gather(max(seconds, 1e-6)))

    def facts(self) -> dict[str, Any]:
        """What the master knows, told by the first rank alone, and the step."""
        own = {STATE: self._worker.state()} if self._worker else {}
        return {STEP: self._step, **own}

    def restore(self, facts: Mapping[str, Any]) -> None:
        """Have the master go back to what it knew. Raises `ValueError` for what another kind of feed has saved."""
        if STATE not in facts or STEP not in facts:
            raise ValueError("the checkpoint is of a training whose rows came from elsewhere than a master's draws")
        self._begin(facts[STATE])
        self._step = int(facts[STEP])

    def _begin(self, state: str) -> None:
        worker = self._worker
        together(self._ranks, lambda: worker.restore(state) if worker else None)


def cut(batch: Any, most: int | None) -> list[Batch]:
    """A batch as micro-batches of up to so many rows, as equal as they can be; as one where `most` is None."""
    rows = len(batch.label)
    if most is None or rows <= most:
        return [batch]
    count = -(-rows // most)
    ends = [rows * number // count for number in range(count + 1)]
    return [type(batch)(*(column[start:stop] for column in batch)) for start, stop in pairwise(ends)]
