"""A training that takes more memory with each step, until its address space is full: `growing.py FOLDER`."""

from __future__ import annotations

import resource
import sys
from pathlib import Path

import msgspec

from couler_py.steps.checkpoint.peers import Alone
from couler_py.steps.dlrm import guarding
from couler_py.steps.dlrm.guarding import STATM, Guard
from couler_py.steps.dlrm.training import train
from tests.training.dlrm.toys import TASK, Planted, feed, trainer

SOURCE = Planted(16_000, 1)
GROWTH, ROOM = 16 << 20, 512 << 20
"""Bytes of a step, and what there is when the training begins: it is full after about half of the steps."""


def main(folder: str) -> None:
    """Train, and say how it ended."""
    guarding.CGROUP = Path(folder) / "no container"
    held: list[bytes] = []
    size = int(STATM.read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + ROOM, size + ROOM))
    task = msgspec.structs.replace(TASK, save_every=50)
    guard = Guard(len(SOURCE), 1, Alone())
    train(
        trainer(task), feed(SOURCE, task), checkpoints=Path(folder), guard=guard,
        after=lambda _step: held.append(bytes(GROWTH)),
    )  # fmt: skip


if __name__ == "__main__":
    main(*sys.argv[1:])
