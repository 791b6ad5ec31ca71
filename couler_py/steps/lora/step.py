"""Many trainings as one step of a workflow: `lora.train_many`, and what is done with the adapters that it leaves.

The steps run this package, with torch, in the environment or image that they are given: one with `couler-py[train]`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, Unpack

import msgspec

from couler_py.dsl.options import StepOptions
from couler_py.dsl.step import step
from couler_py.steps.lora.jobs import Job, Policy, Queue


class Tuned(NamedTuple):
    """A folder with a folder for each adapter, as peft has it; how each job went; and a page of it."""

    adapters: Path
    results: Path
    report: Path
    finished: list[str]
    """Jobs that made all their steps or stopped early."""
    failed: dict[str, str]
    """Jobs that ended otherwise, with the reason."""
    losses: dict[str, float]
    """Of each that finished and moved: on its held-out lines, or of its last step where there are none."""
    seconds: float
    peak: int
    """Bytes of the base, of what was at work at once, and of the largest pass."""


@step(name="lora-train-many")
def on_one_machine(
    base: Path, data: Path | None, tokenizer: Path | None, queue: str, checkpoints: str, inbox: str
) -> Tuned:
    """Train a queue of jobs, given as JSON, in one process of this machine, on its GPU where it has one."""
    from couler_py.steps.processes import need_torch

    need_torch()
    from couler_py.steps.lora.running import run

    out = Path("trained")
    told = run(queue, base, out, data=data, tokenizer=tokenizer, checkpoints=checkpoints, inbox=inbox)
    for name, reason in told.failed.items():
        print(f"{name}: {reason}")  # noqa: T201
    if not told.finished:
        raise RuntimeError(f"no job of {len(told.failed)} has finished: their reasons stand above")
    return Tuned(
        out / "adapters",
        out / "results.json",
        out / "report.html",
        list(told.finished),
        told.failed,
        told.losses,
        told.seconds,
        told.peak,
    )


def train_many(
    base: Any,
    jobs: Sequence[Job],
    *,
    data: Any = None,
    policy: Policy = Policy(),
    tokenizer: Any = None,
    checkpoints: str = "",
    inbox: str = "",
    **options: Unpack[StepOptions],
) -> Any:
    """Train adapters on one base together: each job learns what it would learn alone, and ends by itself.

    `base` is a folder of a model: the built-in decoder, or a causal model of Hugging Face, with its tokenizer. Data of
    jobs lie in the folder `data`, by their relative paths. With `checkpoints`, a folder or URL that outlives attempts,
    a training that was ended goes on from there; `inbox` is a folder into which `lora.submit` and `lora.cancel` put
    what comes while it runs. The step fails only where no job finishes. Options are those of every step, as `gpu=1`.

    Raises `ValueError` for no jobs, two of one name, and relative paths without `data`.

    >>> tuned = lora.train_many(base, [lora.Job("math", lora.Data("math.jsonl"))], data=folder)  # doctest: +SKIP
    """
    queue = Queue(tuple(jobs), policy)
    for job in queue.jobs:
        if data is None and not Path(job.data.path).is_absolute():
            raise ValueError(f"job {job.name!r} reads {job.data.path!r}: give the folder where that lies, data=…")
    run = on_one_machine
    if "name" in options:  # of the task: what is run is the same for all
        run = run.named(options.pop("name"))
    run = run.with_options(**options)
    return run(base, data, tokenizer, msgspec.json.encode(queue).decode(), checkpoints, inbox)


@step(name="lora-evaluate")
def evaluate(base: Path, adapters: Path, job: str, data: Path | None = None, tokenizer: Path | None = None) -> float:
    """The loss of one job's adapter on the lines that it held out, or on all where it held out none.

    `adapters` and `data` are those of `train_many`. Raises `ValueError` where there is no such adapter.
    """
    from couler_py.steps.lora.running import judge

    return judge(base, adapters / job, data=data, tokenizer=tokenizer)


@step(name="lora-export")
def export(adapters: Path, job: str, base: Path | None = None) -> Path:
    """One job's adapter as a folder for peft; with a base, a whole model with the adapter in it, for transformers.

    Raises `ValueError` where there is no such adapter.
    """
    import shutil

    source = adapters / job
    if not source.is_dir():
        there = ", ".join(sorted(path.name for path in adapters.iterdir())) or "none"
        raise ValueError(f"there is no adapter of a job {job!r}: there are {there}")
    if base is None:
        return Path(shutil.copytree(source, "adapter"))
    from couler_py.steps.lora.running import merge

    return merge(base, source, Path("model"))
