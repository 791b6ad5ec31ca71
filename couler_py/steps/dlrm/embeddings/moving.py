"""Carry tables, and what their optimizer remembers, to where another plan has them, while training waits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import torch

from couler_py.steps.dlrm.embeddings.optimizers import RowOptimizer
from couler_py.steps.dlrm.embeddings.placing import EVERY, Part, Plan, Table, check
from couler_py.steps.dlrm.embeddings.sharded import ShardedBags

if TYPE_CHECKING:
    from torch import Tensor

    from couler_py.steps.dlrm.embeddings.exchange import Ranks


def moved(
    held: Mapping[str, Tensor], tables: Sequence[Table], old: Plan, new: Plan, ranks: Ranks, like: Tensor
) -> dict[str, Tensor]:
    """What this rank holds by the new plan, of what all hold by the old one; all ranks call it.

    `held` is this rank's part of each table: its numbers, or one for each of its rows. `like` is any tensor of the
    type and on the device of them, for a rank that holds none. One all-to-all of what moves, and what stays is copied.
    """
    check(tables, new, ranks.world)
    flat = {each.dim() == 1 for each in held.values()}
    told = ranks.everybodys(torch.tensor([int(True in flat)], device=like.device))
    by_row = bool(told.any())
    outgoing: list[list[Tensor]] = [[] for _ in range(ranks.world)]
    incoming: list[list[tuple[str, Part]]] = [[] for _ in range(ranks.world)]
    found: dict[str, Tensor] = {}
    for table in tables:
        for receiver in range(ranks.world):
            for wanted in _of(new[table.name], receiver):
                if receiver == ranks.rank:
                    shape = (wanted.rows,) if by_row else (wanted.rows, wanted.columns)
                    found[table.name] = like.new_empty(shape)
                for part in old[table.name]:
                    sender = receiver if part.rank == EVERY else part.rank
                    common = _common(part, wanted, table.width, by_row)
                    if common is None:
                        continue
                    if sender == ranks.rank:
                        outgoing[receiver].append(_box(held[table.name], part, common).flatten())
                    if receiver == ranks.rank:
                        incoming[sender].append((table.name, common))
    sent = [torch.cat([like.new_empty(0), *each]) for each in outgoing]
    taken = [sum(part.rows if by_row else part.size for _, part in each) for each in incoming]
    received = ranks.exchange(torch.cat(sent), [len(each) for each in sent], taken)
    for arrived, flat_numbers in zip(incoming, received.split(taken), strict=True):
        at = 0
        for name, common in arrived:
            mine = next(iter(_of(new[name], ranks.rank)))
            target = _box(found[name], mine, common)
            target.copy_(flat_numbers[at : at + target.numel()].view(target.shape))
            at += target.numel()
    return found


def replanned(bags: ShardedBags, optimizer: RowOptimizer, plan: Plan) -> tuple[ShardedBags, RowOptimizer]:
    """The same tables and their optimizer where another plan has them; all ranks call it."""
    like = torch.empty(0, dtype=bags.dtype, device=bags.device)
    weights = {name: bags.weight(name).detach() for name in bags.parts}
    held = moved(weights, bags.tables, bags.plan, plan, bags.ranks, like)
    new = ShardedBags(
        bags.tables, plan, group=bags.ranks, dtype=bags.dtype, device=bags.device, gradients=bags.gradients,
        held=held,
    )  # fmt: skip
    later = RowOptimizer(new, optimizer.method, lr=optimizer.lr, eps=optimizer.eps)
    if optimizer.method != "sgd":
        later.memory = moved(optimizer.memory, bags.tables, bags.plan, plan, bags.ranks, like)
    return new.train(bags.training), later


def _of(parts: Sequence[Part], rank: int) -> list[Part]:
    return [part for part in parts if part.rank in (EVERY, rank)]


def _common(part: Part, wanted: Part, width: int, by_row: bool) -> Part | None:
    """The box that two parts share. Where rows have one number, whoever has the first column sends it."""
    if by_row:
        if part.column:
            return None
        wanted = Part(wanted.rank, wanted.row, wanted.rows, 0, width)
    row, column = max(part.row, wanted.row), max(part.column, wanted.column)
    rows = min(part.row + part.rows, wanted.row + wanted.rows) - row
    columns = min(part.column + part.columns, wanted.column + wanted.columns) - column
    return Part(part.rank, row, rows, column, columns) if rows > 0 and columns > 0 else None


def _box(numbers: Tensor, part: Part, common: Part) -> Tensor:
    rows = numbers[common.row - part.row : common.row - part.row + common.rows]
    return rows if numbers.dim() == 1 else rows[:, common.column - part.column :][:, : common.columns]
