"""Replicas with micro-batches of their own: adapters learn what one process would teach them, whoever does what."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
import torch
from torch import Tensor

from couler_py.steps.lora.jobs import Adapter, Data, Job, Optimizer, Policy
from couler_py.steps.lora.objectives import CPO, DPO
from couler_py.steps.lora.passes import Piece, learn
from couler_py.steps.lora.planning.asking import Deployed
from couler_py.steps.lora.planning.costs import Config, Costs, Tau
from couler_py.steps.lora.progress import Progress
from couler_py.steps.lora.replicas import ReplicaTrainer
from couler_py.steps.lora.saving import restore, save
from couler_py.steps.lora.trainer import Trainer
from couler_py.steps.lora.tuning import share_of
from tests.training.distributed.ranks import Thread, on_ranks
from tests.training.lora import toys

COSTS = Costs(1, {1: Tau((0, 0, 1 / 64, 0, 0, 1))})
SMALL, MIDDLE, LARGE = Config(1, 1, 32), Config(1, 1, 64), Config(1, 1, 256)


def plan(*replicas: Config) -> Deployed:
    return Deployed(replicas, COSTS, 4, 0.0, 0.0, (), 0.0)


def jobs(folder: Path) -> list[Job]:
    """Texts of two kinds of lengths, and pairs of both losses."""
    long, short, *_ = toys.mixed(folder)
    taste = toys.job(folder, "taste", 4, toys.pairs(4), objective=DPO(), epochs=2)
    pairs = toys.job(folder, "pairs", 5, toys.pairs(5), objective=CPO(), adapter=Adapter("dora", rank=3))
    return [long, short, taste, pairs]


def trained(
    given: list[Job], *replicas: Config, dtype: torch.dtype = torch.float64, turns: int | None = None
) -> list[tuple[ReplicaTrainer, list[Tensor]]]:
    """Each replica's trainer, and what was added up in each of its steps."""

    def work(rank: Thread) -> tuple[ReplicaTrainer, list[Tensor]]:
        seen: list[Tensor] = []

        def total(sums: Tensor) -> None:
            sums.copy_(torch.stack(rank.gather(sums.clone())).sum(0))
            seen.append(sums.clone())

        trainer = ReplicaTrainer(toys.base(dtype), plan(*replicas), rank.rank, total=total)
        for job in given:
            trainer.submit(job)
        while (turns is None or trainer.turns < turns) and trainer.turn():
            pass
        return trainer, seen

    return on_ranks(len(replicas), work)


def alone(given: list[Job], dtype: torch.dtype = torch.float64) -> Trainer:
    trainer = Trainer(toys.base(dtype))
    for job in given:
        trainer.submit(job)
    return trainer


def apart(one: Trainer, other: Trainer) -> float:
    assert one.jobs.keys() == other.jobs.keys()
    pairs = [
        (a, b)
        for name in one.jobs
        for a, b in zip(one.tunings[name].weights.parameters, other.tunings[name].weights.parameters, strict=True)
    ]
    return max(float((a - b).detach().abs().max()) for a, b in pairs)


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-12), (torch.float32, 1e-6)])
def test_summed_gradients_are_those_of_one_process_that_sees_all_rows(
    tmp_path: Path, dtype: torch.dtype, tolerance: float
) -> None:
    given = jobs(tmp_path)
    found = trained(given, SMALL, LARGE, MIDDLE, dtype=dtype, turns=1)
    works = found[0][0].dispatch.replicas  # type: ignore[union-attr]
    assert all(works), "each replica has something to do"
    assert len({max(len(work.rows) * work.length for work in own) for own in works}) == 3
    one = alone(given, dtype)
    expected: list[Tensor] = []
    for job in given:
        tuning = one.tunings[job.name]
        whole = Piece(tuning.examples, job.objective, tuning.weights, share_of(job, tuning.examples))
        [learned] = learn(one.host, [whole])
        expected += [gradient.flatten() for gradient in learned.gradients]
    told = torch.cat(expected)
    for _, seen in found:
        sums = max(seen, key=len)
        assert float((sums[: len(told)] - told).norm() / told.norm()) <= tolerance


@pytest.mark.parametrize("replicas", [(SMALL, LARGE), (MIDDLE, MIDDLE, LARGE), (LARGE,)], ids=str)
def test_training_ends_where_one_process_ends(tmp_path: Path, replicas: tuple[Config, ...]) -> None:
    given = jobs(tmp_path)
    one = alone(given)
    one.run()
    for trainer, _ in trained(given, *replicas):
        assert apart(trainer, one) <= 1e-10
        told = trainer.progress()
        assert {name: (each.state, each.step, each.tokens) for name, each in told.items()} == {
            name: (each.state, each.step, each.tokens) for name, each in one.progress().items()
        }
        for name, each in one.progress().items():
            assert told[name].losses == pytest.approx(each.losses, rel=1e-10)


def test_dropout_is_the_same_whoever_does_a_row(tmp_path: Path) -> None:
    given = [
        toys.job(tmp_path, "dropping", 3, adapter=Adapter(rank=4, dropout=0.3)),
        toys.job(tmp_path, "pairs", 4, toys.pairs(4), objective=CPO(), adapter=Adapter(rank=4, dropout=0.3)),
    ]
    [(one, _)] = trained(given, LARGE)
    for trainer, _ in trained(given, SMALL, MIDDLE, LARGE):
        assert apart(trainer, one) <= 1e-10
    without = [toys.job(tmp_path, "dropping", 3, adapter=Adapter(rank=4)), given[1]]
    [(other, _)] = trained(without, LARGE)
    assert apart(other, one) > 1e-4


def test_a_job_that_comes_to_no_number_ends_alone(tmp_path: Path) -> None:
    good = toys.job(tmp_path, "good", 1)
    bad = toys.job(tmp_path, "bad", 2, optimizer=Optimizer("sgd", lr=1e200), clip=None)
    one = alone([good])
    one.run()
    for trainer, _ in trained([good, bad], SMALL, LARGE):
        told = trainer.progress()
        assert (told["good"].state, told["bad"].state) == ("done", "failed")
        assert "take a lower learning rate" in told["bad"].reason
        expected, found = one.tunings["good"].weights, trainer.tunings["good"].weights
        for a, b in zip(expected.parameters, found.parameters, strict=True):
            assert torch.allclose(a, b, rtol=0, atol=1e-10)


def run_beside(folder: Path, spoil: Callable[[ReplicaTrainer], None], bad: Job) -> list[ReplicaTrainer]:
    """A good job and a bad one on two replicas, the second of which is spoilt; the good one learns what it would."""
    good = toys.job(folder, "good", 1)
    one = alone([good])
    one.run()

    def work(rank: Thread) -> ReplicaTrainer:
        trainer = ReplicaTrainer(
            toys.base(),
            plan(MIDDLE, LARGE),
            rank.rank,
            root=folder / str(rank.rank),
            total=lambda sums: sums.copy_(torch.stack(rank.gather(sums.clone())).sum(0)),  # type: ignore[arg-type]
        )
        if rank.rank == 1:
            spoil(trainer)
        for job in (bad, good):
            trainer.submit(job)
        trainer.run()
        return trainer

    found = on_ranks(2, work)
    for trainer in found:
        told = trainer.progress()
        assert (told["good"].state, told["bad"].state) == ("done", "failed")
        for a, b in zip(
            one.tunings["good"].weights.parameters, trainer.tunings["good"].weights.parameters, strict=True
        ):
            assert torch.allclose(a, b, rtol=0, atol=1e-10)
    return found


def test_data_that_one_replica_has_otherwise_begin_a_failed_job_anew_on_all(tmp_path: Path) -> None:
    bad = toys.job(tmp_path, "bad", 2, optimizer=Optimizer("sgd", lr=1e200), clip=None)
    before = alone([bad])
    assert before.run()["bad"].state == "failed"
    save(before, tmp_path / "checkpoints")
    for number in range(2):
        (tmp_path / str(number)).mkdir()
        toys.written(tmp_path / str(number), "bad", toys.lines(2 + number))
    moved = msgspec.structs.replace(bad, data=Data("bad.jsonl"))

    def work(rank: Thread) -> Progress:
        trainer = ReplicaTrainer(
            toys.base(),
            plan(SMALL, LARGE),
            rank.rank,
            root=tmp_path / str(rank.rank),
            total=lambda sums: sums.copy_(torch.stack(rank.gather(sums.clone())).sum(0)),  # type: ignore[arg-type]
        )
        assert restore(trainer, tmp_path / "checkpoints", [moved])
        return trainer.progress()["bad"]

    assert [(each.state, each.step) for each in on_ranks(2, work)] == [("ready", 0)] * 2


def test_memory_that_ends_on_one_replica_ends_the_job_that_is_too_large_on_all(tmp_path: Path) -> None:
    bad = toys.job(tmp_path, "bad", 2, toys.lines(2, count=12, shortest=38, longest=40), batch=12)

    def no_memory_for_much(trainer: ReplicaTrainer) -> None:
        logits = trainer.host.logits

        def limited(tokens: Tensor, *rest: object) -> Tensor:
            if tokens.numel() > 120:
                raise torch.OutOfMemoryError("tried to allocate 99 GiB")
            return logits(tokens, *rest)  # type: ignore[arg-type]

        trainer.host.logits = limited  # type: ignore[method-assign]

    first, second = (trainer.progress()["bad"] for trainer in run_beside(tmp_path, no_memory_for_much, bad))
    assert second.reason.startswith("memory ends in a micro-batch of ")
    assert second.reason.endswith("plan with fewer tokens for <1,1>:256")
    assert first.reason == "replica 1, <1,1>:256, can't go on with it, and says why"


def test_data_that_one_replica_cannot_read_ends_that_job_on_all(tmp_path: Path) -> None:
    for number in range(2):
        (tmp_path / str(number)).mkdir()
    toys.written(tmp_path / "0", "there", toys.lines(2))
    bad = Job("bad", Data("there.jsonl"))
    first, second = (trainer.progress()["bad"] for trainer in run_beside(tmp_path, lambda _: None, bad))
    assert "there.jsonl can't be read as text" in second.reason
    assert first.reason == "replica 1, <1,1>:256, can't go on with it, and says why"


def test_an_example_that_no_replica_holds_ends_its_job(tmp_path: Path) -> None:
    good = toys.job(tmp_path, "good", 1, toys.lines(1, shortest=4, longest=20))
    long = toys.job(tmp_path, "long", 2, toys.lines(2, shortest=38, longest=40))
    for trainer, _ in trained([long, good], SMALL, SMALL):
        told = trainer.progress()
        assert (told["good"].state, told["long"].state) == ("done", "failed")
        assert told["long"].reason.startswith("it has an example of 4")
        assert told["long"].reason.endswith("and no replica holds more than 32")


def test_more_rows_than_others_hold_go_to_who_holds_them(tmp_path: Path) -> None:
    rows = toys.lines(1, count=4, shortest=38, longest=40)
    [(_, _), (large, _)] = trained([toys.job(tmp_path, "long", 1, rows)], SMALL, LARGE, turns=1)
    assert large.dispatch is not None
    assert [len(own) for own in large.dispatch.replicas] == [0, 1]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: plan(LARGE), "replica 1 of a plan that has 1"),
        (lambda: plan(LARGE, Config(2, 1, 64)), "replica <2,1>:64 has 2 ranks: here each is one process"),
    ],
)
def test_a_plan_that_cannot_be_run_is_refused(make: Callable[[], Deployed], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ReplicaTrainer(toys.base(), make(), 1, Policy())
