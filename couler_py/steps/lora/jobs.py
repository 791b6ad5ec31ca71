"""What a person asks for: jobs, each an adapter to train on data, and how they share one machine. No torch here."""

from __future__ import annotations

import math
import re
from typing import Literal

import msgspec

from couler_py.steps.lora.objectives import SFT, Objective
from couler_py.steps.lora.ranges import held

Method = Literal["lora", "lora+", "rslora", "vera", "dora"]
"""Hu et al., "LoRA" (arXiv 2106.09685) · Hayou et al., "LoRA+" (2402.12354) · Kalajdzievski, "rsLoRA" (2312.03732) ·
Kopiczko et al., "VeRA" (2310.11454) · Liu et al., "DoRA" (2402.09353)."""

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
"""Names of jobs: they are names of folders, too."""


class Adapter(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The matrices beside linear layers that a job trains: y = W x + scale · B A x."""

    method: Method = "lora"
    rank: int = 8
    alpha: float = 16.0
    """The scale is alpha / rank, and alpha / √rank for rsLoRA; VeRA has none."""
    dropout: float = 0.0
    """The part of the adapter's inputs that is left out in training, drawn from a stream of the job's own."""
    targets: tuple[str, ...] = ("q_proj", "k_proj", "v_proj", "o_proj")
    """Linear layers, by the last part of their names."""
    ratio: float = 16.0
    """LoRA+: how many times the learning rate of A is that of B."""
    d_initial: float = 0.1
    """VeRA: what the vector between both frozen matrices begins with."""
    start: str = ""
    """A folder with an adapter, of this shape, to go on from; empty begins anew."""

    def __post_init__(self) -> None:
        held("adapter", least=1, rank=self.rank)
        held("adapter", above=0, alpha=self.alpha, ratio=self.ratio, d_initial=self.d_initial)
        if not 0 <= self.dropout < 1:
            raise ValueError(f"adapter: dropout is {self.dropout}: it is at least 0 and below 1")
        if not self.targets or len(set(self.targets)) != len(self.targets):
            raise ValueError(f"adapter: targets are {', '.join(self.targets) or 'none'}: name each layer once")

    @property
    def scale(self) -> float:
        """What B A x is multiplied by."""
        if self.method == "vera":
            return 1.0
        return self.alpha / (math.sqrt(self.rank) if self.method == "rslora" else self.rank)


class Optimizer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The optimizer of one job: AdamW (Loshchilov and Hutter, arXiv 1711.05101) or SGD with momentum."""

    kind: Literal["adamw", "sgd"] = "adamw"
    lr: float = 3e-4
    betas: tuple[float, float] = (0.9, 0.999)
    eps: float = 1e-8
    weight_decay: float = 0.0
    momentum: float = 0.9
    """Of SGD alone."""

    def __post_init__(self) -> None:
        held("optimizer", above=0, lr=self.lr, eps=self.eps)
        held("optimizer", least=0, weight_decay=self.weight_decay)
        for name, number in (("momentum", self.momentum), ("beta", self.betas[0]), ("beta", self.betas[1])):
            if not 0 <= number < 1:
                raise ValueError(f"optimizer: {name} is {number}: it is at least 0 and below 1")


class Schedule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How the learning rate goes: linearly up in `warmup` steps, then down to `least` in `period` steps.

    Cosine is Loshchilov and Hutter's, "SGDR" (arXiv 1608.03983), without restarts.

    >>> [round(Schedule("linear", warmup=2).rate(step, 6, 1.0), 2) for step in range(6)]
    [0.5, 1.0, 1.0, 0.75, 0.5, 0.25]
    """

    kind: Literal["constant", "linear", "cosine"] = "constant"
    warmup: int = 0
    period: int | None = None
    """Steps of the way down, after those of the warm-up; None means all that are left."""
    least: float = 0.0
    """The rate at its end."""

    def __post_init__(self) -> None:
        held("schedule", least=0, warmup=self.warmup, rate=self.least)
        held("schedule", least=1, period=self.period)

    def rate(self, step: int, steps: int, lr: float) -> float:
        """The rate of a step, counted from 0, of so many."""
        if step < self.warmup:
            return lr * (step + 1) / self.warmup
        if self.kind == "constant":
            return lr
        done = min(1.0, (step - self.warmup) / (self.period or max(1, steps - self.warmup)))
        left = 1 - done if self.kind == "linear" else (1 + math.cos(math.pi * done)) / 2
        return self.least + (lr - self.least) * left


class Data(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file with one object of JSON a line.

    SFT reads {"prompt", "completion"}, {"text"} or {"tokens"}; DPO and CPO read {"prompt", "chosen", "rejected"}.
    """

    path: str
    template: str = ""
    """The prompt as Jinja2 text over a line's fields; empty takes the field "prompt"."""
    order: Literal["shuffle", "given", "sort"] = "shuffle"
    """Shuffled anew in each epoch, as in the file, or the longest first."""
    held_out: int = 0
    """Lines at the end that nobody trains on: the job is evaluated on them."""

    def __post_init__(self) -> None:
        if not self.path:
            raise ValueError("data: path is empty: name a file of JSON lines")
        held("data", least=0, held_out=self.held_out)


class EarlyStop(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """End a job when its loss on held-out lines has not fallen by more than `least` in `patience` evaluations."""

    every: int = 10
    """Steps between evaluations."""
    patience: int = 3
    least: float = 0.0

    def __post_init__(self) -> None:
        held("stop", least=1, every=self.every, patience=self.patience)
        held("stop", least=0, improvement=self.least)


class Scaler(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Loss scaling of one job, for a base in float16 (Micikevicius et al., arXiv 1710.03740).

    A step whose gradients overflow is left out and halves the scale; `growth` good ones in a row double it.
    """

    initial: float = 65536.0
    growth: int = 2000

    def __post_init__(self) -> None:
        held("scaler", least=1, initial=self.initial, growth=self.growth)


class Job(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One fine-tuning: what it trains, on what, how, and how urgent it is."""

    name: str
    data: Data
    adapter: Adapter = Adapter()
    objective: Objective = SFT()
    optimizer: Optimizer = Optimizer()
    schedule: Schedule = Schedule()
    batch: int = 8
    """Examples of a step; a pair counts once."""
    micro_batch: int | None = None
    """Examples of one backward; they add up to the step. None is the whole batch."""
    epochs: int = 1
    cutoff: int = 256
    """The most tokens of a row: what is longer is cut at its end."""
    clip: float | None = 1.0
    """The largest norm of the job's own gradient."""
    scaler: Scaler | None = None
    stop: EarlyStop | None = None
    priority: int = 0
    """Higher runs first."""
    seed: int = 0

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name):
            raise ValueError(f"a job is called {self.name!r}: letters, digits, '.', '_' and '-', at most 63")
        where = f"job {self.name!r}"
        held(where, least=1, batch=self.batch, epochs=self.epochs, micro_batch=self.micro_batch)
        held(where, least=2, cutoff=self.cutoff)
        held(where, above=0, clip=self.clip)
        if self.batch % self.micro:
            raise ValueError(f"{where}: a batch of {self.batch} is no multiple of micro_batch {self.micro}")
        if self.stop is not None and not self.data.held_out:
            raise ValueError(f"{where}: stop needs lines to evaluate on: set held_out of its data")

    @property
    def micro(self) -> int:
        """Examples of one backward."""
        return self.batch if self.micro_batch is None else self.micro_batch

    @property
    def rows(self) -> int:
        """Rows of one backward: a pair has two."""
        return self.micro * (1 if isinstance(self.objective, SFT) else 2)

    @property
    def unpiped(self) -> str:
        """Why a pipeline can't train it, or nothing."""
        if self.stop is not None:
            return "it may stop early: a pipeline's order is fixed beforehand"
        if self.adapter.start or getattr(self.objective, "reference", ""):
            return "it begins with an adapter or refers to one: pipelines train new ones beside the base"
        return ""


class Policy(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How jobs share a machine."""

    concurrency: int = 8
    """The most jobs at work at once."""
    memory: int | None = None
    """Bytes that base, adapters, optimizers and activations may take; None is what a GPU has, and no limit here."""
    fuse: bool = True
    """Whether jobs share forwards; else each has its own, in turn."""
    overhead: int = 256
    """What one forward and backward costs by itself, in tokens: so much padding is worth one pass less."""
    aging: int = 50
    """After so many passes of waiting a job counts as one priority higher, so that all get their turn."""
    save_every: int = 50
    """Passes between checkpoints, where there is a place for them."""

    def __post_init__(self) -> None:
        least_one = {"concurrency": self.concurrency, "aging": self.aging, "save_every": self.save_every}
        held("policy", least=1, memory=self.memory, **least_one)
        held("policy", least=0, overhead=self.overhead)


def checked(jobs: tuple[Job, ...]) -> tuple[Job, ...]:
    """The jobs themselves. Raises `ValueError` where there are none, or two of a name."""
    if not jobs:
        raise ValueError("there are no jobs: give at least one")
    names = [job.name for job in jobs]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"two jobs are called {twice[0]!r}: each has a name of its own")
    return jobs


class Queue(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Jobs, and how they share a machine: what the step that trains them is told."""

    jobs: tuple[Job, ...]
    policy: Policy = Policy()

    def __post_init__(self) -> None:
        checked(self.jobs)
