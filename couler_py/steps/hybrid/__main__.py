"""What each rank of a training runs: `torchrun … -m couler_py.steps.hybrid TASK --data FOLDER --out FOLDER`.

Ranks that go on when others are lost are started by `supervisor.py`, which says where they `--meet`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from couler_py.steps.hybrid.task import Task
from couler_py.steps.processes import begin, task_of

if TYPE_CHECKING:
    from couler_py.steps.hybrid.runtime.rendezvous import Rendezvous


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the task, a JSON text or the path of one, train, and write the model and what the training was like."""
    parser = argparse.ArgumentParser(prog="python -m couler_py.steps.hybrid", description=main.__doc__)
    parser.add_argument("task")
    parser.add_argument("--data", required=True, help="a folder of tokens, as couler_py.steps.corpus.tokens writes it")
    parser.add_argument("--out", required=True, help="a folder for model/, metrics.json and report.html")
    parser.add_argument("--checkpoints", help="where checkpoints lie, and a training that was ended goes on from")
    parser.add_argument("--meet", help="HOST:PORT of the store of couler_py.steps.hybrid.supervisor")
    parser.add_argument("--seat", type=int, default=0, help="which rank of plans this process is")
    parser.add_argument("--start", type=int, default=0, help="how many processes had the seat before")
    parser.add_argument("--seats", type=int, default=1, help="how many ranks there are when all live")
    given = parser.parse_args(arguments)
    task = task_of(given.task, Task)

    from torch import distributed

    from couler_py.steps.checkpoint.training import load_training
    from couler_py.steps.hybrid.reporting import write
    from couler_py.steps.hybrid.runtime import surviving, training
    from couler_py.steps.models.decoder import Decoder
    from couler_py.steps.models.folders import save

    out = Path(given.out)
    if given.meet:
        trainer, told = surviving.train(task, given.data, given.checkpoints, _rendezvous(given), given.seats)
    else:
        trainer, told = training.train(task, given.data, given.checkpoints, device=begin())
    last = out / "checkpoint"
    trainer.save(last)
    first = distributed.get_rank() == 0
    distributed.destroy_process_group()
    if first:  # the whole model fits one rank's memory, not its card: it is put together here
        model = Decoder(task.model)
        load_training(last, model)
        save(model, out / "model")
        write(task, told, out)
        loss = told.steps[-1].loss if told.steps else float("nan")
        sys.stdout.write(f"loss {loss:.4f} after {told.consumed} samples in {told.seconds:.1f} s\n")


def _rendezvous(given: argparse.Namespace) -> Rendezvous:
    from couler_py.steps.edit.members import store
    from couler_py.steps.hybrid.runtime.rendezvous import Rendezvous

    host, _, port = given.meet.rpartition(":")
    return Rendezvous(store(host, int(port)), given.seat, given.start)


if __name__ == "__main__":
    main()
