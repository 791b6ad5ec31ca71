"""A training that could end after any step, and go on in other processes: `ending.py whole|again FOLDER`.

`whole` trains without a break, and keeps the checkpoints of all steps apart, and what it came to. `again` goes on from
each of them, and compares.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import torch
from msgspec.structs import replace
from torch import distributed

from couler_py.steps.corpus import files, tokens
from couler_py.steps.corpus.tokenizers import ByteTokenizer
from couler_py.steps.edit.settings import Outer, Penalty, preset
from couler_py.steps.edit.task import Inner, Task
from couler_py.steps.edit.training import train
from couler_py.steps.models.config import DecoderConfig
from tests.training.edit.toys import RANK, same, whole

MODEL = DecoderConfig(vocabulary=259, hidden=32, feed_forward=64, context=32)
SETTINGS = preset("edit", sync_every=3, warmup=2, outer=Outer(0.7, 0.8), penalty=Penalty(rounds_before=1))
TASK = Task(
    SETTINGS, MODEL, replicas=2, shards=1, steps=9, sequence=32, held_out=16, save_every=1, accumulate=2,
    recompute=True, inner=Inner(lr=1e-2, rise=2),
)  # fmt: skip


def undisturbed(folder: Path) -> None:
    if RANK() == 0:
        tokens.write(files.texts(most=60_000), ByteTokenizer(), folder / "corpus")
    distributed.barrier()

    def keep(_: int, step: int) -> None:
        if RANK() == 0 and step:  # the next checkpoint can't be written without this rank
            shutil.copytree(folder / "newest", folder / f"at-{step}")

    model, told = train(TASK, folder / "corpus", checkpoints=folder / "newest", pause=keep)
    norms = [each.norms for each in told.rounds]
    torch.save((whole(model), told.losses, norms, told.seen[-1].loss), folder / f"whole-{RANK()}.pt")


def again(folder: Path) -> None:
    model, losses, norms, seen = torch.load(folder / f"whole-{RANK()}.pt")
    for step in range(1, TASK.steps):
        task = replace(TASK, save_every=None)
        found, told = train(task, folder / "corpus", checkpoints=folder / f"at-{step}")
        assert told.losses == losses[step:], step
        assert [each.norms for each in told.rounds] == norms[len(norms) - len(told.rounds) :], step
        assert told.seen[-1].loss == seen, step
        assert same(whole(found), model), step


if __name__ == "__main__":
    torch.set_num_threads(1)
    distributed.init_process_group("gloo")
    {"whole": undisturbed, "again": again}[sys.argv[1]](Path(sys.argv[2]))
    distributed.destroy_process_group()
