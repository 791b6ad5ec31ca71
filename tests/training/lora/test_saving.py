"""What was ended goes on bit by bit, and a queue takes jobs from files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
import torch

from couler_py.steps.lora import exporting, inbox
from couler_py.steps.lora.jobs import Adapter, Data, Job, Optimizer, Policy, Scaler, Schedule
from couler_py.steps.lora.objectives import CPO
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


def begun(folder: Path, **options: object) -> Job:
    """A job that has made a step, and its checkpoint."""
    job = toys.job(folder, "one", 1, **options)
    trainer = Trainer(toys.base(torch.float32))
    trainer.submit(job)
    trainer.turn()
    save(trainer, folder / "checkpoints")
    return job


@pytest.mark.parametrize(
    ("changed", "odd"),
    [
        ({"optimizer": Optimizer(lr=2e-2)}, "optimizer.lr is 0.02 and was 0.01"),
        ({"adapter": Adapter(rank=4)}, "adapter.rank is 4 and was 8"),
        ({"objective": CPO()}, "objective.beta is 0.1 and was None"),
        ({"epochs": 9}, "epochs is 9 and was 1"),
    ],
)
def test_a_job_that_was_changed_does_not_go_on_as_it_was(tmp_path: Path, changed: dict[str, Any], odd: str) -> None:
    job = msgspec.structs.replace(begun(tmp_path), **changed)
    message = f"job 'one' is not the one of the checkpoint, which is running after 1 steps: {odd}: give it another name"
    with pytest.raises(ValueError, match=message):
        restore(Trainer(toys.base(torch.float32)), tmp_path / "checkpoints", [job])


def test_files_may_lie_elsewhere_and_priorities_change(tmp_path: Path) -> None:
    job = begun(tmp_path)
    (tmp_path / "later").mkdir()
    moved = Path(job.data.path).rename(tmp_path / "later" / "lines.jsonl")
    again = msgspec.structs.replace(job, data=Data(str(moved)), priority=7)
    trainer = Trainer(toys.base(torch.float32))
    assert restore(trainer, tmp_path / "checkpoints", [again])
    assert (trainer.jobs["one"], trainer.progress()["one"].step) == (again, 1)
    with moved.open("a") as file:
        file.write('{"text": "one more"}\n')
    with pytest.raises(ValueError, match="its lines or the adapters that it is given are not those that it began with"):
        restore(Trainer(toys.base(torch.float32)), tmp_path / "checkpoints", [again])


def test_the_adapter_to_go_on_from_is_known_by_what_it_is(tmp_path: Path) -> None:
    trainer = Trainer(toys.base(torch.float32))
    for seed in (1, 2):
        trainer.submit(toys.job(tmp_path, f"made-{seed}", seed))
        exporting.write(trainer.tunings[f"made-{seed}"].weights, tmp_path / f"made-{seed}")
    exporting.write(trainer.tunings["made-1"].weights, tmp_path / "copy")
    job = begun(tmp_path, adapter=Adapter(start=str(tmp_path / "made-1")))
    for folder, same in (("copy", True), ("made-2", False)):
        asked = msgspec.structs.replace(job, adapter=Adapter(start=str(tmp_path / folder)))
        if same:
            assert restore(Trainer(toys.base(torch.float32)), tmp_path / "checkpoints", [asked])
        else:
            with pytest.raises(ValueError, match="are not those that it began with"):
                restore(Trainer(toys.base(torch.float32)), tmp_path / "checkpoints", [asked])


def test_a_job_that_had_failed_begins_anew_once_it_is_changed(tmp_path: Path) -> None:
    """What its reason asks for, a lower rate or other lines, is what a person then gives it."""
    wild = toys.job(tmp_path, "wild", 1, optimizer=Optimizer("sgd", lr=1e200), clip=None)
    odd = toys.job(tmp_path, "odd", 2, [{"text": 5}])
    trainer = Trainer(toys.base(torch.float32))
    for job in (wild, odd):
        trainer.submit(job)
    trainer.run()
    save(trainer, tmp_path / "checkpoints")

    same = Trainer(toys.base(torch.float32))
    restore(same, tmp_path / "checkpoints", [wild, odd])
    assert [each.state for each in same.run().values()] == ["failed", "failed"]

    toys.written(tmp_path, "odd", toys.lines(2))
    mild = msgspec.structs.replace(wild, optimizer=Optimizer("sgd", lr=0.1))
    again, alone = Trainer(toys.base(torch.float32), Policy(fuse=False)), Trainer(toys.base(torch.float32))
    restore(again, tmp_path / "checkpoints", [mild, odd])
    assert {name: (each.state, each.step) for name, each in again.run().items()} == {
        "wild": ("done", 3),
        "odd": ("done", 3),
    }
    alone.submit(mild)
    alone.run()
    for one, other in zip(
        alone.tunings["wild"].weights.parameters, again.tunings["wild"].weights.parameters, strict=True
    ):
        assert torch.equal(one, other)


@pytest.mark.parametrize("repaired", [toys.lines(4), None], ids=["other lines", "no file"])
def test_other_data_of_a_job_that_had_failed_disturb_no_other_job(
    tmp_path: Path, repaired: list[dict[str, Any]] | None
) -> None:
    """It begins anew, one that nobody asks for stays as it was, and who goes on goes on bit by bit."""
    good = toys.job(tmp_path, "good", 1, epochs=2)
    wild = toys.job(tmp_path, "wild", 2, optimizer=Optimizer("sgd", lr=1e200), clip=None)
    unwanted = toys.job(tmp_path, "unwanted", 3)
    policy = Policy(fuse=False)
    trainer, alone = Trainer(toys.base(), policy), toys.trained([good], policy)
    for job in (wild, unwanted, good):
        trainer.submit(job)
    while trainer.progress()["wild"].state != "failed":
        trainer.turn()
    trainer.cancel("unwanted")
    save(trainer, tmp_path / "checkpoints")
    for job in (wild, unwanted):
        Path(job.data.path).unlink()
        if repaired:
            toys.written(tmp_path, job.name, repaired)

    again, fresh = Trainer(toys.base(), policy), Trainer(toys.base(), policy)
    assert restore(again, tmp_path / "checkpoints", [wild, good])
    fresh.submit(wild)
    assert again.progress()["wild"] == fresh.progress()["wild"]
    assert again.progress()["unwanted"] == trainer.progress()["unwanted"]
    assert again.progress()["good"].step == trainer.progress()["good"].step > 0
    if repaired:
        assert toys.apart(toys.weights(again, "wild"), toys.weights(fresh, "wild")) == 0.0
    again.run()
    assert again.progress()["good"].state == "done"
    assert toys.apart(toys.weights(again, "good"), toys.weights(alone, "good")) == 0.0


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
            inbox.submit(folder, toys.job(tmp_path, "first", epochs=5))
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
        "first.job.json": "a job of this name is here already, and it is another: epochs is 5 and was 3",
        "fourth.job.json": "it holds a job called 'second': a file is named after its job",
        "third.job.json": "Object missing required field `data`",
    }
    with pytest.raises(ValueError, match="no job can be called"):
        inbox.cancel(folder, "../other")
