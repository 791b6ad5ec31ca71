"""Training in rounds as a step: `edit.prepare` makes a corpus, `edit.train` trains on it, `edit.evaluate` looks at it.

The steps run this package, with torch, in the environment or image that they are given: one with `couler-py[train]`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, NamedTuple, Unpack

import msgspec

from couler_py.dsl.options import StepOptions
from couler_py.dsl.step import step
from couler_py.steps.edit.nodes import Nodes, layout, on_nodes
from couler_py.steps.edit.settings import Outer, Penalty, preset
from couler_py.steps.edit.task import Inner, Task
from couler_py.steps.models.config import PRESETS, DecoderConfig

Method = Literal["ddp", "post_local_sgd", "diloco", "co2", "edit", "a_edit"]


class Trained(NamedTuple):
    """A model as a folder that transformers reads, its loss on held-out rows, and what the training was like."""

    model: Path
    loss: float
    metrics: Path
    report: Path
    trace: Path
    """The first rounds as a timeline, for https://ui.perfetto.dev."""
    tokens: int
    seconds: float
    bytes_between: int
    """What a rank sent to other replicas."""


class Published(NamedTuple):
    """Where the nodes of one training read and write: places that all of them reach."""

    corpus: str
    folder: str
    checkpoints: str


@step(name="edit-prepare")
def prepare(texts: Path | None = None, most: int = 2_000_000) -> Path:
    """Bytes of text as a folder of tokens: of a file or folder, else of Python's own library; at most so many bytes."""
    from couler_py.steps.corpus import files, tokens
    from couler_py.steps.corpus.tokenizers import ByteTokenizer

    index = tokens.write(files.texts([texts] if texts else [], most=most), ByteTokenizer(), "corpus")
    print(f"{index.tokens} tokens of {index.documents} documents")  # noqa: T201
    return Path("corpus")


@step(name="edit-train")
def on_one_machine(data: Path, task: str, processes: int, checkpoints: str) -> Trained:
    """Run a training, given as JSON, in so many processes of this machine."""
    from couler_py.steps.processes import need_torch, torchrun

    need_torch()
    where = ("--checkpoints", checkpoints) if checkpoints else ()
    torchrun("couler_py.steps.edit", processes, task, "--data", str(data), "--out", "trained", *where)
    return found(Path("trained"))


def found(out: Path) -> Trained:
    """What a training has left in a folder."""
    import json

    told = json.loads((out / "metrics.json").read_text(encoding="utf-8"))
    return Trained(
        out / "model",
        told["seen"][-1]["loss"],
        out / "metrics.json",
        out / "report.html",
        out / "trace.json",
        told["tokens"],
        told["seconds"],
        told["between"],
    )


@step(name="edit-publish")
def publish(data: Path, shared: str) -> Published:
    """Copy a corpus to a place that all nodes of a training reach."""
    from couler_py.steps.edit import sharing

    return Published(*sharing.publish(data, shared))


@step(name="edit-collect")
def collect(results: str) -> Trained:
    """Fetch what a training on several nodes has left."""
    from couler_py.steps.edit import sharing

    sharing.results(results, Path("trained"))
    return found(Path("trained"))


def train(
    data: Any,
    *,
    method: Method = "edit",
    model: str | DecoderConfig = "tiny",
    replicas: int = 2,
    shards: int = 1,
    steps: int = 200,
    sync_every: int = 32,
    sync_seconds: float = 600.0,
    warmup: int = 0,
    outer: Outer | None = None,
    penalty: Penalty | None = None,
    inner: Inner = Inner(),
    sequence: int = 64,
    batch: int = 8,
    accumulate: int = 1,
    precision: Literal["fp32", "bf16"] = "fp32",
    recompute: bool = False,
    compression: Literal["none", "bf16", "fp16", "int8"] = "none",
    offload: bool = False,
    seed: int = 0,
    evaluate_every: int | None = None,
    checkpoints: str = "",
    save_every: int | None = None,
    nodes: int = 1,
    shared: str = "",
    job: Nodes | None = None,
    **options: Unpack[StepOptions],
) -> Any:
    """Train the built-in decoder on a folder of tokens: `replicas` that agree in rounds, each on `shards` ranks.

    A rank is a process of the step's machine, with a GPU of its own where there are any. `method` is a preset of
    `edit.settings`; `sync_every` counts steps between rounds, and `sync_seconds` is for "a_edit". `model` is a shape or
    the name of one. With `checkpoints`, a folder or URL that outlives attempts, a training that was ended goes on from
    there. Options are those of every step, as `gpu=4, image="registry/train:1", retries=2`.

    With several `nodes` it is a job between two steps: ranks are dealt out among the nodes, whole replicas side by
    side, and `gpu=`, `cpu=`, `memory=` are for one node. Corpus and results go by `shared`, a folder on a volume that
    `volumes=` mounts in all pods, or of an object store. `job` has options of `couler.distributed_job`: `elastic`,
    `max_restarts`, `launcher`, `queue`. With `save_every`, an attempt after the first goes on from a checkpoint there.

    Raises `ValueError` for settings that make no sense.

    >>> trained = edit.train(edit.prepare(), replicas=2, shards=2, warmup=50)  # doctest: +SKIP
    >>> trained = edit.train(
    ...     corpus, replicas=4, shards=8, nodes=4, gpu=8, image="train:1", shared="s3://bucket/edit"
    ... )  # doctest: +SKIP
    """
    if isinstance(model, str) and model not in PRESETS:
        raise ValueError(f"no model is called {model!r}: there are {', '.join(PRESETS)}")
    given = {"outer": outer, "penalty": penalty}
    changes = {name: value for name, value in given.items() if value is not None}
    settings = preset(
        method,
        sync_every=sync_every,
        sync_seconds=sync_seconds,
        warmup=warmup,
        compression=compression,
        offload=offload,
        **changes,
    )
    task = Task(
        settings=settings,
        model=PRESETS[model] if isinstance(model, str) else model,
        replicas=replicas,
        steps=steps,
        shards=shards,
        sequence=sequence,
        batch=batch,
        accumulate=accumulate,
        inner=inner,
        precision=precision,
        recompute=recompute,
        seed=seed,
        evaluate_every=evaluate_every,
        save_every=save_every,
    )
    name, text = f"train-{method.replace('_', '-')}", msgspec.json.encode(task).decode()
    if nodes == 1:
        if shared or job:
            raise ValueError("shared= and job= are for several nodes: say nodes=")
        run = on_one_machine.named(name).with_options(**options)
        return run(data, text, replicas * shards, checkpoints)
    processes = layout(replicas, shards, nodes)
    if not shared:
        raise ValueError(
            'several nodes need shared=, a place that all of them reach: "s3://bucket/edit", or a folder on a volume '
            "that volumes= mounts"
        )
    if job and job.get("elastic") and (save_every is None or processes % shards):
        raise ValueError("a job that goes on with fewer nodes needs save_every=, and whole replicas on each node")
    return on_nodes(data, text, name, shared, checkpoints, processes, nodes, job or {}, options)


@step(name="edit-evaluate")
def evaluate(model: Path, data: Path, rows: int = 64, sequence: int = 64) -> float:
    """The mean loss of a model's folder on the last rows of a folder of tokens, which `train` holds out."""
    import torch

    from couler_py.steps.corpus.tokens import Rows
    from couler_py.steps.models.decoder import next_token_loss
    from couler_py.steps.models.folders import load

    corpus, decoder = Rows(data, sequence), load(model).eval()
    numbers = range(len(corpus) - rows, len(corpus))
    with torch.no_grad():
        taken = torch.from_numpy(corpus.take(numbers))
        return float(next_token_loss(decoder(taken[:, :-1]), taken[:, 1:]))
