"""Rounds of a pipeline: what goes wrong on a stage, what goes on from a checkpoint, who makes room (see `piping`)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import torch
import torch.distributed as dist

from couler_py.steps.lora.hosting import Host
from couler_py.steps.lora.jobs import Adapter, Data, Job, Optimizer, Policy
from couler_py.steps.lora.pipelining import PipelineTrainer
from couler_py.steps.lora.saving import begin as begin_jobs
from couler_py.steps.lora.saving import save as save_jobs
from couler_py.steps.lora.trainer import Trainer
from couler_py.steps.models.config import DecoderConfig
from couler_py.steps.models.decoder import Decoder, build
from tests.training.lora import toys

SHAPE = DecoderConfig(vocabulary=259, layers=4, hidden=32, heads=4, kv_heads=2, feed_forward=56, context=64)
"""Four layers on three stages: one, one and two."""
LATE = "model.layers.2.self_attn.v_proj"


def base(dtype: torch.dtype, **changed: object) -> Decoder:
    return build(msgspec.structs.replace(SHAPE, **changed), 3, dtype=dtype)


def alone(job: Job, dtype: torch.dtype, **changed: object) -> Trainer:
    trainer = Trainer(Host(base(dtype, **changed)))
    trainer.submit(job)
    trainer.run()
    return trainer


def trained(model: Decoder, jobs: list[Job], policy: Policy = Policy(), **options: Any) -> PipelineTrainer:
    trainer = PipelineTrainer(model, policy, **options)
    for job in jobs:
        trainer.submit(job)
    trainer.run()
    return trainer


def apart(found: PipelineTrainer, job: Job, dtype: torch.dtype, **changed: object) -> float:
    """The largest difference of a weight to a training alone, whose losses and tokens are the same; rank 0 looks."""
    name = job.name
    told = found.whole(name).trained
    if dist.get_rank():
        return 0.0
    one = alone(job, dtype, **changed)
    expected = one.tunings[name].weights.trained
    assert list(expected) == list(told), name
    before, after = one.progress()[name], found.progress()[name]
    assert (before.state, before.step, before.tokens) == (after.state, after.step, after.tokens), name
    assert torch.allclose(torch.tensor(before.losses), torch.tensor(after.losses), rtol=1e-6), name
    return max(float((expected[key] - told[key]).detach().abs().max()) for key in expected)


def what_one_stage_cannot_do_ends_that_job_on_all(folder: Path) -> None:
    """Memory ends on the second stage, a rate is too high in float32, and data are there for two stages alone."""
    here = folder.parent / f"data-{dist.get_rank()}"
    here.mkdir()
    if dist.get_rank() != 1:
        toys.written(here, "odd", toys.lines(1))
    jobs = [
        toys.job(folder, "large", 2, batch=10),
        toys.job(folder, "wild", 3, optimizer=Optimizer(lr=1e38), adapter=Adapter(targets=(LATE,))),
        Job("odd", Data("odd.jsonl")),
        toys.job(folder, "missing", 4, adapter=Adapter(targets=("c_attn",))),
        good := toys.job(folder, "good", 1, clip=None),
    ]
    trainer = PipelineTrainer(base(torch.float32), root=here)
    forward = trainer.host.model.forward

    def limited(x: torch.Tensor, *rest: object) -> torch.Tensor:
        if len(x) > 8 and trainer.stage == 1:
            raise torch.OutOfMemoryError("tried to allocate 99 GiB")
        return forward(x, *rest)

    trainer.host.model.forward = limited
    for job in jobs:
        trainer.submit(job)
    told = trainer.run()
    assert [each.state for each in told.values()] == ["failed"] * 4 + ["done"]
    assert told["large"].reason.startswith("memory ends on stage 1 in a forward of 10 rows of ")
    assert told["wild"].reason.startswith("step 1 can't be made at a rate of 1e+38")
    assert "odd.jsonl can't be read as text" in told["odd"].reason
    assert told["missing"].reason.startswith("the base has no linear layer 'c_attn'")
    assert apart(trainer, good, torch.float32) == 0.0


def a_pipeline_goes_on_bit_by_bit_and_so_does_one_process(folder: Path, shared: Path) -> None:
    """From a checkpoint of three stages; one job had ended, another begins later."""
    jobs = [
        toys.job(folder, "long", 1, clip=None, adapter=Adapter("dora", rank=4, dropout=0.2), epochs=3, micro_batch=2),
        toys.job(folder, "short", 2, clip=None, adapter=Adapter("vera", rank=6), batch=6),
        toys.job(folder, "late", 3, clip=None, optimizer=Optimizer("sgd", lr=0.05)),
    ]
    jobs = [msgspec.structs.replace(job, data=Data(f"{job.name}.jsonl")) for job in jobs]
    policy = Policy(save_every=2, concurrency=2)
    whole, cut = (PipelineTrainer(base(torch.float32), policy, root=folder) for _ in range(2))
    for trainer in (whole, cut):
        for job in jobs:
            trainer.submit(job)
        while trainer.turn():
            if trainer is cut and trainer.turns == 2:
                save_jobs(trainer, shared / "checkpoints")
                break
    one = Trainer(Host(base(torch.float32)), policy, root=folder)
    for later in (PipelineTrainer(base(torch.float32), policy, root=folder), one):
        begin_jobs(later, jobs, shared / "checkpoints")
        assert [each.state for each in later.progress().values()] == ["ready", "done", "ready"]
        later.run()
        for job in jobs:
            expected = whole.whole(job.name).trained
            found = later.tunings[job.name].weights if later is one else later.whole(job.name)
            for name, each in expected.items():
                assert torch.equal(each, found.trained[name]), (job.name, name)
            assert later.progress()[job.name].losses == whole.progress()[job.name].losses


def who_is_more_urgent_goes_first(folder: Path) -> None:
    patient = toys.job(folder, "patient", 1, clip=None, epochs=2)
    urgent, third = toys.job(folder, "urgent", 2, priority=5), toys.job(folder, "third", 3)
    trainer = PipelineTrainer(base(torch.float64), Policy(concurrency=1, save_every=2))
    trainer.submit(patient)
    states = []

    def between() -> None:
        if trainer.turns == 1 and "urgent" not in trainer.jobs:
            trainer.submit(third)
            trainer.submit(urgent)
        if trainer.turns == 3:
            trainer.cancel("third")
        states.append([each.state for each in trainer.progress().values()])

    told = trainer.run(between)
    assert states[2] == ["ready", "ready", "running"], "it makes room between two rounds"
    assert {name: (each.state, each.step) for name, each in told.items()} == {
        "patient": ("done", 6),
        "third": ("cancelled", 0),
        "urgent": ("done", 3),
    }
    assert apart(trainer, patient, torch.float64) == 0.0
