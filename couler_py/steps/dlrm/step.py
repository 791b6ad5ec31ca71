"""Training a recommender as steps: `dlrm.train` on one machine or several nodes, `dlrm.evaluate`, `dlrm.export`.

The steps run this package, with torch, in the environment or image that they are given: one with `couler-py[train]`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple, Unpack

import msgspec

from couler_py.dsl.jobs import distributed_job
from couler_py.dsl.options import PodOptions, StepOptions
from couler_py.dsl.step import step
from couler_py.steps.dlrm.shapes import Shape, shape_of
from couler_py.steps.dlrm.task import Task


class Trained(NamedTuple):
    """A model as a folder, how good it is on the rows for testing (`judging.Judged`), what training was like."""

    model: Path
    auc: float
    log_loss: float
    normalised_entropy: float
    calibration: float
    metrics: Path
    report: Path
    rows: int
    """Rows whose gradients are in the model."""
    rows_per_second: float
    step_seconds: float
    """The median of a step."""
    data: str
    """What tells these shards from others, as the history of trainings has it (`data.shards.identity`)."""


class Evaluated(NamedTuple):
    """How good a model is on some rows (`judging.Judged`), and all of it as JSON."""

    auc: float
    log_loss: float
    normalised_entropy: float
    calibration: float
    metrics: Path


@step(name="dlrm-train")
def on_one_machine(
    data: Path, test: Path, task: str, processes: int, restarts: int, checkpoints: str, least: int
) -> Trained:
    """Run a training, given as JSON, in so many processes of this machine; with `least`, some may be lost."""
    import json

    from couler_py.steps.dlrm.data.shards import identity
    from couler_py.steps.processes import agents, need_torch, torchrun

    need_torch()
    where = ("--checkpoints", checkpoints) if checkpoints else ()
    folders = ("--data", str(data), "--test", str(test), "--out", "trained")
    out, module = Path("trained"), "couler_py.steps.dlrm"
    try:
        if least:
            agents(module, processes, task, *folders, *where, least=min(least, processes), restarts=restarts)
        else:
            torchrun(module, processes, task, *folders, *where, restarts=restarts)
    except RuntimeError:
        needs = out / "needs-memory.txt"
        if needs.exists():
            raise RuntimeError(needs.read_text(encoding="utf-8")) from None
        raise
    told = json.loads((out / "metrics.json").read_text(encoding="utf-8"))
    judged = told["seen"][-1]["judged"]
    return Trained(
        out / "model",
        judged["auc"],
        judged["log_loss"],
        judged["normalised_entropy"],
        judged["calibration"],
        out / "metrics.json",
        out / "report.html",
        told["rows"],
        told["rows_per_second"],
        told["step_seconds"],
        identity(data),
    )


def train(
    data: Any,
    test: Any,
    *,
    model: str | Shape = "dlrm",
    workers: Any = 1,
    task: Task = Task(),
    restarts: int | None = None,
    checkpoints: str = "",
    least: int | None = None,
    **options: Unpack[StepOptions],
) -> Any:
    """Train on a folder of shards, in `workers` processes of the step's machine, each with a GPU where there are any.

    `model` is a shape or the name of one, and replaces that of `task`, whose micro-batches are as many as the workers
    where it doesn't say. `workers` may be what an earlier step gives (`dlrm.plan`): then the task says how many
    micro-batches there are. Processes that fail begin again `restarts` times (0, or 3 with `least`), from the newest of
    `checkpoints` (a folder or URL that outlives attempts) where `task.save_every` is set. With `least`, a worker
    that is lost is not waited for while so many are left: the others go on, with as many rows in a step, and it comes
    back after a while. Options are those of every step.

    Raises `ValueError` for settings that make no sense.

    >>> trained = dlrm.train(shards.train, shards.test, model="dcn-v2", workers=2)  # doctest: +SKIP
    """
    whole = _task(task, model, workers, checkpoints)
    run = on_one_machine.named(f"train-{whole.shape.kind.replace('_', '-')}").with_options(**options)
    if least is not None and (least < 1 or (isinstance(workers, int) and least > workers)):
        raise ValueError(f"at least {least} workers of {workers}: there is one at least, and no more than there are")
    if least is not None and whole.save_every is None:
        raise ValueError(
            "workers that may be lost go back to a checkpoint: say save_every in the task, and checkpoints="
        )
    again = restarts if restarts is not None else 0 if least is None else 3
    return run(data, test, msgspec.json.encode(whole).decode(), workers, again, checkpoints, least or 0)


def train_on_nodes(
    image: str,
    data: str,
    test: str,
    out: str,
    *,
    model: str | Shape = "dlrm",
    nodes: int = 2,
    processes: int = 1,
    elastic: tuple[int, int] | None = None,
    max_restarts: int = 3,
    task: Task = Task(save_every=100),
    python: str = "python",
    **options: Unpack[PodOptions],
) -> Any:
    """Train on several nodes, of which some may leave and join: a job as `couler.distributed_job` has them.

    `data`, `test` and `out` are paths that all nodes share (`volumes=`): folders of shards, and where model/,
    metrics.json, report.html and checkpoints/ come to lie. A step keeps its rows whatever the number of nodes; after a
    change, all begin again from the newest checkpoint. Outputs are `auc`, `log_loss`, `normalised_entropy`,
    `calibration` and `rows`.

    Raises `ValueError` and `DefinitionError` for settings that make no sense.

    >>> trained = dlrm.train_on_nodes("train:1", "/data/train", "/data/test", "/data/out", nodes=4, elastic=(2, 4))
    ... # doctest: +SKIP
    """
    whole = _task(task, model, nodes * processes, out)
    command = [
        *(python, "-m", "couler_py.steps.dlrm", msgspec.json.encode(whole).decode()),
        *("--data", data, "--test", test, "--out", out, "--checkpoints", f"{out}/checkpoints"),
        *("--outputs", "/tmp/couler/outputs"),  # noqa: S108 - where jobs leave what they give
    ]
    options.setdefault("name", f"train-{whole.shape.kind.replace('_', '-')}")
    numbers = dict.fromkeys(("auc", "log_loss", "normalised_entropy", "calibration"), float)
    job = distributed_job(
        image,
        command,
        nodes=nodes,
        processes=processes,
        elastic=elastic,
        max_restarts=max_restarts,
        outputs={**numbers, "rows": int},
        **options,
    )
    return job()


@step(name="dlrm-evaluate")
def evaluate(model: Path, data: Path) -> Evaluated:
    """How good a model's folder is on a folder of shards: AUC exact with ties, log loss and so on."""
    from couler_py.steps.dlrm.folders import load_model, opened
    from couler_py.steps.dlrm.training import evaluate as evaluated

    trainer = load_model(model)
    rows, tables, _ = opened(data, trainer.task.shape)
    if trainer.tables and tables != trainer.tables:
        raise ValueError(f"the rows in {data} were prepared for other tables than those of the model in {model}")
    judged = evaluated(trainer, rows)
    metrics = Path("metrics.json")
    metrics.write_bytes(msgspec.json.encode(judged))
    return Evaluated(judged.auc, judged.log_loss, judged.normalised_entropy, judged.calibration, metrics)


@step(name="dlrm-export")
def export(model: Path) -> Path:
    """A model for serving: its dense layers as a program of torch.export, its tables as safetensors.

    The program, read back, gives what the model gives, or the step fails.
    """
    from couler_py.steps.dlrm import folders

    out = Path("exported")
    difference = folders.export(model, out)
    if not difference <= 1e-4:
        raise RuntimeError(f"the exported program differs from the model by {difference}")
    return out


def _task(task: Task, model: str | Shape, ranks: Any, checkpoints: str) -> Task:
    if task.save_every is not None and not checkpoints:
        raise ValueError(f"checkpoints are to be saved every {task.save_every} steps: say where, checkpoints=")
    if not isinstance(ranks, int) and task.micro_batches == 1:
        raise ValueError("only the run knows how many workers there are: say how many micro-batches the task has")
    micro = ranks if task.micro_batches == 1 else task.micro_batches
    return msgspec.structs.replace(task, shape=shape_of(model), micro_batches=micro)
