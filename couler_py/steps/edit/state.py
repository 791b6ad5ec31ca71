"""Checkpoints of replicas: what they share once, what is each one's own by replica, in any layout later."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec
import torch

from couler_py.steps.checkpoint import folders
from couler_py.steps.checkpoint import saving as checkpoint
from couler_py.steps.checkpoint.manifest import CheckpointError, Manifest
from couler_py.steps.checkpoint.places import place
from couler_py.steps.checkpoint.training import restore, state_of
from couler_py.steps.edit.detector import Running
from couler_py.steps.edit.packing import Parcel
from couler_py.steps.edit.units import local

if TYPE_CHECKING:
    from torch import Tensor

    from couler_py.steps.edit.local_sgd import LocalSGD
    from couler_py.steps.edit.outer import Anchored

SHARED = "edit"


class Shared(msgspec.Struct, frozen=True):
    """What all replicas know alike."""

    replicas: int
    rounds: int
    agreed_steps: int
    anchored: bool
    """Whether warm-up is over."""
    late: bool
    """Whether an average is on its way."""


class Own(msgspec.Struct, frozen=True):
    """What one replica knows of itself."""

    step: int
    since: int
    elapsed: float
    running: dict[str, Running]
    settings: dict[str, Any]
    """Of its optimizer."""


def save(
    training: LocalSGD, where: str | os.PathLike[str], facts: Mapping[str, Any] | None = None, **options: Any
) -> checkpoint.Saved:
    """Write a checkpoint; all ranks call it after the same step, or, where the clock calls rounds, in `watch`.

    It begins no round and changes nothing. Facts and options are those of `checkpoint.saving.save`; facts that differ
    between replicas, such as how much data each has seen, go under names of their own (`own`).
    """
    shared = Shared(
        replicas=training.between.size,
        rounds=training.rounds,
        agreed_steps=training.agreed_steps,
        anchored=bool(training.anchored),
        late=any(anchored.late is not None for anchored in training.anchored),
    )
    timing, replica = training.timing, training.between.rank
    with training.paused():
        tensors, settings = state_of(training.model, training.optimizer)
    mine = Own(timing.step, timing.since, timing.elapsed, training.running, settings)
    own_facts: dict[str, Any] = {}
    if training.within.rank == 0:  # whose clock is the replica's
        own_facts = checkpoint.own(_replica(replica), {"edit": msgspec.to_builtins(mine)})
    everything = {**checkpoint.own(_replica(replica), tensors), **_outer(training, late=shared.late), **_random()}
    told = {**(facts or {}), SHARED: msgspec.to_builtins(shared), **own_facts}
    return checkpoint.save(where, _moment(training), everything, told, **options)


def load(training: LocalSGD, where: str | os.PathLike[str], *, step: int | None = None) -> checkpoint.Loaded:
    """Go on from a checkpoint, inside of `with`; all ranks call it.

    Shards may be more or fewer than when it was written, and so may replicas. One that is new begins at the anchor,
    with the inner optimizer's moments of one that was there and a detector that knows nothing yet. With as many ranks
    as before, everything goes on exactly as it would have, random numbers too.
    """
    source = place(where)
    manifest = folders.manifest_of(source, folders.find(source, step))
    if SHARED not in manifest.facts:
        raise CheckpointError(f"the checkpoint of step {manifest.step} in {where} has no replicas: it isn't LocalSGD's")
    shared = msgspec.convert(manifest.facts[SHARED], Shared)
    replica = training.between.rank
    model_of = _replica(replica % shared.replicas)
    mine = msgspec.convert(manifest.facts[f"own/{model_of}/edit"], Own)
    training.timing.restore(mine.step, mine.since, mine.elapsed)
    if shared.anchored:
        training.anchor()
    with training.paused():
        tensors, _ = state_of(training.model, training.optimizer)
    outer = _outer(training, late=shared.late) if shared.anchored else {}
    random = _random() if _as_many_ranks(manifest) else {}
    loaded = checkpoint.load(where, {**checkpoint.own(model_of, tensors), **outer, **random}, step=manifest.step)
    restore(training.model, training.optimizer, tensors, mine.settings)
    _into_outer(training, outer, late=shared.late)
    for state in random.values():
        torch.set_rng_state(state)
    training.rounds, training.agreed_steps = shared.rounds, shared.agreed_steps
    training.running = dict(mine.running)
    if replica >= shared.replicas and shared.anchored:
        training.timing.restore(mine.step - mine.since, 0, 0.0)
        training.running = {name: Running() for name in training.running}
        training.to_anchor()
    facts = {name: value for name, value in loaded.facts.items() if name != SHARED and not name.endswith("/edit")}
    return msgspec.structs.replace(loaded, facts=facts)


def _moment(training: LocalSGD) -> int:
    # Replicas that the clock calls have made different numbers of steps; what they have agreed on is equal.
    if training.settings.sync_seconds is None or not training.anchored:
        return training.timing.step
    return training.settings.warmup + training.agreed_steps


def _replica(number: int) -> str:
    return f"replica-{number}"


def _random() -> dict[str, Tensor]:
    rank = torch.distributed.get_rank() if torch.distributed.is_initialized() else 0
    return checkpoint.own(f"rank-{rank}", {"random": torch.get_rng_state()})


def _as_many_ranks(manifest: Manifest) -> bool:
    ranks = torch.distributed.get_world_size() if torch.distributed.is_initialized() else 1
    return sum(name.startswith("own/rank-") for name in manifest.tensors) == ranks


def _outer(training: LocalSGD, *, late: bool) -> dict[str, Tensor]:
    """Anchor, momentum and averages on their way, in new tensors laid out as the parameters are."""
    laid_out: dict[str, Tensor] = {}
    for anchored in training.anchored:
        for kind, values in _kinds(anchored, late=late).items():
            for (name, parameter), value in zip(anchored.unit.parameters.items(), values, strict=True):
                whole = torch.empty_like(parameter.detach(), dtype=torch.float32)
                local(whole).copy_(value)
                laid_out[f"{kind}/{name}"] = whole
    return laid_out


def _into_outer(training: LocalSGD, laid_out: Mapping[str, Tensor], *, late: bool) -> None:
    for anchored in training.anchored:
        for kind, values in _kinds(anchored, late=late).items():
            for name, value in zip(anchored.unit.parameters, values, strict=True):
                value.copy_(local(laid_out[f"{kind}/{name}"]))


def _kinds(anchored: Anchored, *, late: bool) -> dict[str, list[Tensor]]:
    kinds = {"anchor": anchored.anchor}
    if anchored.momentum:
        kinds["momentum"] = anchored.momentum
    if late:
        size = sum(value.numel() for value in anchored.anchor)
        arrived = anchored.late.open() if anchored.late else torch.zeros(size, device=anchored.anchor[0].device)
        anchored.late = Parcel(arrived, [])
        kinds["late"] = anchored.split(arrived)
    return kinds
