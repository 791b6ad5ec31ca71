"""Three ranks train jobs in one pipeline, and as three replicas: each job is held against a process of its own.

Run by `tests.training.hybrid.forked`, with a folder for data.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
import torch
import torch.distributed as dist

from couler_py.steps.hybrid.timeline import Op
from couler_py.steps.lora import stages
from couler_py.steps.lora.exporting import read
from couler_py.steps.lora.hosting import Host
from couler_py.steps.lora.jobs import Adapter, Data, EarlyStop, Job, Optimizer, Policy, Queue
from couler_py.steps.lora.objectives import CPO, DPO
from couler_py.steps.lora.pipelining import Piped, PipelineTrainer
from couler_py.steps.lora.planning.asking import Deployed
from couler_py.steps.lora.planning.costs import Config, Costs, Tau
from couler_py.steps.lora.planning.pipeline import bubble
from couler_py.steps.lora.replicas import ReplicaTrainer
from couler_py.steps.lora.trainer import Trainer
from couler_py.steps.models.config import DecoderConfig
from couler_py.steps.models.decoder import Decoder, build
from couler_py.steps.models.folders import save
from tests.training.hybrid.forked import begin
from tests.training.lora import toys

SHAPE = DecoderConfig(vocabulary=259, layers=4, hidden=32, heads=4, kv_heads=2, feed_forward=56, context=64)
"""Four layers on three stages: one, one and two."""
LATE = "model.layers.2.self_attn.v_proj"


def base(dtype: torch.dtype, **changed: object) -> Decoder:
    return build(msgspec.structs.replace(SHAPE, **changed), 3, dtype=dtype)


def main(rank: int, store: dist.Store, folder: str) -> None:
    begin(store, "pipeline", rank, 3)
    work = Path(folder) / str(rank)
    work.mkdir()
    weights_are_bit_for_bit_those_of_one_process(work)
    clipped_jobs_learn_the_same(work)
    a_job_that_comes_to_no_number_ends_alone(work)
    few_micro_batches_are_in_flight(work)
    replicas_are_processes(work, rank)
    a_queue_is_trained_from_folder_to_folder(work, Path(folder) / "shared", rank)
    what_is_not_known_beforehand_is_refused(work)
    dist.destroy_process_group()


def alone(job: Job, dtype: torch.dtype, **changed: object) -> Trainer:
    trainer = Trainer(Host(base(dtype, **changed)))
    trainer.submit(job)
    trainer.run()
    return trainer


def apart(found: Piped, job: Job, dtype: torch.dtype, **changed: object) -> float:
    """The largest difference of a weight to a training alone, whose losses and tokens are the same; rank 0 looks."""
    if dist.get_rank():
        return 0.0
    one, name = alone(job, dtype, **changed), job.name
    expected, told = one.tunings[name].weights.trained, found.weights[name].trained
    assert list(expected) == list(told), name
    before, after = one.progress()[name], found.progress[name]
    assert (before.state, before.step, before.tokens) == (after.state, after.step, after.tokens), name
    assert torch.allclose(torch.tensor(before.losses), torch.tensor(after.losses), rtol=1e-6), name
    return max(float((expected[key] - told[key]).detach().abs().max()) for key in expected)


def weights_are_bit_for_bit_those_of_one_process(folder: Path) -> None:
    """Gradients are the same numbers: each stage multiplies the same rows, and without clipping none meet others."""
    for dtype, changed in ((torch.float64, {}), (torch.float32, {"tied": True})):
        jobs = [
            toys.job(folder, "wide", 1, clip=None, adapter=Adapter(rank=16, targets=toys.ALL), micro_batch=2),
            toys.job(folder, "dropping", 2, clip=None, adapter=Adapter("lora+", rank=3, dropout=0.2), batch=5),
            toys.job(folder, "pairs", 3, toys.pairs(3), clip=None, objective=CPO(), micro_batch=2),
            toys.job(folder, "late", 4, clip=None, adapter=Adapter("dora", rank=4, targets=(LATE,))),
        ]
        trainer = PipelineTrainer(base(dtype, **changed), jobs)
        found = trainer.run()
        for job in jobs:
            assert apart(found, job, dtype, **changed) == 0.0, (job.name, dtype)
        assert found.orders == trainer.schedule.orders
        assert found.peak == trainer.schedule.peak
        assert interleaved(found.orders[0], trainer.schedule.whose)


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
    found = PipelineTrainer(base(torch.float64), jobs).run()
    for job in jobs:
        assert apart(found, job, torch.float64) <= 1e-10, job.name


def a_job_that_comes_to_no_number_ends_alone(folder: Path) -> None:
    good = toys.job(folder, "good", 1)
    bad = toys.job(folder, "bad", 2, optimizer=Optimizer("sgd", lr=1e200), clip=None)
    found = PipelineTrainer(base(torch.float64), [bad, good]).run()
    one = alone(bad, torch.float64)
    assert (found.progress["bad"].state, found.progress["bad"].step) == ("failed", one.progress()["bad"].step)
    assert found.progress["bad"].reason == one.progress()["bad"].reason
    assert apart(found, good, torch.float64) <= 1e-10


def few_micro_batches_are_in_flight(folder: Path) -> None:
    """As many jobs as stages leave no bubble far from both ends; room for two waits as two jobs would."""
    jobs = [toys.job(folder, f"job-{number}", number, toys.lines(1), epochs=6) for number in range(4)]
    full, tight = (PipelineTrainer(base(torch.float32, layers=3), jobs, in_flight=most) for most in (None, 2))
    for trainer, share in ((full, bubble(3, 4)), (tight, bubble(3, 2))):
        found = trainer.run()
        assert found.orders == trainer.schedule.orders
        assert found.peak == trainer.schedule.peak
        end = max(stop for _, stop in trainer.schedule.spans.values())
        assert abs(trainer.schedule.bubble(0.3 * end, 0.7 * end) - share) <= 0.05
    assert tight.schedule.peak[0] == 2


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
    told = stages.run(Queue((job,)), shared / "base", shared / "out", data=shared)
    assert told.jobs["texts"].state == "done"
    if rank == 0:
        host = Host(base(torch.float64))
        trainer = Trainer(host, root=shared)
        trainer.submit(job)
        trainer.run()
        found = read(shared / "out" / "adapters" / "texts", host).trained
        for name, each in trainer.tunings["texts"].weights.trained.items():
            assert torch.allclose(found[name], each, rtol=0, atol=1e-10), name


def what_is_not_known_beforehand_is_refused(folder: Path) -> None:
    model = base(torch.float32)
    for changed, message in [
        ({"stop": EarlyStop(), "held_out": 2}, "may stop early: a pipeline's order is fixed beforehand"),
        ({"adapter": Adapter(start="there")}, "pipelines train new ones beside the base"),
        ({"objective": DPO(reference="there"), "rows": toys.pairs(1)}, "pipelines train new ones beside the base"),
        ({"adapter": Adapter("vera", targets=(LATE,))}, "target kinds of layers, not single ones"),
    ]:
        with pytest.raises(ValueError, match=message):
            PipelineTrainer(model, [toys.job(folder, "odd", 1, **changed)])
    with pytest.raises(ValueError, match="3 stages of 2 layers: each has at least one"):
        PipelineTrainer(base(torch.float32, layers=2), [toys.job(folder, "plain", 1)])
