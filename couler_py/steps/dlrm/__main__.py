"""What each rank of a training runs: `torchrun … -m couler_py.steps.dlrm TASK --data … --test … --out …`."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from couler_py.steps.checkpoint.peers import Peers
from couler_py.steps.dlrm.guarding import NeedsMemoryError
from couler_py.steps.dlrm.planning.decisions import as_text
from couler_py.steps.dlrm.task import Task
from couler_py.steps.processes import begin, task_of

NEEDS = "needs-memory.txt"
"""Where a training that was ended for want of memory says so, in its folder."""


def main() -> None:
    """Read the task, a JSON text or the path of one, train, and write the model and what the training was like."""
    parser = argparse.ArgumentParser(prog="python -m couler_py.steps.dlrm", description=main.__doc__)
    parser.add_argument("task")
    parser.add_argument("--data", required=True, help="a folder of shards, as dlrm.prepare writes it")
    parser.add_argument("--test", required=True, help="one with rows for testing")
    parser.add_argument("--out", required=True, help="a folder for model/, metrics.json and report.html")
    parser.add_argument("--checkpoints", help="where checkpoints lie, and a training that was ended goes on from")
    parser.add_argument("--outputs", help="a folder in which rank 0 leaves a file for each number")
    given = parser.parse_args()
    task = task_of(given.task, Task)

    from torch import distributed

    from couler_py.steps.checkpoint.peers import peers
    from couler_py.steps.dlrm.emulated import lose, slowed
    from couler_py.steps.dlrm.folders import opened, save_model
    from couler_py.steps.dlrm.guarding import Guard
    from couler_py.steps.dlrm.reporting import write
    from couler_py.steps.dlrm.supplying import supplied
    from couler_py.steps.dlrm.trainer import Trainer
    from couler_py.steps.dlrm.training import train

    device = begin()
    out, everybody = Path(given.out), peers()
    rank = everybody.rank
    if rank == 0:  # before anything can fail, or it would count as why
        (out / NEEDS).unlink(missing_ok=True)
    rows, tables, dense = opened(given.data, task.shape)
    testing, *_ = opened(given.test, task.shape)
    trainer = Trainer(task, tables, dense, device=device)
    guard = (
        None
        if task.watch_every is None
        else Guard(len(rows) * task.epochs, task.watch_every, everybody, task.memory_limit)
    )
    with supplied(task, rows, everybody) as feed:
        try:
            told = train(
                trainer,
                slowed(feed, task.emulated, rank),
                testing,
                checkpoints=given.checkpoints,
                guard=guard,
                after=lambda step: lose(task.emulated, rank, step, out),
            )
        except NeedsMemoryError as error:
            explain(error, out, everybody)
            raise
    save_model(trainer, out / "model")
    if rank == 0:
        write(task, told, out)
        judged = told.seen[-1].judged
        if given.outputs:
            for name in ("auc", "log_loss", "normalised_entropy", "calibration"):
                (Path(given.outputs) / name).write_text(json.dumps(getattr(judged, name)))
            (Path(given.outputs) / "rows").write_text(json.dumps(told.rows))
        sys.stdout.write(f"AUC {judged.auc:.4f}, log loss {judged.log_loss:.4f} after {told.rows} rows\n")
    distributed.destroy_process_group()


def explain(error: NeedsMemoryError, out: Path, ranks: Peers) -> None:
    """Write why a training ends; all ranks call it, and it returns when that is written.

    The launcher kills all ranks once the first of them has failed, so that none may before.
    """
    if ranks.rank == 0:
        out.mkdir(parents=True, exist_ok=True)
        (out / NEEDS).write_text(str(error), encoding="utf-8")
        sys.stdout.write("\n".join([*as_text(error.decisions), ""]))
    ranks.gather(None)


if __name__ == "__main__":
    main()
