"""Rows from a master of shards: each once, whatever becomes of workers. Ranks are threads here (`sharing.py`)."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from couler_py.steps.dlrm.data.reading import Pieces
from couler_py.steps.dlrm.drawing import Drawing
from couler_py.steps.dlrm.sharding.service import serving
from couler_py.steps.dlrm.sharding.settings import Settings
from couler_py.steps.dlrm.sharding.worker import Worker
from couler_py.steps.dlrm.training import Told, train
from tests.training.dlrm.sharing import Ranks, on
from tests.training.dlrm.toys import TASK, Planted, trainer

SOURCE = Planted(1500, 1)
SETTINGS = Settings(rows=1500, shard_rows=400, seed=5, mode="exactly_once")
SAVING = msgspec.structs.replace(TASK, save_every=2)


class Ended(Exception):
    """A training that is ended from outside."""


def ends_after(step: int) -> Callable[[int], None]:
    def end(done: int) -> None:
        if done == step:
            raise Ended

    return end


def drawn(folder: Path, world: int, task: Any = TASK, **options: Any) -> list[Told]:
    def work(ranks: Ranks) -> Told:
        with Worker(folder, "first") if ranks.rank == 0 else contextlib.nullcontext() as worker:
            feed = Drawing(worker, Pieces(SOURCE, seed=5), task.batch, ranks.group)
            return train(trainer(task, ranks), feed, **options)

    return on(world, work)


def test_after_workers_were_lost_the_others_make_the_same_steps(tmp_path: Path) -> None:
    with serving(tmp_path / "undisturbed", SETTINGS):
        [alone] = drawn(tmp_path / "undisturbed", 1)
    assert (alone.rows, alone.steps) == (1500, 6)
    checkpoints = tmp_path / "checkpoints"
    with serving(tmp_path / "master", SETTINGS):
        with pytest.raises(Ended):
            drawn(tmp_path / "master", 2, SAVING, checkpoints=checkpoints, after=ends_after(3))
        with pytest.raises(Ended):
            drawn(tmp_path / "master", 1, SAVING, checkpoints=checkpoints, after=ends_after(5))
        told = drawn(tmp_path / "master", 2, SAVING, checkpoints=checkpoints)
    for each in told:
        assert (each.begun_at, each.steps, each.rows) == (4, 6, 1500)
        assert each.losses == pytest.approx(alone.losses[4:], abs=1e-4)


def test_a_rank_that_is_slow_gets_fewer_rows_of_a_step(tmp_path: Path) -> None:
    def work(ranks: Ranks) -> list[int]:
        with Worker(tmp_path / "master", "first") if ranks.rank == 0 else contextlib.nullcontext() as worker:
            feed = Drawing(worker, Pieces(SOURCE, seed=5), 500, ranks.group)
            feed.computed(0.25 if ranks.rank == 0 else 1.0)  # of equal parts
            return [len(each.label) for each in feed.next(ranks.rank, ranks.world)]

    with serving(tmp_path / "master", SETTINGS):
        assert on(2, work) == [[400], [100]]
