"""Many trainings in one pipeline as a step: `lora.pipeline`, for a base that one process doesn't hold."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, Unpack

import msgspec

from couler_py.dsl.options import StepOptions
from couler_py.dsl.step import step
from couler_py.steps.lora.jobs import Job, Policy, Queue
from couler_py.steps.lora.progress import Progress, last_losses
from couler_py.steps.lora.ranges import held


class Piped(NamedTuple):
    """A folder with a folder for each adapter, as peft has it, and how each job and the pipeline went."""

    adapters: Path
    results: Path
    finished: list[str]
    failed: dict[str, str]
    """Jobs that didn't make all their steps, with the reason."""
    losses: dict[str, float]
    """Of the last step of each that finished and moved."""
    seconds: float
    bubble: float
    """The part of all stages' time in which they wait, by the schedule."""


@step(name="lora-pipeline")
def on_stages(
    base: Path,
    data: Path | None,
    tokenizer: Path | None,
    queue: str,
    checkpoints: str,
    inbox: str,
    stages: int,
    in_flight: int,
) -> Piped:
    """Train a queue of jobs, given as JSON, in so many processes of this machine."""
    import json

    from couler_py.steps.processes import need_torch, torchrun

    need_torch()
    given: dict[str, object] = {
        "--data": data,
        "--tokenizer": tokenizer,
        "--checkpoints": checkpoints or None,
        "--inbox": inbox or None,
        "--in-flight": in_flight or None,
    }
    more = [text for name, value in given.items() if value is not None for text in (name, str(value))]
    torchrun("couler_py.steps.lora", stages, queue, "--base", str(base), "--out", "trained", *more)
    out = Path("trained")
    told = json.loads((out / "results.json").read_text(encoding="utf-8"))
    finished = [name for name, each in told["jobs"].items() if each["state"] == "done"]
    failed = {name: each["reason"] for name, each in told["jobs"].items() if name not in finished}
    if not finished:
        raise RuntimeError(f"no job of {len(failed)} has finished: {failed}")
    losses = last_losses(msgspec.convert(told["jobs"], dict[str, Progress]))
    return Piped(out / "adapters", out / "results.json", finished, failed, losses, told["seconds"], told["bubble"])


def pipeline(
    base: Any,
    jobs: Sequence[Job],
    *,
    stages: int = 2,
    data: Any = None,
    policy: Policy = Policy(),
    tokenizer: Any = None,
    checkpoints: str = "",
    inbox: str = "",
    in_flight: int | None = None,
    **options: Unpack[StepOptions],
) -> Any:
    """Train adapters on one base that lies on several processes: jobs take turns, so that stages hardly wait.

    Each of the `stages` processes holds some layers of the base, the built-in decoder, and has a GPU of its own where
    there are any. All else is as in `train_many`; of `policy` counts who is at work and when, and jobs come, go and are
    saved between rounds of `save_every` steps. `in_flight` is how many micro-batches the first stage may keep
    activations of.

    Raises `ValueError` for no jobs, two of one name, relative paths without `data`, numbers below 1, and jobs that
    pipelines don't train: those that may stop early, begin with an adapter or refer to one.
    """
    held("pipeline", least=1, stages=stages, in_flight=in_flight)
    queue = Queue(tuple(jobs), policy)
    for job in queue.jobs:
        if job.unpiped:
            raise ValueError(f"job {job.name!r} can't be trained in a pipeline: {job.unpiped}")
        if data is None and not Path(job.data.path).is_absolute():
            raise ValueError(f"job {job.name!r} reads {job.data.path!r}: give the folder where that lies, data=…")
    run = on_stages
    if "name" in options:
        run = run.named(options.pop("name"))
    text = msgspec.json.encode(queue).decode()
    return run.with_options(**options)(base, data, tokenizer, text, checkpoints, inbox, stages, in_flight or 0)
