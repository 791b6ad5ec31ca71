"""A queue of jobs from beginning to end: a base in, adapters and what became of each job out."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import torch

from couler_py.steps.lora import exporting
from couler_py.steps.lora.data import encoder_of
from couler_py.steps.lora.hosting import open_base
from couler_py.steps.lora.inbox import Inbox
from couler_py.steps.lora.jobs import Job, Queue
from couler_py.steps.lora.progress import FINISHED
from couler_py.steps.lora.reporting import Results, write
from couler_py.steps.lora.saving import begin, save
from couler_py.steps.lora.trainer import Trainer
from couler_py.steps.models import folders

if TYPE_CHECKING:
    from couler_py.steps.lora.weights import Weights

JOB = "job.json"
"""Beside each adapter: the job that made it."""


def run(
    queue: str | Queue,
    base: str | Path,
    out: str | Path,
    *,
    data: str | Path | None = None,
    tokenizer: str | Path | None = None,
    checkpoints: str | os.PathLike[str] = "",
    inbox: str | Path = "",
) -> Results:
    """Train all jobs, from the newest checkpoint where there is one, and write adapters, results.json and report.html.

    An adapter is written as soon as its job has ended. Raises `ValueError` for a queue or a base that can't be read,
    and where a job isn't the one that the checkpoint has by its name.
    """
    asked = msgspec.json.decode(queue, type=Queue) if isinstance(queue, str) else queue
    target = Path(out)
    target.mkdir(parents=True, exist_ok=True)
    host = open_base(base, device="cuda" if torch.cuda.is_available() else "cpu")

    def ended(name: str) -> None:
        if trainer.progress()[name].state in FINISHED:
            keep(trainer.tunings[name].weights, trainer.jobs[name], target, base)

    encoder = encoder_of(base, tokenizer or "")
    trainer = Trainer(host, asked.policy, encoder=encoder, root=data or "", ended=ended)
    began = time.monotonic()
    begin(trainer, asked.jobs, checkpoints)
    mailed = Inbox(inbox) if inbox else None

    def between() -> None:
        if mailed:
            mailed.deliver(trainer)
        if checkpoints and trainer.turns and trainer.turns % asked.policy.save_every == 0:
            save(trainer, checkpoints)

    trainer.run(between)
    (target / "adapters").mkdir(exist_ok=True)
    results = Results(
        jobs=trainer.progress(),
        seconds=time.monotonic() - began,
        peak=trainer.peak,
        base=host.size,
        turns=trainer.turns,
        passes=trainer.passes,
        padding=trainer.padding,
        refused=mailed.refused if mailed else {},
    )
    write(results, trainer.jobs, target)
    return results


def keep(weights: Weights, job: Job, target: Path, base: str | Path) -> None:
    """Write the adapter of a job, with the job beside it."""
    folder = exporting.write(weights, target / "adapters" / job.name, str(base))
    (folder / JOB).write_bytes(msgspec.json.encode(job))


def judge(
    base: str | Path, adapter: str | Path, *, data: str | Path | None = None, tokenizer: str | Path | None = None
) -> float:
    """The loss of an adapter on the lines that its job held out; on all of them where it held out none."""
    source = Path(adapter)
    if not (source / JOB).is_file():
        raise ValueError(f"there is no adapter of a job {source.name!r}: {source} has no {JOB}")
    job = msgspec.json.decode((source / JOB).read_bytes(), type=Job)
    job = msgspec.structs.replace(job, adapter=msgspec.structs.replace(job.adapter, start=str(source)))
    trainer = Trainer(open_base(base), encoder=encoder_of(base, tokenizer or ""), root=data or "")
    trainer.submit(job)
    if job.name in trainer.lost:
        raise ValueError(f"job {job.name!r} can't be evaluated: {trainer.lost[job.name].reason}")
    tuning = trainer.tunings[job.name]
    return trainer.loss(tuning, tuning.held_out or tuning.samples)


def merge(base: str | Path, adapter: str | Path, out: str | Path) -> Path:
    """Write a plain model with an adapter in it, and the tokenizer of its base."""
    host, target = open_base(base), Path(out)
    weights = exporting.read(adapter, host)
    with torch.no_grad():
        for name, linear in weights.layers.items():
            linear.weight.copy_(weights.merged(name))
    if host.ours:
        folders.save(host.model, target)
    else:
        host.model.save_pretrained(target)
    for path in sorted(Path(base).iterdir()):
        if path.is_file() and not (target / path.name).exists() and path.suffix != ".safetensors":
            shutil.copy2(path, target / path.name)
    return target
