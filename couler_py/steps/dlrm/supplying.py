"""Where the rows of a training come from: a master of shards beside the first rank, or blocks that a seed orders."""

from __future__ import annotations

import contextlib
import os
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from couler_py.steps.checkpoint.peers import Peers
from couler_py.steps.dlrm.data.reading import Pieces
from couler_py.steps.dlrm.drawing import Drawing
from couler_py.steps.dlrm.feeding import Blocks, Feed
from couler_py.steps.dlrm.leasing import Leasing
from couler_py.steps.dlrm.sharding.service import serving
from couler_py.steps.dlrm.sharding.settings import Settings, shard_rows
from couler_py.steps.dlrm.sharding.wire import ADDRESS, Address, token_of
from couler_py.steps.dlrm.sharding.worker import Worker

if TYPE_CHECKING:
    from couler_py.steps.dlrm.data.shards import Dataset
    from couler_py.steps.dlrm.task import Task

HERE = "127.0.0.1"
SHARDS = 8
"""Of an epoch for each worker at least, where there are few rows: or some worker would have none."""


@contextlib.contextmanager
def supplied(task: Task, rows: Dataset, ranks: Peers) -> Iterator[Feed]:
    """The feed of a task; all ranks open it together.

    The master is a process beside the first rank, and ends with it: what it knew is in the newest checkpoint, and the
    next one goes back to that. How rows are cut into shards depends on the task alone, so that it does on any number of
    ranks.
    """
    if task.sharding == "fixed":
        yield Blocks(rows, task.micro_batch, task.micro_batches, epochs=task.epochs, seed=task.seed)
        return
    workers = task.micro_batches
    size = min(shard_rows(len(rows), task.batch, workers), -(-len(rows) // (SHARDS * workers)))
    settings = Settings(len(rows), size, task.epochs, task.seed, mode=task.sharding)
    pieces = Pieces(rows, task.seed)
    with contextlib.ExitStack() as opened:
        if task.sharding == "exactly_once":
            worker = None
            if ranks.rank == 0:
                folder = _served(opened, settings, HERE)
                worker = opened.enter_context(Worker(folder, "rank 0"))
            yield Drawing(worker, pieces, task.batch, ranks, most=task.micro_batch)
            return
        address = None
        hosts = set(ranks.gather(socket.gethostname()))
        if ranks.rank == 0:
            folder = _served(opened, settings, HERE if len(hosts) == 1 else "0.0.0.0")  # noqa: S104 - a token guards it
            here = msgspec.json.decode((folder / ADDRESS).read_bytes(), type=Address)
            host = HERE if len(hosts) == 1 else os.environ.get("MASTER_ADDR", HERE)
            address = host, here.port, token_of(folder)
        host, port, token = ranks.gather(address)[0]
        with Worker(Address(host, port), f"rank {ranks.rank}", token=token) as own:
            yield Leasing(own, pieces, task.batch, ranks, most=task.micro_batch)
        ranks.gather(None)  # the master ends when all have left it: others would look for it


def _served(opened: contextlib.ExitStack, settings: Settings, host: str) -> Path:
    """Start a master on a folder of its own, and give the folder."""
    folder = Path(opened.enter_context(tempfile.TemporaryDirectory(prefix="couler-shards-")))
    opened.enter_context(serving(folder, settings, host))
    return folder
