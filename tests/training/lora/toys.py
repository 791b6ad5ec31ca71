"""A small base, jobs on it, and data of different lengths: what the tests of many adapters share."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from couler_py.steps.lora.hosting import Host
from couler_py.steps.lora.jobs import Adapter, Data, Job, Optimizer, Policy
from couler_py.steps.lora.trainer import Trainer
from couler_py.steps.models.config import DecoderConfig
from couler_py.steps.models.decoder import build

SHAPE = DecoderConfig(vocabulary=259, layers=2, hidden=32, heads=4, kv_heads=2, feed_forward=56, context=64)
ALL = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")


def base(dtype: torch.dtype = torch.float64, seed: int = 3) -> Host:
    return Host(build(SHAPE, seed, dtype=dtype))


def lines(seed: int, count: int = 12, shortest: int = 4, longest: int = 30, **more: object) -> list[dict[str, Any]]:
    draw = random.Random(seed)
    made = []
    for _ in range(count):
        words = [draw.choice("abcdefgh") for _ in range(draw.randint(shortest, longest))]
        made.append({"prompt": "".join(words[:3]), "completion": "".join(words[3:]) + "."} | more)
    return made


def pairs(seed: int, count: int = 8) -> list[dict[str, Any]]:
    draw = random.Random(seed)
    return [
        {
            "prompt": draw.choice(["say ", "tell me "]),
            "chosen": "yes" * draw.randint(1, 4),
            "rejected": "no" * draw.randint(1, 6),
        }
        for _ in range(count)
    ]


def written(folder: Path, name: str, rows: Sequence[dict[str, Any]]) -> str:
    path = folder / f"{name}.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def job(folder: Path, name: str, seed: int = 0, rows: Sequence[dict[str, Any]] | None = None, **options: Any) -> Job:
    """A job on lines of its own; options are fields of `Job`, and `held_out` of its data."""
    path = written(folder, name, lines(seed) if rows is None else rows)
    data = Data(path, held_out=options.pop("held_out", 0), order=options.pop("order", "shuffle"))
    shared: dict[str, Any] = {"batch": 4, "cutoff": 48, "seed": seed, "optimizer": Optimizer(lr=1e-2)}
    return Job(name, data, **(shared | options))


def mixed(folder: Path) -> list[Job]:
    """Jobs that differ in rank, alpha, targets, method, lengths and dropout."""
    long, short = lines(1, longest=40), lines(2, shortest=4, longest=9)
    return [
        job(folder, "wide", 1, long, adapter=Adapter(rank=16, alpha=32.0, targets=ALL)),
        job(folder, "narrow", 2, short, adapter=Adapter(rank=3, alpha=3.0, targets=("q_proj", "v_proj"))),
        job(folder, "plus", 3, adapter=Adapter("lora+", rank=5, ratio=4.0, dropout=0.1), batch=3),
    ]


def trained(jobs: list[Job], policy: Policy = Policy(), dtype: torch.dtype = torch.float64) -> Trainer:
    trainer = Trainer(base(dtype), policy)
    for job in jobs:
        trainer.submit(job)
    trainer.run()
    return trainer


def weights(trainer: Trainer, name: str) -> dict[str, Tensor]:
    return {key: each.detach().clone() for key, each in trainer.tunings[name].weights.trained.items()}


def apart(one: dict[str, Tensor], other: dict[str, Tensor]) -> float:
    assert one.keys() == other.keys()
    return max(float((one[key] - other[key]).abs().max()) for key in one)
