"""Three ranks train jobs in one pipeline, and as three replicas: each job is held against a process of its own.

Run by `tests.training.hybrid.forked`, with a folder for data.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
import torch
import torch.distributed as dist

from couler_py.steps.hybrid.timeline import Op
from couler_py.steps.lora import inbox, stages
from couler_py.steps.lora.exporting import read
from couler_py.steps.lora.hosting import Host
from couler_py.steps.lora.jobs import Adapter, Data, EarlyStop, Job, Optimizer, Policy, Queue
from couler_py.steps.lora.objectives import CPO, DPO
from couler_py.steps.lora.pipelining import PipelineTrainer
from couler_py.steps.lora.planning.asking import Deployed
from couler_py.steps.lora.planning.costs import Config, Costs, Tau
from couler_py.steps.lora.planning.pipeline import bubble
from couler_py.steps.lora.replicas import ReplicaTrainer
from couler_py.steps.lora.trainer import Trainer
from couler_py.steps.models.folders import save
from tests.training.hybrid.forked import begin
from tests.training.lora import toys
from tests.training.lora.piping_rounds import (
    LATE,
    a_pipeline_goes_on_bit_by_bit_and_so_does_one_process,
    alone,
    apart,
    base,
    trained,
    what_one_stage_cannot_do_ends_that_job_on_all,
    who_is_more_urgent_goes_first,
)


def main(rank: int, store: dist.Store, folder: str) -> None:
    begin(store, "pipeline", rank, 3)
    work = Path(folder) / str(rank)
    work.mkdir()
    weights_are_bit_for_bit_those_of_one_process(work)
    clipped_jobs_learn_the_same(work)
    a_job_that_comes_to_no_number_ends_alone(work)
    what_one_stage_cannot_do_ends_that_job_on_all(work)
    a_pipeline_goes_on_bit_by_bit_and_so_does_one_process(work, Path(folder) / "shared")
    who_is_more_urgent_goes_first(work)
    few_micro_batches_are_in_flight(work)
    replicas_are_processes(work, rank)
    a_queue_is_trained_from_folder_to_folder(work, Path(folder) / "shared", rank)
    what_is_not_known_beforehand_ends_its_job(work)
    dist.destroy_process_group()


def weights_are_bit_for_bit_those_of_one_process(folder: Path) -> None:
    """Gradients are the same numbers: each stage multiplies the same rows, and without clipping none meet others."""
    for dtype, changed in ((torch.float64, {}), (torch.float32, {"tied": True})):
        jobs = [
            toys.job(folder, "wide", 1, clip=None, adapter=Adapter(rank=16, targets=toys.ALL), micro_batch=2),
            toys.job(folder, "dropping", 2, clip=None, adapter=Adapter("lora+", rank=3, dropout=0.2), batch=5),
            toys.job(folder, "pairs", 3, toys.pairs(3), clip=None, objective=CPO(), micro_batch=2),
            toys.job(folder, "late", 4, clip=None, adapter=Adapter("dora", rank=4, targets=(LATE,))),
        ]
        found = trained(base(dtype, **changed), jobs)
        for job in jobs:
            assert apart(found, job, dtype, **changed) == 0.0, (job.name, dtype)
        as_planned(found)
        assert interleaved(found.round.schedule.orders[0], found.round.schedule.whose)


def as_planned(found: PipelineTrainer) -> None:
    assert tuple(found.round.did) == found.round.schedule.orders[found.stage]
    assert found.peak == found.round.schedule.peak


def interleaved(order: tuple[Op, ...], whose: tuple[tuple[int, int, int], ...]) -> bool:
    """Whether a job's forward stands between another job's forward and its backward."""
    at = {(op.kind, op.micro): place for place, op in enumerate(order)}
    return any(
        at["F", one] < at["F", other] < at["B", one]
        for one in range(len(whose))
        for other in range(len(whose))
        if whose[one][0] != whose[other][0]
    )


def clipped_jobs_learn_the_same(folder: Path) -> None:
    """The norm of a whole gradient is a sum over stages, in another order than alone."""
    jobs = [
        toys.job(folder, "clipped", 1, clip=0.05, epochs=2),
        toys.job(folder, "vera", 2, clip=0.05, adapter=Adapter("vera", rank=8), optimizer=Optimizer(lr=3e-2)),
        toys.job(folder, "taste", 3, toys.pairs(3), clip=0.01, objective=DPO(), micro_batch=2),
    ]
    found = trained(base(torch.float64), jobs)
    for job in jobs:
        assert apart(found, job, torch.float64) <= 1e-10, job.name


def a_job_that_comes_to_no_number_ends_alone(folder: Path) -> None:
    """Of one weights are more than numbers say, of the other squares of the gradient."""
    good = toys.job(folder, "good", 1)
    bad = toys.job(folder, "bad", 2, optimizer=Optimizer("sgd", lr=1e200), clip=None)
    steep = toys.job(folder, "steep", 3, adapter=Adapter("vera", rank=1, targets=("down_proj",)))
    found = PipelineTrainer(base(torch.float64))
    for job in (bad, steep, good):
        found.submit(job)
    for name, each in found.tunings["steep"].weights.trained.items():
        beside = name.endswith("vera_lambda_b")
        each.requires_grad_(not beside).data.fill_(1e200 if beside else 1e-300)
    found.run()
    one, told = alone(bad, torch.float64).progress()["bad"], found.progress()
    assert (told["bad"].state, told["bad"].step, told["bad"].reason) == ("failed", one.step, one.reason)
    assert (told["steep"].state, told["steep"].moved) == ("failed", 0)
    assert told["steep"].reason.startswith("the gradient of step 1 is inf, its loss ")
    assert apart(found, good, torch.float64) <= 1e-10


def few_micro_batches_are_in_flight(folder: Path) -> None:
    """As many jobs as stages leave no bubble far from both ends; room for two waits as two jobs would."""
    jobs = [toys.job(folder, f"job-{number}", number, toys.lines(1), epochs=6) for number in range(4)]
    full, tight = (trained(base(torch.float32, layers=3), jobs, in_flight=most) for most in (None, 2))
    for trainer, share in ((full, bubble(3, 4)), (tight, bubble(3, 2))):
        as_planned(trainer)
        plan = trainer.round.schedule
        end = max(stop for _, stop in plan.spans.values())
        assert abs(plan.bubble(0.3 * end, 0.7 * end) - share) <= 0.05
        assert trainer.bubble == pytest.approx(plan.bubble())
    assert tight.peak[0] == 2


def replicas_are_processes(folder: Path, rank: int) -> None:
    """Gradients of adapters are added up by torch: all replicas end where one process ends."""
    costs = Costs(1, {1: Tau((0, 0, 1 / 64, 0, 0, 1))})
    plan = Deployed(tuple(Config(1, 1, tokens) for tokens in (32, 64, 256)), costs, 4, 0.0, 0.0, (), 0.0)
    jobs = toys.mixed(folder)[:2]
    trainer = ReplicaTrainer(Host(base(torch.float64)), plan, rank, Policy())
    for job in jobs:
        trainer.submit(job)
    trainer.run()
    for job in jobs:
        one = alone(job, torch.float64).tunings[job.name].weights
        for a, b in zip(one.parameters, trainer.tunings[job.name].weights.parameters, strict=True):
            assert float((a - b).detach().abs().max()) <= 1e-10


def a_queue_is_trained_from_folder_to_folder(folder: Path, shared: Path, rank: int) -> None:
    """An adapter that is written is the one that a process alone has, and is read beside the whole base."""
    if rank == 0:
        save(base(torch.float64), shared / "base")
        toys.job(shared, "texts", 1)
    dist.barrier()
    job = Job("texts", Data("texts.jsonl"), batch=4, cutoff=48, optimizer=Optimizer(lr=1e-2))
    mail = shared / "inbox"
    if rank == 0:
        inbox.submit(mail, msgspec.structs.replace(job, name="late"))
        inbox.submit(mail, msgspec.structs.replace(job, name="not"))
        inbox.cancel(mail, "not")
    dist.barrier()
    places: dict[str, Any] = {"data": shared, "inbox": mail, "checkpoints": shared / "saved"}
    told = stages.run(Queue((job,), Policy(save_every=2)), shared / "base", shared / "out", **places)
    assert {name: each.state for name, each in told.jobs.items()} == {
        "texts": "done",
        "late": "done",
        "not": "cancelled",
    }
    again = stages.run(Queue((job,)), shared / "base", shared / "again", **places)
    assert again.jobs == told.jobs, "all had ended: nothing is trained again, and adapters are written"
    wanted = Queue((msgspec.structs.replace(job, batch=6),))
    with pytest.raises(ValueError, match="job 'texts' is not the one of the checkpoint, which is done after 3 steps"):
        stages.run(wanted, shared / "base", shared / "again", **places)
    if rank == 0:
        host = Host(base(torch.float64))
        trainer = Trainer(host, root=shared)
        trainer.submit(job)
        trainer.run()
        for out in ("out", "again"):
            found = read(shared / out / "adapters" / "texts", host).trained
            for name, each in trainer.tunings["texts"].weights.trained.items():
                assert torch.allclose(found[name], each, rtol=0, atol=1e-10), name


def what_is_not_known_beforehand_ends_its_job(folder: Path) -> None:
    model = base(torch.float32)
    for changed, message in [
        ({"stop": EarlyStop(), "held_out": 2}, "may stop early: a pipeline's order is fixed beforehand"),
        ({"adapter": Adapter(start="there")}, "pipelines train new ones beside the base"),
        ({"objective": DPO(reference="there"), "rows": toys.pairs(1)}, "pipelines train new ones beside the base"),
        ({"adapter": Adapter("vera", targets=(LATE,))}, "target kinds of layers, not single ones"),
    ]:
        trainer = PipelineTrainer(model)
        trainer.submit(toys.job(folder, "odd", 1, **changed))
        assert message in trainer.progress()["odd"].reason
    with pytest.raises(ValueError, match="3 stages of 2 layers: each has at least one"):
        PipelineTrainer(base(torch.float32, layers=2))
