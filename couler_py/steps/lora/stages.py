"""A queue of jobs in one pipeline of processes, from beginning to end: what each rank of `lora.pipeline` runs."""

from __future__ import annotations

from pathlib import Path

import msgspec
import torch
import torch.distributed as dist

from couler_py.steps.lora import exporting
from couler_py.steps.lora.data import encoder_of
from couler_py.steps.lora.jobs import Queue
from couler_py.steps.lora.pipelining import PipelineTrainer
from couler_py.steps.lora.running import JOB
from couler_py.steps.lora.tuning import Progress
from couler_py.steps.models import folders


class Results(msgspec.Struct, frozen=True):
    """How each job went, and what the pipeline was like."""

    jobs: dict[str, Progress]
    seconds: float
    bubble: float
    """The part of all stages' time in which they wait, by the schedule."""
    peak: tuple[int, ...]
    """The most micro-batches that each stage kept activations of."""


def run(
    queue: Queue,
    base: str | Path,
    out: str | Path,
    *,
    data: str | Path | None = None,
    tokenizer: str | Path | None = None,
    in_flight: int | None = None,
    device: torch.device | str = "cpu",
) -> Results:
    """Train all jobs on all processes of the default group; the first one writes adapters and results.json.

    Raises `ValueError` for a base that isn't the built-in decoder, and what `PipelineTrainer` raises.
    """
    encoder = encoder_of(base, tokenizer or "")
    model = folders.load(base).to(device)
    trainer = PipelineTrainer(model, queue.jobs, encoder=encoder, root=data or "", in_flight=in_flight)
    found = trainer.run()
    results = Results(found.progress, found.seconds, trainer.schedule.bubble(), found.peak)
    if dist.get_rank() == 0:
        target = Path(out)
        (target / "adapters").mkdir(parents=True, exist_ok=True)
        for job in queue.jobs:
            if found.progress[job.name].state == "done":
                folder = exporting.write(found.weights[job.name], target / "adapters" / job.name, str(base))
                (folder / JOB).write_bytes(msgspec.json.encode(job))
        (target / "results.json").write_bytes(msgspec.json.encode(results))
    return results
