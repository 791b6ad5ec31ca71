"""A training that goes on when ranks are lost, and takes in those that come (Elastor, PPoPP 2026).

Nobody who is left starts anew: they meet in another process group, plan for those that are there, and send each other
what the new plan needs; what nobody has any more is read from the newest checkpoint.
"""

from __future__ import annotations

import os
from pathlib import Path

from couler_py.steps.checkpoint.manifest import CheckpointError
from couler_py.steps.checkpoint.peers import peers
from couler_py.steps.hybrid.runtime.rendezvous import Rendezvous
from couler_py.steps.hybrid.runtime.trainer import Trainer
from couler_py.steps.hybrid.runtime.training import Training
from couler_py.steps.hybrid.splitting import InfeasibleError
from couler_py.steps.hybrid.task import Task
from couler_py.steps.hybrid.telling import Told

LOST = 77
"""What a process ends with that is told to be lost."""


def train(
    task: Task, data: str | Path, checkpoints: str | os.PathLike[str] | None, rendezvous: Rendezvous, seats: int
) -> tuple[Trainer, Told]:
    """Train as `training.train` does, in processes that a rendezvous brings together, on so many seats.

    Raises as that does, `CheckpointError` where what was lost is in no checkpoint, `InfeasibleError` where too few
    ranks are left, and what broke a step off where no rank was lost.
    """
    training = Training(task, data, checkpoints, seats=seats, seat=rendezvous.seat)
    failure: Exception | None = None
    while True:
        rendezvous.meet(failure)
        try:
            training.take_part(rendezvous.seats)
            while not _is_called(training, rendezvous):
                _die(training, rendezvous)
                if not training.step():
                    return training.trainer, training.told
            failure = None
        except (CheckpointError, InfeasibleError):
            raise
        except (RuntimeError, ValueError) as error:  # what torch raises where another process is gone
            training.leave(error)
            failure = error


def _is_called(training: Training, rendezvous: Rendezvous) -> bool:
    """Whether all leave for another generation: the first rank looks, so that they agree."""
    steps = training.trainer.steps
    if training.task.emulated is not None:
        for seat, _, back in training.task.emulated.lost:
            if seat in rendezvous.seats:
                continue
            if steps < back:  # even where all have gone back to before it was lost
                return False
            rendezvous.wait_for(seat)
    return bool(peers(None).gather(rendezvous.is_called)[0])


def _die(training: Training, rendezvous: Rendezvous) -> None:
    """End this process, where it is to be lost now."""
    lost = training.task.emulated.lost if training.task.emulated is not None else ()
    if rendezvous.start == 0 and any(seat == rendezvous.seat and at == training.trainer.steps for seat, at, _ in lost):
        os._exit(LOST)
