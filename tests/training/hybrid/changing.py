"""A training of twenty steps that changes plans, loses a rank, gets it back, and loses another, on real processes.

Run by `forked` with five processes: four begin, the fifth is the one that takes the lost rank's seat. Losses are held
against one process that nothing happens to, and what moves against what plans need.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist

from couler_py.steps.checkpoint.manifest import CheckpointError
from couler_py.steps.hybrid.runtime import Adam, Batch, Switched, Timed, Trainer
from couler_py.steps.models.config import DecoderConfig
from couler_py.steps.models.decoder import build, next_token_loss
from tests.training.hybrid.forked import LOST, begin
from tests.training.hybrid.gradients import plan

CONFIG = DecoderConfig(vocabulary=61, layers=5, hidden=24, heads=4, kv_heads=4, feed_forward=38, context=16)
ADAM = Adam(rate=3e-3, decay=0.1, clip=1.0)
STEPS, SAMPLES = 20, 8

EVEN = plan(([([0], 3), ([1], 2)], 4), ([([2], 3), ([3], 2)], 4))
UNEVEN = plan(([([0, 1], 5)], 5), ([([2], 1), ([3], 4)], 3))
WITHOUT_3 = plan(([([0], 2), ([1], 3)], 5), ([([2], 5)], 3))
WITHOUT_2 = plan(([([0], 5)], 3), ([([3], 1), ([1], 4)], 5))
WITHOUT_1 = plan(([([0], 5)], 3), ([([3], 5)], 5))


class Dying(Timed, frozen=True):
    """Waits for nothing; in its process everything ends at the third computation after it is told to."""

    def seconds(self, rank: int, kind: str, layers: float) -> float:
        if self.slowdown:
            left = self.slowdown[-1] - 1
            self.slowdown[-1] = left  # type: ignore[index]
            if left == 0:
                os._exit(LOST)
        return 0.0


def samples(first: int, end: int) -> Batch:
    rows = [
        torch.randint(0, 61, (17,), generator=torch.Generator().manual_seed(each % 24)) for each in range(first, end)
    ]
    return Batch.of(torch.stack(rows))


def undisturbed() -> list[float]:
    model = build(CONFIG, seed=5)
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=ADAM.rate, betas=ADAM.betas, eps=ADAM.eps, weight_decay=ADAM.decay
    )
    losses = []
    for step in range(STEPS):
        batch = samples(step * SAMPLES, (step + 1) * SAMPLES)
        loss = next_token_loss(model(batch.tokens), batch.targets)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), ADAM.clip, foreach=False)
        optimizer.step()
        optimizer.zero_grad()
        losses.append(float(loss.detach()))
    return losses


class Run:
    """One process's part of it."""

    def __init__(self, trainer: Trainer, fate: dict[int, float]):
        self.trainer, self.fate = trainer, fate
        self.losses: dict[int, float] = {}

    def until(self, steps: int) -> None:
        while self.trainer.steps < steps:
            at = self.trainer.consumed
            done = self.trainer.step(samples(at, at + SAMPLES))
            self.losses[done.step] = done.loss

    def broken(self, dies: bool) -> None:
        """A step in which a process ends, midway; the others hear of it."""
        if dies:
            self.fate[-1] = 3
        before = self.trainer.steps
        with pytest.raises((RuntimeError, ValueError)):
            self.until(before + 1)
        assert self.trainer.steps == before
        dist.destroy_process_group()


def whole(switched: Switched, trainer: Trainer) -> None:
    """All bytes that a rank keeps were here, came from others or were read, each once."""
    state = sum(shard.part.numel() * 4 for shards in trainer._planned()[1].holding().values() for shard in shards)
    if not switched.is_back:
        assert switched.kept + switched.received + switched.read == state, switched
    told: list[Any] = [None] * dist.get_world_size()
    dist.all_gather_object(told, (switched.sent, switched.received))
    assert sum(sent for sent, _ in told) == sum(received for _, received in told)


def main(rank: int, store: dist.Store, folder: str) -> None:
    where = Path(folder) / "checkpoints"
    fate: dict[int, float] = {}
    options: dict[str, Any] = {"adam": ADAM, "seed": 5, "compute": Dying(0.0, 0.0, fate), "timeout": 30.0}
    seat = 3 if rank == 4 else rank
    if rank < 4:
        begin(store, "four", rank, 4)
        run = Run(Trainer(EVEN, CONFIG, **options), fate)
        run.until(5)
        switched = run.trainer.switch(UNEVEN)
        assert (switched.read, switched.step) == (0, 5)
        whole(switched, run.trainer)
        run.until(9)
        run.trainer.save(where)
        run.broken(dies=rank == 3)
        begin(store, "three", rank, 3)
        with pytest.raises(CheckpointError, match="name a checkpoint"):
            run.trainer.switch(WITHOUT_3)
        switched = run.trainer.switch(WITHOUT_3, where)
        assert (switched.step, switched.is_back) == (9, False)
        whole(switched, run.trainer)
        run.until(12)
        dist.destroy_process_group()
    else:
        store.wait(["three-are-over"])
        run = None
    if rank == 0:
        store.set("three-are-over", "")
    begin(store, "four-again", seat, 4)
    if run is None:
        run = Run(Trainer(None, CONFIG, seat=seat, **options), fate)
    switched = run.trainer.switch(EVEN)
    assert (switched.step, switched.read) == (12, 0)
    assert switched.kept == 0 or rank != 4
    whole(switched, run.trainer)
    run.until(14)
    run.trainer.save(where)
    run.until(16)
    run.broken(dies=seat == 2)
    begin(store, "three-again", {0: 0, 1: 1, 3: 2}[seat], 3)
    switched = run.trainer.switch(WITHOUT_2, where)
    assert (switched.step, switched.is_back, run.trainer.consumed) == (14, True, 14 * SAMPLES)
    run.until(STEPS)
    run.trainer.save(where)
    kept = kept_by_all(Run(Trainer(WITHOUT_2, CONFIG, seat=seat, sharded=False, **options), fate), store, seat)
    if seat == 0:
        expected = undisturbed()
        for name, losses in (("sharded", run.losses), ("kept by all", kept)):
            worst = max(abs(loss - expected[step - 1]) for step, loss in losses.items())
            print(f"{name}: over {len(losses)} steps losses differ by at most {worst:.1e}", flush=True)
            assert worst <= 1e-4, name
        assert len(run.losses) == STEPS
        weights_load_anywhere(where, run.trainer)


def kept_by_all(run: Run, store: dist.Store, seat: int) -> dict[int, float]:
    """Where moments aren't shared among ranks, a lost rank's are in another pipeline: no checkpoint is read."""
    run.until(3)
    run.broken(dies=seat == 1)
    begin(store, "two", {0: 0, 3: 1}[seat], 2)
    switched = run.trainer.switch(WITHOUT_1)
    assert (switched.step, switched.read) == (3, 0)
    whole(switched, run.trainer)
    run.until(6)
    dist.destroy_process_group()
    return run.losses


def weights_load_anywhere(where: Path, trainer: Trainer) -> None:
    from couler_py.steps.checkpoint.training import load_training  # imports for seconds

    weights = build(CONFIG, seed=9)
    load_training(where, weights)
    for name, parameter in trainer.parameters.items():
        assert torch.equal(parameter, weights.get_parameter(name)), name  # no group of this plan splits it
