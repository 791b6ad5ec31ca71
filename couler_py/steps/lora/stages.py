"""A queue of jobs in one pipeline of processes, from beginning to end: what each rank of `lora.pipeline` runs."""

from __future__ import annotations

import os
import time
from pathlib import Path

import msgspec
import torch

from couler_py.steps.lora.data import encoder_of
from couler_py.steps.lora.inbox import Inbox, apply
from couler_py.steps.lora.jobs import Queue
from couler_py.steps.lora.pipelining import PATIENCE, PipelineTrainer
from couler_py.steps.lora.progress import Progress
from couler_py.steps.lora.running import keep
from couler_py.steps.lora.saving import begin, save
from couler_py.steps.models import folders


class Results(msgspec.Struct, frozen=True):
    """How each job went, and what the pipeline was like."""

    jobs: dict[str, Progress]
    seconds: float
    bubble: float
    """The part of all stages' time in which they wait, by the schedules."""
    peak: tuple[int, ...]
    """The most micro-batches that each stage kept activations of."""
    refused: dict[str, str] = {}
    """Files of the inbox that were no jobs."""


def run(
    queue: Queue,
    base: str | Path,
    out: str | Path,
    *,
    data: str | Path | None = None,
    tokenizer: str | Path | None = None,
    checkpoints: str | os.PathLike[str] = "",
    inbox: str | Path = "",
    in_flight: int | None = None,
    timeout: float = PATIENCE,
    device: torch.device | str = "cpu",
) -> Results:
    """Train all jobs on all processes of the default group, from the newest checkpoint where there is one.

    The first process reads the inbox, and writes adapters, as soon as their jobs have ended, and results.json. Between
    rounds all is saved. A stage waits `timeout` seconds for what another sends before it fails. Raises `ValueError` for
    a base that isn't the built-in decoder or has fewer layers than there are processes, and where a job isn't the one
    that the checkpoint has by its name.
    """
    target = Path(out)

    def ended(name: str) -> None:
        if trainer.progress()[name].state == "done":
            weights = trainer.whole(name)
            if trainer.stage == 0:
                keep(weights, trainer.jobs[name], target, base)

    encoder = encoder_of(base, tokenizer or "")
    model = folders.load(base).to(device)
    trainer = PipelineTrainer(
        model,
        queue.policy,
        encoder=encoder,
        root=data or "",
        in_flight=in_flight,
        timeout=timeout,
        ended=ended,
    )
    began = time.monotonic()
    begin(trainer, queue.jobs, checkpoints)
    mailed = Inbox(inbox) if inbox and trainer.stage == 0 else None
    saved = trainer.turns

    def between() -> None:
        nonlocal saved
        if inbox:
            apply(trainer.told(mailed.new(trainer.jobs) if mailed else [])[0], trainer)
        if checkpoints and trainer.turns > saved:
            save(trainer, checkpoints)
            saved = trainer.turns

    trainer.run(between)
    refused = mailed.refused if mailed else {}
    results = Results(trainer.progress(), time.monotonic() - began, trainer.bubble, trainer.peak, refused)
    if trainer.stage == 0:
        (target / "adapters").mkdir(parents=True, exist_ok=True)
        (target / "results.json").write_bytes(msgspec.json.encode(results))
    return results
