"""Training on uneven hardware as a step: `hybrid.train` profiles, plans, trains, and plans anew when ranks get slow.

The step runs this package, with torch, in the environment or image that it is given: one with `couler-py[train]`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple, Unpack

import msgspec

from couler_py.dsl.options import StepOptions
from couler_py.dsl.step import step
from couler_py.steps.hybrid.plan import MemoryModel
from couler_py.steps.hybrid.task import Emulated, Task
from couler_py.steps.models.config import PRESETS, DecoderConfig


class Trained(NamedTuple):
    """A model as a folder that transformers reads, the loss of its last step, and what the training was like."""

    model: Path
    loss: float
    metrics: Path
    report: Path
    seconds: float
    plans: int
    """How many plans it trained under."""
    trace: Path
    """Some steps as a timeline, for https://ui.perfetto.dev."""


@step(name="hybrid-train")
def on_one_machine(data: Path, task: str, processes: int, checkpoints: str) -> Trained:
    """Run a training, given as JSON, in so many processes of this machine."""
    import json

    from couler_py.steps.hybrid.supervisor import supervise
    from couler_py.steps.processes import need_torch, torchrun

    need_torch()
    where = ("--checkpoints", checkpoints) if checkpoints else ()
    told_to = (task, "--data", str(data), "--out", "trained", *where)
    if json.loads(task).get("elastic"):
        supervise(processes, *told_to)
    else:
        torchrun("couler_py.steps.hybrid", processes, *told_to)
    out = Path("trained")
    told = json.loads((out / "metrics.json").read_text(encoding="utf-8"))
    return Trained(
        out / "model",
        told["steps"][-1]["loss"] if told["steps"] else float("nan"),
        out / "metrics.json",
        out / "report.html",
        told["seconds"],
        len(told["plans"]),
        out / "trace.json",
    )


def train(
    data: Any,
    *,
    processes: int = 4,
    pipelines: int = 2,
    tensor: int = 1,
    model: str | DecoderConfig = "tiny",
    micros: int = 8,
    samples: int = 1,
    sequence: int = 64,
    steps: int = 100,
    rate: float = 1e-3,
    planning: bool = True,
    memory_model: MemoryModel | None = None,
    node: int = 8,
    seed: int = 0,
    checkpoints: str = "",
    save_every: int | None = None,
    emulated: Emulated | None = None,
    elastic: bool = False,
    **options: Unpack[StepOptions],
) -> Any:
    """Train the built-in decoder on a folder of tokens in pipelines whose stages fit their ranks.

    A rank is a process of the step's machine, with a GPU of its own where there are any. All begin with equal shares;
    when one is slow by 1.2 or more, and again when its rate moves by 0.3, the step's log says which and by how much,
    and training goes on under a better plan where the steps that are left make up for the change: weights move from
    memory to memory, and the samples of a step stay the same. A step has `micros` micro-batches of `samples` rows.
    `memory_model` says how many layers fit a rank. With `checkpoints`, a folder or URL, a training that was ended goes
    on from there with any number of ranks.

    Where `elastic`, a rank that is lost ends nothing: the others plan without it and go on with what they have in
    memory, reading from `checkpoints` only what nobody has any more; a process that takes its place is taken in, up to
    five of them. Such ranks compute on CPUs.

    Raises `ValueError` for settings that make no sense.

    >>> trained = hybrid.train(edit.prepare(), processes=4, pipelines=2)  # doctest: +SKIP
    """
    if isinstance(model, str) and model not in PRESETS:
        raise ValueError(f"no model is called {model!r}: there are {', '.join(PRESETS)}")
    if processes < pipelines * tensor:
        raise ValueError(f"{processes} processes for {pipelines} pipelines of groups of {tensor}: too few")
    task = Task(
        PRESETS[model] if isinstance(model, str) else model,
        pipelines=pipelines,
        tensor=tensor,
        micros=micros,
        samples=samples,
        sequence=sequence,
        steps=steps,
        rate=rate,
        planning=planning,
        memory=memory_model,
        node=node,
        seed=seed,
        save_every=save_every,
        emulated=emulated,
        elastic=elastic,
    )
    lost = [seat for seat, _, _ in emulated.lost] if emulated is not None else []
    if any(not 0 <= seat < processes for seat in lost):
        raise ValueError(f"rank {max(lost)} is to be lost: there are {processes} processes")
    run = on_one_machine.named("train-planned" if planning else "train-uniform").with_options(**options)
    return run(data, msgspec.json.encode(task).decode(), processes, checkpoints)
