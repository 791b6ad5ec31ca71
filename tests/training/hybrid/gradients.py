"""Five ranks compute the gradients of one batch under many plans: each case is held against one process.

Run by `forked`; what fails is named with its case.
"""

from __future__ import annotations

import torch
import torch.distributed as dist

from couler_py.steps.hybrid.plan import Pipeline, Plan, Stage
from couler_py.steps.hybrid.runtime import Batch, Slicing, Trainer
from couler_py.steps.models.config import DecoderConfig
from couler_py.steps.models.decoder import IGNORED, build, next_token_loss
from tests.training.hybrid.forked import begin

SHAPE = {"vocabulary": 61, "layers": 5, "hidden": 24, "heads": 4, "kv_heads": 4, "feed_forward": 38, "context": 16}
PRECISE = {torch.float32: 1e-5, torch.float64: 1e-10}

Stages = list[tuple[list[int], int]]
"""Ranks, and how many layers."""


def plan(*pipelines: tuple[Stages, int], layers: int = 5) -> Plan:
    made = []
    for stages, micros in pipelines:
        ends = [sum(count for _, count in stages[:at]) for at in range(len(stages) + 1)]
        rows = zip(stages, ends, ends[1:], strict=False)
        made.append(Pipeline(tuple(Stage(tuple(ranks), (low, high)) for (ranks, _), low, high in rows), micros))
    used = {rank for stages, _ in pipelines for ranks, _ in stages for rank in ranks}
    idle = tuple(rank for rank in range(5) if rank not in used)
    return Plan(layers, sum(micros for _, micros in pipelines), tuple(made), idle)


def batch(samples: int, *, packed: bool = False) -> Batch:
    draw = torch.Generator().manual_seed(samples)
    rows = Batch.of(torch.randint(0, 61, (samples, 17), generator=draw))
    targets = rows.targets.clone()
    targets[1::3, :5] = IGNORED  # samples count unequally
    documents = torch.rand(samples, 16, generator=draw).lt(0.2).cumsum(1) if packed else None
    return Batch(rows.tokens, targets, documents)


def alone(config: DecoderConfig, given: Batch, dtype: torch.dtype) -> tuple[float, dict[str, torch.Tensor]]:
    """The loss and the gradients of one process, which sees all samples at once."""
    model = build(config, seed=3, dtype=dtype)
    loss = next_token_loss(model(given.tokens, given.positions, given.documents), given.targets)
    loss.backward()
    return float(loss.detach()), {name: each.grad for name, each in model.named_parameters() if each.grad is not None}


UNEVEN = plan(([([0], 1), ([1], 4)], 3), ([([2], 2), ([3], 1), ([4], 2)], 5))
GROUPS = plan(([([0, 1], 3), ([2], 2)], 2), ([([3], 4), ([4], 1)], 2))
WIDE = plan(([([0, 1, 2, 3], 5)], 3), ([([4], 5)], 1))
WIDENING = plan(([([4], 2), ([0, 1], 1), ([2], 2)], 4))
SLICED = plan(([([0], 2), ([1], 3)], 4), ([([2], 3), ([3], 2)], 2))
CASES = {
    "uneven stages and micro-batches": (UNEVEN, 16, Slicing(), {}),
    "several samples in a micro-batch": (SLICED, 18, Slicing(), {}),
    "groups of two and one": (GROUPS, 4, Slicing(), {}),
    "groups of four and one": (WIDE, 8, Slicing(), {"tied": True}),
    "a stage that hands to a larger one, and one to a smaller": (WIDENING, 8, Slicing(), {}),
    "heads of keys and values shared": (GROUPS, 4, Slicing(), {"kv_heads": 2}),
    "the head's weights are the embedding's": (UNEVEN, 8, Slicing(), {"tied": True}),
    "slices": (SLICED, 6, Slicing(slices=4), {}),
    "slices of unequal lengths": (SLICED, 6, Slicing(slices=3), {}),
    "slices and groups": (GROUPS, 4, Slicing(slices=2), {}),
    "slices and chunks": (SLICED, 6, Slicing(slices=2, chunks=2), {}),
    "chunks": (SLICED, 6, Slicing(chunks=2), {}),
    "few live slices": (SLICED, 6, Slicing(slices=4, live=4), {}),
    "late weights": (SLICED, 6, Slicing(slices=4, chunks=2, late_weights=True), {}),
    "late weights and groups": (GROUPS, 4, Slicing(slices=2, late_weights=True), {"tied": True}),
    "one rank, in chunks": (plan(([([2], 5)], 2)), 4, Slicing(slices=2, chunks=3), {"tied": True}),
}


def main(rank: int, store: dist.Store, *cases: str) -> None:
    begin(store, "gradients", rank, 5)
    for number, (name, (chosen, samples, slicing, changed)) in enumerate(CASES.items()):
        if cases and name not in cases:
            continue
        config = DecoderConfig(**{**SHAPE, **changed})
        dtype = (torch.float64, torch.float32)[number % 3 == 2]
        given = batch(samples, packed=number % 2 == 1)
        trainer = Trainer(chosen, config, seed=3, slicing=slicing, dtype=dtype, sharded=number % 4 != 3)
        done = trainer.step(given, update=False)
        found = trainer.gradients()
        if rank == 0:
            loss, expected = alone(config, given, dtype)
            worst = max(float((found[each] - grad).norm() / grad.norm()) for each, grad in expected.items())
            print(f"{name}: {dtype}, {worst:.1e}, in {done.seconds:.2f} s", flush=True)
            assert found.keys() == expected.keys(), name
            assert abs(done.loss - loss) <= PRECISE[dtype] * loss, name
            assert worst <= PRECISE[dtype], f"{name}: {worst}"
    dist.destroy_process_group()
