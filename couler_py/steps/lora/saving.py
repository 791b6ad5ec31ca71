"""A queue of trainings in checkpoints: each goes on bit by bit, with its data, moments, schedule and dropout.

Order and dropout are functions of a job's seed and its step, so there is no state of random numbers to keep.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec
import torch

from couler_py.steps.checkpoint import saving
from couler_py.steps.lora.differing import different
from couler_py.steps.lora.jobs import Job
from couler_py.steps.lora.progress import ENDED, UNFINISHED, Progress

if TYPE_CHECKING:
    from torch import Tensor

    from couler_py.steps.lora.roster import Roster
    from couler_py.steps.lora.tuning import Tuning

GRADIENT = "gradient"


class Kept(msgspec.Struct, frozen=True):
    """A job, and how it was doing."""

    job: Job
    progress: Progress
    prepared: bool
    """Whether it has an adapter: data that is no good ends a job before."""
    origin: str = ""
    """A digest of what it began with; empty where nobody noted it."""


def save(trainer: Roster, where: str | os.PathLike[str]) -> saving.Saved:
    """Write where all jobs are, those that have ended too. Raises `CheckpointError` where it can't."""
    told = trainer.progress()
    kept = [
        Kept(job, told[name], name in trainer.tunings, trainer.tunings[name].origin if name in trainer.tunings else "")
        for name, job in trainer.jobs.items()
    ]
    tensors: dict[str, Any] = {}
    for name, tuning in trainer.tunings.items():
        tensors |= {f"{name}/{key}": tensor for key, tensor in _tensors(tuning).items()}
    facts = {"jobs": msgspec.to_builtins(kept), "turns": trainer.turns}
    if not tensors:  # a checkpoint has a tensor, and no job has one
        tensors["none"] = torch.zeros(1)
    return saving.save(where, trainer.turns, tensors, facts)


def restore(trainer: Roster, where: str | os.PathLike[str], asked: Sequence[Job] = ()) -> bool:
    """Take all jobs of the newest checkpoint, with those that were submitted on the way; False where there is none.

    `asked` are jobs as they are wanted now. Files of theirs may lie elsewhere than before, and priorities may be
    others. One that differs otherwise, or whose data does, begins anew if it had failed or was cancelled, and so does
    one whose data was no good. The trainer has no jobs yet. Raises `ValueError` where it has, where a job that goes on
    or is done is another now, or its data is no longer what it was; `CheckpointError` where the checkpoint is damaged.
    """
    if not saving.any_saved(where):
        return False
    if trainer.jobs:
        raise ValueError("a trainer that has jobs can't take those of a checkpoint: restore before submitting")
    facts = saving.load(where, {}).facts
    wanted = {job.name: job for job in asked}
    tensors: dict[str, Tensor] = {}
    for kept in msgspec.convert(facts["jobs"], list[Kept]):
        job = wanted.get(kept.job.name, kept.job)
        if _begins_anew(kept, job, job.name in wanted):
            trainer.submit(job)
        elif not kept.prepared:
            trainer.jobs[job.name], trainer.lost[job.name] = job, kept.progress
        elif tuning := _going_on(trainer, kept, job, job.name in wanted, where):
            tensors |= {f"{job.name}/{key}": tensor for key, tensor in _tensors(tuning).items()}
    saving.load(where, tensors)
    trainer.turns = int(facts["turns"])
    return True


def begin(trainer: Roster, jobs: Sequence[Job], where: str | os.PathLike[str] = "") -> None:
    """Go on from a checkpoint where there is one, tell of jobs that had ended, and submit the others.

    Raises what `restore` raises.
    """
    if where and restore(trainer, where, jobs):
        for name, progress in trainer.progress().items():
            if progress.state in ENDED:
                trainer.ended(name)
    for job in jobs:
        if job.name not in trainer.jobs:
            trainer.submit(job)


def _begins_anew(kept: Kept, job: Job, asked: bool) -> bool:
    """Whether nothing of what is kept of a job counts. Raises `ValueError` where a changed job's work would be lost."""
    if not kept.prepared:
        return asked
    odd = different(kept.job, job)
    if odd and kept.progress.state not in UNFINISHED:
        raise ValueError(
            f"job {job.name!r} is not the one of the checkpoint, which is {kept.progress.state} after "
            f"{kept.progress.step} steps: {odd}: give it another name, or begin with other checkpoints"
        )
    return bool(odd)


def _going_on(trainer: Roster, kept: Kept, job: Job, asked: bool, where: str | os.PathLike[str]) -> Tuning | None:
    """A job where it was, with room for its tensors; None where it begins anew, or had ended and nobody asks for it."""
    trainer.submit(job)
    problem = (trainer.lost[job.name].reason or "it can't be prepared") if job.name in trainer.lost else ""
    if not problem and kept.origin not in ("", trainer.tunings[job.name].origin):
        problem = (
            "its lines or the adapters that it is given are not those that it began with: "
            "give it another name, or begin with other checkpoints"
        )
    [problem] = trainer.anywhere([problem])
    if problem and kept.progress.state not in UNFINISHED:
        raise ValueError(f"job {job.name!r} can't go on from {where}: {problem}")
    if problem and not asked:
        trainer.tunings.pop(job.name, None)
        trainer.lost[job.name] = kept.progress
    if problem:
        return None
    tuning = trainer.tunings[job.name]
    tuning.progress = kept.progress
    if tuning.progress.state == "running":
        tuning.progress.state = "ready"
    _make_room(tuning)
    return tuning


def _tensors(tuning: Tuning) -> dict[str, Tensor]:
    found: dict[str, Tensor] = {}
    for name, parameter in tuning.weights.trained.items():
        found[name] = parameter.data
        if parameter.grad is not None:
            found[f"{name}/{GRADIENT}"] = parameter.grad
        for key, tensor in tuning.optimizer.state.get(parameter, {}).items():
            if key != "step":  # `moved` says it
                found[f"{name}/{key}"] = tensor
    return found | tuning.weights.frozen


def _make_room(tuning: Tuning) -> None:
    """The tensors that a job had when it was saved: moments if it had moved, gradients if it was within a step."""
    moved, within = tuning.progress.moved, tuning.progress.within
    for parameter in tuning.weights.parameters:
        if within and tuning.progress.state == "ready":
            parameter.grad = torch.zeros_like(parameter)
        if not moved:
            continue
        moments: tuple[str, ...] = ("exp_avg", "exp_avg_sq")
        if tuning.job.optimizer.kind == "sgd":
            moments = ("momentum_buffer",) if tuning.job.optimizer.momentum else ()
        state: dict[str, Tensor] = {key: torch.zeros_like(parameter.data) for key in moments}
        if tuning.job.optimizer.kind == "adamw":
            state["step"] = torch.tensor(float(moved))
        tuning.optimizer.state[parameter] = state
