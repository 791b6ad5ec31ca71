"""A training with a rank that gets slow and is healthy again, and the same one under equal shares; on each rank.

Run by `forked` with four processes.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
import torch.distributed as dist

from couler_py.steps.checkpoint.training import load_training
from couler_py.steps.corpus import tokens
from couler_py.steps.corpus.tokenizers import ByteTokenizer
from couler_py.steps.hybrid.plan import Plan
from couler_py.steps.hybrid.reporting import write
from couler_py.steps.hybrid.runtime.training import train
from couler_py.steps.hybrid.task import Emulated, Task
from couler_py.steps.models.config import DecoderConfig
from couler_py.steps.models.decoder import Decoder
from tests.training.hybrid.forked import begin

STEPS, SLOW, HEALTHY = 14, 5, 10
MODEL = DecoderConfig(vocabulary=257, layers=8, hidden=16, heads=2, kv_heads=1, feed_forward=32, context=16)


def work(plan: Plan, rank: int) -> int:
    """Layers times micro-batches of a rank; 16 for each in equal shares."""
    return sum(stage.count * each.micros for each in plan.pipelines for stage in each.stages if rank in stage.ranks)


def main(rank: int, store: dist.Store, place: str) -> None:
    folder = Path(place)
    begin(store, "watching", rank, 4)
    if rank == 0:
        tokens.write(["the quick brown fox jumps over the lazy dog. " * 60], ByteTokenizer(), folder / "corpus")
    dist.barrier()
    task = Task(
        MODEL,
        pipelines=2,
        micros=8,
        sequence=16,
        steps=STEPS,
        emulated=Emulated(0.01, 0.02, slow=((0, {}), (SLOW, {0: 2.57}), (HEALTHY, {}))),
        held_out=8,
        save_every=STEPS // 2,
    )
    trainer, told = train(task, folder / "corpus", folder / "checkpoints")
    at_once = msgspec.structs.replace(task, planning=False, save_every=None, emulated=None)
    same, plain = train(at_once, folder / "corpus")

    assert [stage.count for each in told.plans[0].plan.pipelines for stage in each.stages] == [4, 4, 4, 4]
    slowed = [one for one in told.plans[1:] if "rank 0 takes" in one.why]
    assert slowed, told.news
    assert any(work(one.plan, 0) < 16 for one in slowed), told.plans
    assert all(one.moved > 0 for one in told.plans[1:])

    assert [each.step for each in told.steps] == list(range(1, STEPS + 1))
    for here, there in zip(told.steps, plain.steps, strict=True):
        assert abs(here.loss - there.loss) <= 1e-4, (here, there)
    assert trainer.consumed == same.consumed == STEPS * 8

    again, rest = train(msgspec.structs.replace(task, steps=STEPS + 1), folder / "corpus", folder / "checkpoints")
    assert (rest.steps[0].step, again.consumed) == (STEPS + 1, (STEPS + 1) * 8)
    again.save(folder / "last")
    if rank == 0:
        write(task, told, folder / "out")
        page = (folder / "out" / "report.html").read_text()
        assert "rank 0 takes" in page
    ranks_without_work_are_timed(folder)
    dist.destroy_process_group()
    if rank == 0:
        load_training(folder / "last", Decoder(MODEL))


def ranks_without_work_are_timed(folder: Path) -> None:
    """Two layers on four ranks: two have no work, and take over from slow ones, which do so again when they are well.

    What says that they are well is their own small computation.
    """
    slow: tuple[tuple[int, dict[int, float]], ...] = ((0, {}), (5, {0: 5.0}), (9, {}), (13, {1: 5.0}))
    task = Task(
        msgspec.structs.replace(MODEL, layers=2),
        pipelines=1,
        micros=2,
        sequence=16,
        steps=25,
        emulated=Emulated(0.02, 0.04, slow=slow),
        held_out=8,
    )
    _, told = train(task, folder / "corpus")
    assert set(told.plans[0].plan.suspended) == {2, 3}
    until_well = [one for one in told.plans if 5 < one.step <= 9]
    assert until_well, told.news
    assert work(until_well[-1].plan, 0) == 0
    well = [what for step, what in told.news if step > 9]
    assert any("rank 0" not in what for what in well), told.news
    assert work(told.plans[-1].plan, 1) == 0, told.news
