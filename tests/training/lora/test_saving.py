"""What was ended goes on bit by bit, and a queue takes jobs from files."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from couler_py.steps.lora import inbox
from couler_py.steps.lora.jobs import Adapter, Job, Optimizer, Policy, Scaler, Schedule
from couler_py.steps.lora.saving import restore, save
from couler_py.steps.lora.trainer import Trainer
from tests.training.lora import toys


def queue(folder: Path) -> list[Job]:
    """Steps of several pieces, a short job that ends early, momentum, a scale, dropout, and one that is no good."""
    return [
        toys.job(folder, "long", 1, epochs=3, micro_batch=2, adapter=Adapter("dora", rank=4, dropout=0.2)),
        toys.job(
            folder, "sgd", 2, epochs=3, optimizer=Optimizer("sgd", lr=0.05), schedule=Schedule("cosine", warmup=2)
        ),
        toys.job(folder, "short", 3, adapter=Adapter("vera", rank=6), scaler=Scaler(1024.0, growth=2), held_out=2),
        toys.job(folder, "bad", 3, [{"text": 5}]),
    ]


def test_a_queue_goes_on_bit_by_bit(tmp_path: Path) -> None:
    jobs, policy = queue(tmp_path), Policy(concurrency=2)
    whole = Trainer(toys.base(torch.float32), policy)
    for job in jobs:
        whole.submit(job)
    whole.run()

    cut = Trainer(toys.base(torch.float32), policy)
    for job in jobs:
        cut.submit(job)
    for turn in range(11):
        cut.turn()
        if turn in (4, 10):  # the first in the middle of a step of "long", the second after others have ended
            save(cut, tmp_path / "checkpoints")
            later = Trainer(toys.base(torch.float32), policy)
            assert restore(later, tmp_path / "checkpoints")
            cut = later
    cut.run()
    for name, tuning in whole.tunings.items():
        for key, parameter in tuning.weights.trained.items():
            assert torch.equal(parameter, cut.tunings[name].weights.trained[key]), (name, key)
        told, again = whole.progress()[name], cut.progress()[name]
        told.seconds = again.seconds = 0.0
        assert told == again
    assert cut.progress()["bad"].reason == "line 1 of bad.jsonl: it has no text 'text': there are text"


def test_without_a_checkpoint_nothing_is_restored(tmp_path: Path) -> None:
    trainer = Trainer(toys.base())
    assert not restore(trainer, tmp_path / "none")
    trainer.submit(toys.job(tmp_path, "one"))
    save(trainer, tmp_path / "checkpoints")
    with pytest.raises(ValueError, match="restore before submitting"):
        restore(trainer, tmp_path / "checkpoints")


def test_files_submit_and_cancel(tmp_path: Path) -> None:
    trainer, folder = Trainer(toys.base()), tmp_path / "inbox"
    trainer.submit(toys.job(tmp_path, "first", epochs=3))
    seen = inbox.Inbox(folder)

    def between() -> None:
        if trainer.turns == 2:
            inbox.submit(folder, toys.job(tmp_path, "second", 2, epochs=9))
            (folder / "third.job.json").write_text('{"name": "third"}')
            (folder / "fourth.job.json").write_bytes((folder / "second.job.json").read_bytes())
        if trainer.turns == 4:
            inbox.cancel(folder, "second")
            inbox.cancel(folder, "nobody")
        seen.deliver(trainer)

    told = trainer.run(between)
    assert {name: (each.state, each.step) for name, each in told.items()} == {
        "first": ("done", 9),
        "second": ("cancelled", 2),
    }
    assert seen.refused == {
        "fourth.job.json": "it holds a job called 'second': a file is named after its job",
        "third.job.json": "Object missing required field `data`",
    }
    with pytest.raises(ValueError, match="no job can be called"):
        inbox.cancel(folder, "../other")
