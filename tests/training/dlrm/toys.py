"""Rows with a planted structure, small enough to learn in seconds: clicks that dense features say little of."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from couler_py.steps.dlrm.data.shards import Batch
from couler_py.steps.dlrm.embeddings.placing import Table
from couler_py.steps.dlrm.feeding import Blocks
from couler_py.steps.dlrm.shapes import Shape
from couler_py.steps.dlrm.task import Task
from couler_py.steps.dlrm.trainer import Trainer

SIZES = (900, 60, 3000, 8)
DENSE = 3
SHAPE = Shape(width=8, bottom=(16,), top=(16,))
TASK = Task(SHAPE, batch=256, micro_batches=4, dense_lr=3e-3, row_lr=0.1, flash=False)


class Planted:
    """So many rows; other seeds have other rows of the same structure."""

    def __init__(self, rows: int, seed: int = 0):
        structure, draw = np.random.default_rng(7), np.random.default_rng(seed)
        ids = np.stack([(draw.random(rows) ** 3 * size).astype(np.int32) for size in SIZES], 1)
        dense = draw.standard_normal((rows, DENSE)).astype(np.float32)
        logits = dense @ np.array([0.4, -0.3, 0.2]) - 0.5
        for column, size in enumerate(SIZES):
            logits = logits + structure.standard_normal(size)[ids[:, column]]
        label = (draw.random(rows) < 1 / (1 + np.exp(-logits))).astype(np.float32)
        self.rows = Batch(label, dense, ids, np.arange(rows))

    def __len__(self) -> int:
        return len(self.rows.label)

    def take(self, start: int, stop: int) -> Batch:
        return Batch(*(column[start:stop] for column in self.rows))


def tables(shape: Shape) -> list[Table]:
    return [Table(f"C{number}", size, shape.table_width) for number, size in enumerate(SIZES)]


def trainer(task: Task = TASK, group: Any = None) -> Trainer:
    return Trainer(task, tables(task.shape), DENSE, group=group)


def feed(source: Planted, task: Task = TASK) -> Blocks:
    return Blocks(source, task.batch // task.micro_batches, task.micro_batches, epochs=task.epochs, seed=task.seed)


def everything(of: Trainer) -> dict[str, torch.Tensor]:
    """All of a model that this rank holds, copied."""
    tensors, _ = of.state()
    return {name: (each.part if hasattr(each, "part") else each).detach().clone() for name, each in tensors.items()}
