"""Small tables in all the ways that ranks can share them, bags of ids, and steps on them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from couler_py.steps.dlrm.embeddings.bags import Bags, bags_of
from couler_py.steps.dlrm.embeddings.optimizers import RowOptimizer
from couler_py.steps.dlrm.embeddings.placing import (
    Part,
    Plan,
    Table,
    column_wise,
    replicated,
    row_wise,
    table_wise,
)
from couler_py.steps.dlrm.embeddings.sharded import ShardedBags
from tests.training.distributed.ranks import Thread, on_ranks

TABLES = (Table("users", 50, 6), Table("items", 37, 6, "mean"), Table("few", 2, 6), Table("geo.country", 9, 6))
GRID = (Part(0, 0, 20, 0, 6), Part(1, 20, 30, 0, 2), Part(2, 20, 30, 2, 4))
"""Rows cut in two, and the second half by columns."""


def plans(world: int) -> dict[str, Plan]:
    """Ways to cut all tables."""
    ways: dict[str, Callable[[int, Table], tuple[Part, ...]]] = {
        "table-wise": lambda number, table: table_wise(table, number % world),
        "all on the last rank": lambda _, table: table_wise(table, world - 1),
        "row-wise": lambda _, table: row_wise(table, world),
        "column-wise": lambda _, table: column_wise(table, world),
        "replicated": lambda _, table: replicated(table),
        "mixed": lambda number, table: [
            row_wise(table, world),
            column_wise(table, world),
            replicated(table),
            table_wise(table, 0),
        ][number],
    }
    found = {name: {table.name: way(n, table) for n, table in enumerate(TABLES)} for name, way in ways.items()}
    if world == 3:
        found["grid"] = found["mixed"] | {"users": GRID}
    return found


def draw(seed: int, samples: int) -> list[list[list[int]]]:
    """Bags of nought to three ids, many of them the same."""
    stream = torch.Generator().manual_seed(seed)

    def ids(rows: int) -> list[int]:
        count = int(torch.randint(0, 4, (1,), generator=stream))
        return (torch.rand(count, generator=stream).square() * rows).long().tolist()

    return [[ids(table.rows) for _ in range(samples)] for table in TABLES]


def share(lists: list[list[list[int]]], counts: list[int], rank: int) -> Bags:
    """The bags of one rank, of which each has another number."""
    first = sum(counts[:rank])
    return bags_of([feature[first : first + counts[rank]] for feature in lists])


def target(seed: int, samples: int, dtype: torch.dtype) -> Tensor:
    stream = torch.Generator().manual_seed(seed)
    return torch.randn(samples, sum(table.width for table in TABLES), generator=stream, dtype=dtype)


class Ranks:
    """Ranks that are threads, for tables as for checkpoints."""

    def __init__(self, thread: Thread):
        self.group, self.rank, self.world = thread, thread.rank, thread.size
        self.waited = 0.0

    def exchange(self, sent: Tensor, given: list[int], taken: list[int]) -> Tensor:
        arrived = [each[self.rank] for each in self.group.gather(sent.detach().clone().split(given))]
        assert [len(each) for each in arrived] == taken
        return torch.cat(arrived)

    def total(self, numbers: Tensor) -> Tensor:
        return numbers.copy_(sum(self.group.gather(numbers.clone())))

    def everybodys(self, numbers: Tensor) -> Tensor:
        return torch.stack(self.group.gather(numbers.clone()))


def on(world: int, work: Callable[[Ranks], Any]) -> list[Any]:
    """Do something on so many ranks."""
    return on_ranks(world, lambda thread: work(Ranks(thread)))


def trained(bags: ShardedBags, optimizer: RowOptimizer, counts: list[int], seeds: range) -> list[Tensor]:
    """Steps of a loss that is the mean over all samples; gives what was looked up."""
    seen = []
    for seed in seeds:
        lists, wanted = draw(seed, sum(counts)), target(seed, sum(counts), bags.dtype)
        first = sum(counts[: bags.rank])
        looked_up = torch.cat(bags(share(lists, counts, bags.rank)), 1)
        mine = wanted[first : first + counts[bags.rank]]
        ((looked_up - mine).square().sum() / sum(counts)).backward()
        for parameter in bags.replicated():
            bags.ranks.total(parameter.grad)
        optimizer.step()
        seen.append(looked_up.detach())
    return seen


def whole(bags: ShardedBags) -> dict[str, Tensor]:
    """All tables, gathered."""
    mine = {name: (part, bags.weight(name).detach().clone()) for name, part in bags.parts.items()}
    found = {table.name: torch.zeros(table.rows, table.width, dtype=bags.dtype) for table in bags.tables}
    for each in bags.ranks.group.gather(mine):
        for name, (part, numbers) in each.items():
            found[name][part.row : part.row + part.rows, part.column : part.column + part.columns] = numbers
    return found
