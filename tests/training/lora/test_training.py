"""Jobs that train together learn what each learns alone; one's end is nobody else's."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import Tensor

from couler_py.steps.lora.jobs import Adapter, EarlyStop, Job, Optimizer, Policy, Scaler, Schedule
from couler_py.steps.lora.objectives import CPO, DPO
from couler_py.steps.lora.trainer import Trainer
from tests.training.lora import toys
from tests.training.lora.toys import apart, trained, weights


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-10), (torch.float32, 5e-4)])
def test_together_is_alone(tmp_path: Path, dtype: torch.dtype, tolerance: float) -> None:
    """Different ranks, methods, targets, lengths and dropout; padding and neighbours change nothing."""
    jobs = toys.mixed(tmp_path)
    together = trained(jobs, Policy(overhead=10_000), dtype)
    for job in jobs:
        alone = trained([job], dtype=dtype)
        assert apart(weights(together, job.name), weights(alone, job.name)) <= tolerance
        assert together.progress()[job.name].losses == pytest.approx(alone.progress()[job.name].losses, rel=1e-4)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("dora", {"adapter": Adapter("dora", rank=4, dropout=0.1)}),
        ("vera", {"adapter": Adapter("vera", rank=8), "optimizer": Optimizer(lr=3e-2)}),
        ("rslora", {"adapter": Adapter("rslora", rank=4), "optimizer": Optimizer("sgd", lr=0.1)}),
    ],
)
def test_so_is_every_method(tmp_path: Path, name: str, options: dict) -> None:
    job, beside = toys.job(tmp_path, name, 5, **options), toys.mixed(tmp_path)[0]
    together, alone = trained([beside, job], Policy(overhead=10_000)), trained([job])
    assert apart(weights(together, name), weights(alone, name)) <= 1e-10
    moved = weights(alone, name)
    before = {key: each.detach() for key, each in trained_not(job).items()}
    still = [key for key in moved if torch.equal(moved[key], before[key])]
    assert still == [], "every parameter of every layer moves, DoRA's magnitudes and VeRA's vectors too"


def trained_not(job: Job) -> dict[str, Tensor]:
    trainer = Trainer(toys.base())
    trainer.submit(job)
    return trainer.tunings[job.name].weights.trained


@pytest.mark.parametrize("objective", [DPO(), DPO(loss="ipo"), CPO(), CPO(loss="hinge")])
def test_preferences_are_learned_beside_texts(tmp_path: Path, objective: DPO | CPO) -> None:
    rows = toys.pairs(4)
    job = toys.job(tmp_path, "pairs", 4, rows, objective=objective, epochs=4)
    together, alone = trained([toys.mixed(tmp_path)[0], job], Policy(overhead=10_000)), trained([job])
    assert apart(weights(together, "pairs"), weights(alone, "pairs")) <= 1e-10
    losses = alone.progress()["pairs"].losses
    assert losses[-1] < losses[0]


def test_a_step_is_the_same_in_pieces_of_any_size(tmp_path: Path) -> None:
    """Public codes don't divide, or divide each piece by its own tokens: lines of different lengths would show it."""
    rows = toys.lines(6, count=16, longest=40)
    whole, halves, ones = (
        trained([toys.job(tmp_path, f"of-{micro}", 7, rows, batch=8, micro_batch=micro)]) for micro in (8, 4, 1)
    )
    for other, name in ((halves, "of-4"), (ones, "of-1")):
        assert other.progress()[name].step == 2
        assert other.progress()[name].losses == pytest.approx(whole.progress()["of-8"].losses, rel=1e-10)


def test_the_base_is_shared_and_never_changes(tmp_path: Path) -> None:
    trainer = Trainer(toys.base())
    before = trainer.host.fingerprint()
    for job in toys.mixed(tmp_path):
        trainer.submit(job)
    trainer.run()
    assert trainer.host.fingerprint() == before
    assert all(each.grad is None and not each.requires_grad for each in trainer.host.model.parameters())
    held = {id(each) for each in trainer.host.model.parameters()}
    for tuning in trainer.tunings.values():
        assert not held & {id(each) for group in tuning.optimizer.param_groups for each in group["params"]}


def test_jobs_come_and_go_while_others_train(tmp_path: Path) -> None:
    first, second = toys.job(tmp_path, "first", 1, epochs=4), toys.job(tmp_path, "second", 2, epochs=9)
    trainer = Trainer(toys.base())
    trainer.submit(first)

    def between() -> None:
        if trainer.turns == 2 and "second" not in trainer.jobs:
            trainer.submit(second)
        if trainer.turns == 5:
            trainer.cancel("second")

    told = trainer.run(between)
    assert (told["first"].state, told["first"].step) == ("done", 12)
    assert (told["second"].state, told["second"].step) == ("cancelled", 3)
    assert apart(weights(trainer, "first"), weights(trained([first]), "first")) <= 1e-10
    with pytest.raises(ValueError, match="a job is called 'first' already"):
        trainer.submit(first)
    with pytest.raises(KeyError, match="no job is called 'third'"):
        trainer.cancel("third")


def test_who_is_more_urgent_goes_first_and_who_made_room_is_none_the_worse(tmp_path: Path) -> None:
    patient, urgent = (
        toys.job(tmp_path, "patient", 1, epochs=3, micro_batch=2),
        toys.job(tmp_path, "urgent", 2, priority=5),
    )
    trainer = Trainer(toys.base(), Policy(concurrency=1))
    trainer.submit(patient)
    states = []

    def between() -> None:
        if trainer.turns == 3:
            trainer.submit(urgent) if "urgent" not in trainer.jobs else None
        told = trainer.progress()
        states.append(told["patient"].state)

    trainer.run(between)
    assert "ready" in states[4:7], "it makes room between two turns, in the middle of a step"
    alone = trained([patient])
    assert apart(weights(trainer, "patient"), weights(alone, "patient")) == 0.0
    assert trainer.progress()["patient"].losses == alone.progress()["patient"].losses


def test_a_job_stops_when_it_no_longer_learns(tmp_path: Path) -> None:
    stop = EarlyStop(every=1, patience=2)
    rows = toys.lines(3, count=12)
    job = toys.job(
        tmp_path,
        "stuck",
        1,
        rows,
        held_out=4,
        stop=stop,
        epochs=50,
        optimizer=Optimizer("sgd", lr=1e-300, momentum=0.0),
    )
    told = trained([job]).progress()["stuck"]
    assert (told.state, told.step) == ("stopped", 3)
    assert told.reason == "its loss on held-out lines has stopped falling"
    assert [step for step, _ in told.seen] == [1, 2, 3]


def test_a_scale_of_the_loss_is_the_jobs_own(tmp_path: Path) -> None:
    """Powers of two change no number; one that overflows leaves out steps and halves, and disturbs no neighbour."""
    plain = toys.job(tmp_path, "plain", 1, epochs=2)
    scaled = toys.job(tmp_path, "scaled", 1, epochs=2, scaler=Scaler(1024.0, growth=2))
    huge = toys.job(tmp_path, "huge", 1, epochs=2, scaler=Scaler(2.0**1023, growth=2000))
    trainer = trained([plain, scaled, huge])
    assert apart(weights(trainer, "plain"), weights(trainer, "scaled")) <= 1e-12
    told = trainer.progress()
    assert told["scaled"].scale == 1024.0 * 2 ** (told["scaled"].moved // 2)
    assert told["huge"].state == "done"


def test_the_norm_and_the_rate_are_the_jobs_own(tmp_path: Path) -> None:
    schedule = Schedule("cosine", warmup=1)
    clipped = toys.job(
        tmp_path, "clipped", 1, clip=1e-3, schedule=schedule, optimizer=Optimizer("sgd", lr=1.0, momentum=0.0)
    )
    trainer = Trainer(toys.base())
    trainer.submit(clipped)
    trainer.submit(toys.job(tmp_path, "free", 2, clip=None))
    before = weights(trainer, "clipped")
    trainer.turn()
    after = weights(trainer, "clipped")
    moved = torch.sqrt(sum((after[key] - before[key]).square().sum() for key in after))
    assert float(moved) == pytest.approx(1e-3, rel=1e-6)
    plus = trainer.tunings["clipped"].optimizer.param_groups
    assert [group["lr"] for group in plus] == [1.0]
