"""A queue of trainings as YAML, in the shape that mLoRA's users know: dispatcher, datasets, adapters, tasks.

    dispatcher: {concurrency_num: 2}
    datasets: [{name: math, data: math.jsonl, preprocess: shuffle}]
    adapters: [{name: small, type: lora, r: 8, alpha: 16, target_modules: {q_proj: true}, optimizer: adamw, lr: 3e-4}]
    tasks: [{type: train, name: first, adapter: small, dataset: math, batch_size: 8, mini_batch_size: 4, num_epochs: 2}]

(github.com/TUDB-Labs/mLoRA, `demo/`). Each key is known, each name is there once, and numbers are in their ranges: what
is not is an error that names its place. What mLoRA has and this has not, `cit` and `ppo`, is an error too.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import yaml

from couler_py.steps.lora.jobs import Adapter, Data, EarlyStop, Job, Method, Optimizer, Policy, Schedule, checked
from couler_py.steps.lora.objectives import CPO, DPO, SFT, Objective

Number = Annotated[int, msgspec.Meta(ge=1)]


class _Dispatcher(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: Literal["default", "backend"] = "default"
    concurrency_num: Number = 8
    memory: Number | None = None
    aging: Number = 50


class _Dataset(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    data: str
    prompt: str = ""
    """A file of Jinja2, beside this one."""
    prompt_type: Literal["instruction", "preference"] = "instruction"
    preprocess: Literal["default", "shuffle", "sort"] = "default"
    held_out: int = 0


class _Rate(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    type: Literal["cosine", "linear", "constant"] = "cosine"
    t_max: Number | None = None
    eta_min: float = 0.0
    warmup: int = 0


class _Adapter(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    type: Literal["lora", "loraplus", "rslora", "vera", "dora"] = "lora"
    path: str = ""
    """A folder with an adapter: what training goes on from, or what an adapter without an optimizer is."""
    r: Number = 8
    alpha: float = 16.0
    dropout: float = 0.0
    target_modules: dict[str, bool] | tuple[str, ...] = ("q_proj", "k_proj", "v_proj", "o_proj")
    optimizer: Literal["adamw", "sgd"] | None = None
    lr: float = 3e-4
    momentum: float = 0.9
    lrscheduler: _Rate | None = None
    lr_ratio: float = 8.0
    d_initial: float = 0.1


class _Stop(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    every: Number = 10
    patience: Number = 3
    least: float = 0.0


class _Task(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    adapter: str
    dataset: str
    type: Literal["train", "dpo", "cpo"] = "train"
    batch_size: Number = 8
    mini_batch_size: Number | None = None
    num_epochs: Number = 1
    cutoff_len: Number = 256
    reference: str = "base"
    loss_type: Literal["sigmoid", "ipo", "hinge"] = "sigmoid"
    beta: float = 0.1
    label_smoothing: float = 0.0
    priority: int = 0
    seed: int = 0
    clip: float | None = 1.0
    early_stop: _Stop | None = None


class _Queue(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    datasets: list[_Dataset]
    adapters: list[_Adapter]
    tasks: list[_Task]
    dispatcher: _Dispatcher = _Dispatcher()


def read(path: str | Path) -> tuple[tuple[Job, ...], Policy]:
    """The jobs and the policy of a file. Raises `ValueError` that names what is wrong, and where."""
    source = Path(path)
    try:
        return parse(yaml.safe_load(source.read_text(encoding="utf-8")), source.parent)
    except (yaml.YAMLError, ValueError) as problem:
        raise ValueError(f"{source}: {problem}") from problem


def parse(told: Any, folder: Path = Path()) -> tuple[tuple[Job, ...], Policy]:
    """The jobs and the policy of a mapping; files of prompts lie in `folder`. Raises `ValueError`."""
    queue = msgspec.convert(told, _Queue)
    datasets, adapters = _named("dataset", queue.datasets), _named("adapter", queue.adapters)
    jobs = checked(tuple(_job(task, datasets, adapters, folder) for task in queue.tasks))
    dispatcher = queue.dispatcher
    policy = Policy(concurrency=dispatcher.concurrency_num, memory=dispatcher.memory, aging=dispatcher.aging)
    return jobs, policy


def _job(task: _Task, datasets: dict[str, Any], adapters: dict[str, Any], folder: Path) -> Job:
    where = f"task {task.name!r}"
    told: _Dataset = _found(where, "dataset", task.dataset, datasets)
    adapter: _Adapter = _found(where, "adapter", task.adapter, adapters)
    if adapter.optimizer is None:
        raise ValueError(f"{where}: adapter {adapter.name!r} has no optimizer, so it isn't trained: give it one")
    wanted = "instruction" if task.type == "train" else "preference"
    if told.prompt_type != wanted:
        raise ValueError(f"{where}: a task of type {task.type} reads {wanted} data, and {told.name!r} has others")
    order: Literal["given", "shuffle", "sort"] = "given" if told.preprocess == "default" else told.preprocess
    rate, stop = adapter.lrscheduler, task.early_stop
    template = (folder / told.prompt).read_text(encoding="utf-8") if told.prompt else ""
    return Job(
        task.name,
        Data(told.data, template, order, told.held_out),
        _adapter(adapter),
        _objective(where, task, adapters),
        Optimizer(adapter.optimizer, adapter.lr, momentum=adapter.momentum),
        Schedule(rate.type, rate.warmup, rate.t_max, rate.eta_min) if rate else Schedule(),
        batch=task.batch_size,
        micro_batch=task.mini_batch_size,
        epochs=task.num_epochs,
        cutoff=task.cutoff_len,
        clip=task.clip,
        stop=EarlyStop(stop.every, stop.patience, stop.least) if stop else None,
        priority=task.priority,
        seed=task.seed,
    )


def _adapter(told: _Adapter) -> Adapter:
    targets = told.target_modules
    chosen = targets if isinstance(targets, tuple) else tuple(name for name, wanted in targets.items() if wanted)
    method: Method = "lora+" if told.type == "loraplus" else told.type
    shape = {"ratio": told.lr_ratio, "d_initial": told.d_initial, "start": told.path}
    return Adapter(method, told.r, told.alpha, told.dropout, chosen, **shape)  # type: ignore[arg-type]


def _objective(where: str, task: _Task, adapters: dict[str, Any]) -> Objective:
    if task.type == "train":
        return SFT()
    if task.type == "cpo":
        if task.loss_type == "ipo":
            raise ValueError(f"{where}: cpo has no loss_type ipo: take sigmoid or hinge")
        return CPO(task.beta, task.loss_type)
    if task.loss_type == "hinge":
        raise ValueError(f"{where}: dpo has no loss_type hinge: take sigmoid or ipo")
    reference = ""
    if task.reference != "base":
        other: _Adapter = _found(where, "adapter", task.reference, adapters)
        if other.optimizer is not None or not other.path:
            raise ValueError(f"{where}: its reference {other.name!r} stays as it is: it has a path, and no optimizer")
        reference = other.path
    return DPO(task.beta, task.loss_type, task.label_smoothing, reference)


def _named(kind: str, parts: list[Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for part in parts:
        if part.name in found:
            raise ValueError(f"two {kind}s are called {part.name!r}: each has a name of its own")
        found[part.name] = part
    return found


def _found(where: str, kind: str, name: str, there: dict[str, Any]) -> Any:
    if name not in there:
        raise ValueError(f"{where}: no {kind} is called {name!r}: there are {', '.join(there) or 'none'}")
    return there[name]
