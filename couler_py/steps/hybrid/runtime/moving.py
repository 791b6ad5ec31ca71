"""State from one plan to another while training goes on: through memory, and from a checkpoint what nobody has."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec
import torch
import torch.distributed as dist

from couler_py.steps.checkpoint import folders
from couler_py.steps.checkpoint.manifest import CheckpointError
from couler_py.steps.checkpoint.peers import peers, together
from couler_py.steps.checkpoint.places import place
from couler_py.steps.checkpoint.planning import Held
from couler_py.steps.checkpoint.saving import load
from couler_py.steps.checkpoint.surviving import Move, Rescue, rescue
from couler_py.steps.checkpoint.tensors import Local, Shard, flat, local_parts
from couler_py.steps.hybrid.runtime.world import World

if TYPE_CHECKING:
    from torch import Tensor

Shards = Mapping[str, tuple[Shard, ...]]


class Told(msgspec.Struct, frozen=True):
    """What a process says before state moves."""

    step: int
    consumed: int
    held: dict[str, Held]
    """Nothing where it comes anew, or where its last step was broken off."""


class Switched(msgspec.Struct, frozen=True):
    """What a change of plans took, on this rank."""

    step: int
    """Steps that are done, from here on."""
    kept: int
    """Bytes that were already here."""
    received: int
    """Bytes that came from other ranks: what this one needs, and no more."""
    sent: int
    read: int
    """Bytes that came from the checkpoint."""
    is_back: bool
    """Whether all went back to the checkpoint's step."""
    seconds: float


def newest(told: Mapping[int, Told]) -> Told:
    """Who has come furthest: what others have of earlier steps counts as lost."""
    able = [each for each in told.values() if each.held]
    return max(able, key=lambda each: each.step, default=Told(0, 0, {}))


def plan_moves(told: Mapping[int, Told], needed: Mapping[int, Mapping[str, Held]], node: int) -> Rescue:
    """How everybody gets what is needed from those who have come furthest; `node` is how many ranks a machine has."""
    step = newest(told).step
    held = {seat: each.held for seat, each in told.items() if each.held and each.step == step}
    return rescue(held, needed, {seat: str(seat // node) for seat in {*held, *needed}})


def transfer(world: World, moves: Rescue, old: Shards, new: Shards) -> tuple[int, int, int]:
    """Fill what this rank needs, one message a pair; gives the bytes that were kept, received and sent.

    Parts that no rank has are left as they are.
    """
    seat = world.seat
    having, getting = local_parts(old)[1], local_parts(new)[1]
    device = next((each.tensor.device for parts in (*getting.values(), *having.values()) for each in parts), None)
    kept = 0
    for move in moves.moves:
        if move.source == move.target == seat:
            _put(getting[move.tensor], move, flat(_part(having[move.tensor], move)))
            kept += move.size
    messages = moves.messages()
    operations, incoming, sent = [], [], 0
    for (source, target), row in messages.items():
        size = sum(move.size for move in row)
        if source == seat:
            buffer = torch.cat([flat(_part(having[move.tensor], move)) for move in row])
            operations.append(dist.P2POp(dist.isend, buffer, world.process(target)))
            sent += size
        elif target == seat:
            buffer = torch.empty(size, dtype=torch.uint8, device=device)
            operations.append(dist.P2POp(dist.irecv, buffer, world.process(source)))
            incoming.append((row, buffer))
    for work in dist.batch_isend_irecv(operations) if operations else []:
        work.wait()
    for row, buffer in incoming:
        for move, part in zip(row, buffer.split([each.size for each in row]), strict=True):
            _put(getting[move.tensor], move, part)
    return kept, sum(buffer.numel() for _, buffer in incoming), sent


def recover(
    where: str | os.PathLike[str] | None, moves: Rescue, told: Told, new: Shards, seat: int
) -> tuple[int, int, int, bool]:
    """Read what no rank has from a checkpoint; gives the step, samples consumed, bytes read, and whether it went back.

    A checkpoint of the step at which all are gives what is missing; from an earlier one everything is read, so that
    weights and moments are of one step. Raises `CheckpointError` on all ranks where there is none.
    """
    lost = moves.lost()
    if not lost:
        return told.step, told.consumed, 0, False
    name = next(iter(lost))
    if where is None:
        raise CheckpointError(
            f"no rank is left that has all of {name!r}, nor of {len(lost) - 1} other tensors: name a checkpoint"
        )
    source, among = place(where), peers()

    def found() -> int:
        return folders.manifest_of(source, folders.find(source, None)).step if among.rank == 0 else 0

    step = together(among, found)[0]
    is_back = step != told.step
    wanted: Mapping[str, tuple[Shard, ...]] = new
    if not is_back:
        missing = [move for move in moves.moves if move.source is None and move.target == seat]
        parts = local_parts(new)[1]
        wanted = {}
        for move in missing:
            shard = Shard(_part(parts[move.tensor], move), new[move.tensor][0].shape, move.box.offset)
            wanted[move.tensor] = (*wanted.get(move.tensor, ()), shard)
    loaded = load(where, wanted, step=step)
    return step, int(loaded.facts["consumed"]), loaded.size, is_back


def held_of(shards: Shards) -> dict[str, Held]:
    """What a rank has, as others hear of it."""
    return local_parts(shards)[0]


def _part(parts: list[Local], move: Move) -> Tensor:
    for each in parts:
        if each.box.holds(move.box):
            return each.tensor[move.box.within(each.box)]
    raise CheckpointError(f"this rank doesn't hold {move.box} of {move.tensor!r}")


def _put(parts: list[Local], move: Move, data: Tensor) -> None:
    for each in parts:
        if each.box.holds(move.box):
            target = each.tensor[move.box.within(each.box)]
            target.copy_(data.clone().view(target.dtype).view(target.shape))
