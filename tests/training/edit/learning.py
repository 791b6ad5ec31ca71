"""The training loop around rounds, on four ranks and a real text."""

from __future__ import annotations

import os
import time

import msgspec
import pytest
import torch
from torch import Tensor

from couler_py.steps.corpus import files, tokens
from couler_py.steps.corpus.tokenizers import ByteTokenizer
from couler_py.steps.edit.settings import Penalty, preset
from couler_py.steps.edit.task import Inner, Task
from couler_py.steps.edit.training import save_model, train
from couler_py.steps.models.config import DecoderConfig
from couler_py.steps.models.folders import load
from tests.training.edit.continuing import shared_folder
from tests.training.edit.launching import run
from tests.training.edit.toys import RANK, same, whole

MODEL = DecoderConfig(vocabulary=259, hidden=32, feed_forward=64, context=32)
TASK = Task(
    preset("edit", sync_every=4, warmup=3, penalty=Penalty(rounds_before=4)),
    MODEL, replicas=2, shards=2, steps=14, sequence=32, held_out=16,
    inner=Inner(lr=1e-2, rise=2),
)  # fmt: skip


def corpus() -> str:
    folder = shared_folder()
    if RANK() == 0:
        tokens.write(files.texts(most=200_000), ByteTokenizer(), folder)
    torch.distributed.barrier()
    return os.fspath(folder)


def check_it_learns_and_its_model_is_a_folder_that_others_read() -> None:
    data, out = corpus(), shared_folder()
    model, told = train(TASK, data)
    assert told.losses[0] == pytest.approx(5.56, abs=0.1)  # ln 259
    assert told.seen[-1].loss < 4.5
    assert told.tokens == 14 * 2 * 8 * 32
    assert [each.step for each in told.rounds] == [7, 11, 14]
    save_model(model, out)
    torch.distributed.barrier()
    assert same(whole(load(out)), whole(model))


def check_a_training_that_was_ended_goes_on_exactly() -> None:
    data = corpus()
    for settings in (TASK.settings, preset("a_edit", sync_seconds=1e9, most_steps=4, warmup=3)):
        task = msgspec.structs.replace(TASK, settings=settings, save_every=2)
        undisturbed, _ = train(task, data)
        folder = shared_folder()

        def ends(_: int, step: int) -> None:
            if step == 9:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            train(task, data, checkpoints=folder, pause=ends)
        model, told = train(task, data, checkpoints=folder)
        assert len(told.losses) < 14
        for name, tensor in whole(undisturbed).items():
            torch.testing.assert_close(whole(model)[name], tensor, rtol=0, atol=0, msg=f"{settings}: {name}")


def check_a_slow_replica_makes_fewer_steps_where_the_clock_calls() -> None:
    settings = preset("a_edit", sync_seconds=1.0)
    task = msgspec.structs.replace(TASK, settings=settings, steps=20)
    _, told = train(task, corpus(), pause=lambda replica, _: time.sleep(1.0 if replica == 0 else 0.0))
    slow = sum(each.steps[0] for each in told.rounds)
    fast = sum(each.steps[1] for each in told.rounds)
    assert fast > slow
    assert slow + fast >= 40


def check_a_replica_with_broken_data_does_no_harm() -> None:
    task = msgspec.structs.replace(TASK, shards=1, replicas=4, steps=18)

    def altered(replica: int, step: int, rows: Tensor) -> Tensor:
        return torch.zeros_like(rows) if replica == 1 and 8 <= step < 12 else rows

    _, told = train(task, corpus(), altered=altered)
    assert told.seen[-1].loss < 4.6


def check_precision_accumulation_and_recomputation_are_settings() -> None:
    data = corpus()
    plain = train(TASK, data)[1].seen[-1].loss
    other = msgspec.structs.replace(TASK, accumulate=2, recompute=True)
    assert train(other, data)[1].seen[-1].loss == pytest.approx(plain, rel=1e-4)
    for shards, replicas in ((2, 2), (1, 4)):
        narrow = msgspec.structs.replace(TASK, precision="bf16", shards=shards, replicas=replicas)
        assert train(narrow, data)[1].seen[-1].loss == pytest.approx(plain, rel=0.05)


if __name__ == "__main__":
    run(globals())
