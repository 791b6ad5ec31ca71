"""Training on ranks that come and go is training in one process. Ranks are threads here (`sharing.py`)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
import torch

from couler_py.steps.dlrm.shapes import PRESETS, Shape
from couler_py.steps.dlrm.task import Task
from couler_py.steps.dlrm.trainer import Trainer
from couler_py.steps.dlrm.training import Told, evaluate, train
from tests.training.dlrm.sharing import Ranks, on
from tests.training.dlrm.toys import SHAPE, TASK, Planted, everything, feed, tables, trainer

TRAINING, TESTING = Planted(16_000, 1), Planted(6_000, 2)
changed = msgspec.structs.replace


class Ended(Exception):
    """A training that is ended from outside."""


def ends_after(step: int) -> Callable[[int], None]:
    def end(done: int) -> None:
        if done == step:
            raise Ended

    return end


def learned(task: Task, world: int = 1, **options: Any) -> Told:
    def work(ranks: Ranks) -> Told:
        return train(trainer(task, ranks), feed(TRAINING, task), TESTING, **options)

    return on(world, work)[0]


@pytest.fixture(scope="module")
def alone() -> Told:
    return learned(TASK)


def test_it_learns_what_dense_features_do_not_say(alone: Told) -> None:
    dense = learned(changed(TASK, shape=Shape("dense", width=8, bottom=(), top=(16,))))
    auc = alone.seen[-1].judged.auc
    assert auc >= dense.seen[-1].judged.auc + 0.03
    assert alone.seen[-1].judged.normalised_entropy < 0.95
    assert alone.seen[-1].judged.calibration == pytest.approx(1.0, abs=0.1)
    assert (alone.steps, alone.rows) == (63, 16_000)


def test_two_ranks_learn_what_one_does(alone: Told) -> None:
    together = learned(TASK, 2)
    assert together.seen[-1].judged.auc == pytest.approx(alone.seen[-1].judged.auc, abs=0.005)
    assert together.losses == pytest.approx(alone.losses, abs=1e-3)


def test_workers_that_leave_and_join_make_the_same_steps(alone: Told, tmp_path: Path) -> None:
    task = changed(TASK, save_every=10)
    with pytest.raises(Ended):
        learned(task, 2, checkpoints=tmp_path, after=ends_after(23))
    with pytest.raises(Ended):
        learned(task, 1, checkpoints=tmp_path, after=ends_after(44))
    last = learned(task, 2, checkpoints=tmp_path)
    assert (last.begun_at, last.steps, last.rows, last.rows_here) == (40, 63, 16_000, 16_000 - 40 * 256)
    assert last.seen[-1].judged.auc == pytest.approx(alone.seen[-1].judged.auc, abs=0.005)


@pytest.mark.parametrize("precision", ["fp32", "fp64"])
@pytest.mark.parametrize("kind", ["dlrm", "dcn_v2", "wide_deep", "xdeepfm"])
def test_every_model_is_the_same_on_three_ranks(kind: str, precision: str) -> None:
    shape = changed(
        SHAPE, kind=kind, bottom=(16,) if kind in ("dlrm", "dcn_v2") else (), cross_rank=4, feature_maps=(4,)
    )
    task = changed(TASK, shape=shape, precision=precision, dense_optimizer="adagrad", row_optimizer="adagrad", batch=32)
    source = Planted(6 * 32 - 5)
    one = train(trainer(task), feed(source, task), source)
    for told in on(3, lambda ranks: train(trainer(task, ranks), feed(source, task), source)):
        near = 1e-6 if precision == "fp32" else 1e-12
        assert told.losses == pytest.approx(one.losses, rel=0, abs=near)
        assert told.seen[-1].judged.log_loss == pytest.approx(one.seen[-1].judged.log_loss, rel=0, abs=near)
        assert told.rows == 6 * 32 - 5


def test_a_training_that_was_ended_goes_on_to_the_bit(tmp_path: Path) -> None:
    task = changed(TASK, save_every=4, rebalance_every=6, tolerance=0.01, epochs=0.2)

    def undisturbed(ranks: Ranks) -> dict[str, torch.Tensor]:
        mine = trainer(task, ranks)
        assert train(mine, feed(TRAINING, task), checkpoints=tmp_path / "first").moved
        return everything(mine)

    def ended(ranks: Ranks) -> None:
        with pytest.raises(Ended):
            train(trainer(task, ranks), feed(TRAINING, task), checkpoints=tmp_path / "again", after=ends_after(9))

    def resumed(ranks: Ranks) -> dict[str, torch.Tensor]:
        mine = trainer(task, ranks)
        assert train(mine, feed(TRAINING, task), checkpoints=tmp_path / "again").begun_at == 8
        return everything(mine)

    expected = on(2, undisturbed)
    on(2, ended)
    for here, there in zip(on(2, resumed), expected, strict=True):
        assert here.keys() == there.keys()
        for name, tensor in there.items():
            assert torch.equal(here[name], tensor), name


def test_ranks_of_which_one_has_no_rows_at_all_do_not_wait() -> None:
    source = Planted(40)
    task = changed(TASK, batch=64, micro_batches=1)
    told = on(3, lambda ranks: train(trainer(task, ranks), feed(source, task), source))
    assert [each.rows for each in told] == [40, 40, 40]


def test_scores_of_all_ranks_are_judged_together() -> None:
    whole = evaluate(trainer(), TESTING, most=1000)
    for told in on(3, lambda ranks: evaluate(trainer(group=ranks), TESTING, most=1000)):
        assert (told.rows, told.auc) == (6000, pytest.approx(whole.auc, abs=1e-9))


def test_what_makes_no_sense_is_said() -> None:
    with pytest.raises(ValueError, match="checkpoints are to be saved every 5 steps, and it isn't said where"):
        learned(changed(TASK, save_every=5))
    with pytest.raises(ValueError, match="table 'C0' is not 17 wide, as a wide_deep has them"):
        Trainer(changed(TASK, shape=PRESETS["wide-deep"]), tables(SHAPE), 3)
