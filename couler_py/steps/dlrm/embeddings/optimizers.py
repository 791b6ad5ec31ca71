"""Optimizers that move the rows which were looked up and no others: SGD, Adagrad, Adagrad with one number a row.

Adagrad: Duchi et al., JMLR 12 (2011), equation 1 with a diagonal; row-wise: Gupta et al., "Training Recommender Systems
at Scale" (arXiv 2105.01565), section 4.3, and torchrec's `RowWiseAdagrad`: a row's number grows by the mean of its
squared gradient. Adam is left out: it moves rows that nobody looked up, or isn't Adam.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import torch

from couler_py.steps.dlrm.embeddings.sharded import ShardedBags, box_of

if TYPE_CHECKING:
    from torch import Tensor

    from couler_py.steps.checkpoint.tensors import Shard
    from couler_py.steps.dlrm.embeddings.placing import Part

Method = Literal["sgd", "adagrad", "rowwise_adagrad"]
METHODS: tuple[Method, ...] = ("sgd", "adagrad", "rowwise_adagrad")


class RowOptimizer:
    """The optimizer of tables that ranks share; all ranks make one and call it alike.

    A row moves as it would in one process, however tables are cut. `memory` holds the sums of squares by table: like
    the rank's part, or one number for each of its rows.
    """

    def __init__(self, bags: ShardedBags, method: Method = "rowwise_adagrad", *, lr: float, eps: float = 1e-8):
        if method not in METHODS:
            raise ValueError(f"no optimizer of rows is called {method!r}: there are {', '.join(METHODS)}")
        if lr <= 0 or eps <= 0:
            raise ValueError(f"a rate of {lr} and an eps of {eps}: both are above 0")
        self.bags, self.method, self.lr, self.eps = bags, method, lr, eps
        self.memory: dict[str, Tensor] = {}
        for name in bags.parts if method != "sgd" else ():
            weight = bags.weight(name).detach()
            self.memory[name] = torch.zeros_like(weight if method == "adagrad" else weight[:, 0])

    @torch.no_grad()
    def step(self) -> None:
        """Move rows by their gradients, which are forgotten."""
        gradients = {name: _gradient(self.bags.weight(name)) for name in self.bags.parts}
        squares = self._squares(gradients) if self.method == "rowwise_adagrad" else {}
        for name, (rows, values) in gradients.items():
            weight = self.bags.weight(name)
            if self.method == "sgd":
                change = values
            elif self.method == "adagrad":
                change = values / (_added(self.memory[name], rows, values.square()).sqrt() + self.eps)
            else:
                total = _added(self.memory[name], rows, squares[name])
                change = values / (total.sqrt() + self.eps)[:, None]
            _added(weight, rows, -self.lr * change)
            weight.grad = None

    def holding(self) -> dict[str, Shard]:
        """What it remembers, by logical names, for checkpoints."""
        tables = {table.name: table for table in self.bags.tables}
        return {
            f"tables/{name}/{self.method}": box_of(numbers, tables[name], self.bags.parts[name])
            for name, numbers in self.memory.items()
        }

    def _squares(self, gradients: dict[str, tuple[Tensor | None, Tensor]]) -> dict[str, Tensor]:
        """The mean square of each row's gradient: over all columns, of which other ranks may hold some.

        Ranks that hold columns of the same rows got the same ids, and so have the same rows in the same order: nobody
        has to say how many. They add up in the order of columns, so that all of them remember the same number.
        """
        bags, ranks = self.bags, self.bags.ranks
        sums = {name: values.square().sum(1) for name, (_, values) in gradients.items()}
        beside = {
            table.name: _beside(bags.plan[table.name], bags.parts[table.name])
            for table in bags.tables
            if table.name in bags.parts
        }
        common = [[name for name, parts in beside.items() if other in parts] for other in range(ranks.world)]
        if any(len(parts) > 1 for parts in beside.values()) or _any_columns(bags):
            nothing = torch.empty(0, dtype=bags.dtype, device=next(iter(sums.values())).device if sums else None)
            outgoing = [torch.cat([nothing, *(sums[name] for name in names)]) for names in common]
            sizes = [len(each) for each in outgoing]
            received = ranks.exchange(torch.cat(outgoing), sizes, sizes).split(sizes)
            arrived = {
                (name, rank): each
                for rank, (names, flat) in enumerate(zip(common, received, strict=True))
                for name, each in zip(names, flat.split([len(sums[name]) for name in names]), strict=True)
            }
            for name, parts in beside.items():
                if len(parts) > 1:
                    sums[name] = torch.stack([arrived[name, rank] for rank in parts]).sum(0)
        width = {table.name: table.width for table in bags.tables}
        return {name: total / width[name] for name, total in sums.items()}


def _beside(plan: tuple[Part, ...], mine: Part) -> list[int]:
    """The ranks that hold columns of the same rows, in the order of columns."""
    side = sorted((part.column, part.rank) for part in plan if part.row == mine.row)
    return [rank for _, rank in side if rank >= 0]


def _any_columns(bags: ShardedBags) -> bool:
    """Whether any rank shares rows with another: then all take part in the exchange."""
    return any(part.columns < table.width for table in bags.tables for part in bags.plan[table.name])


def _gradient(weight: Tensor) -> tuple[Tensor | None, Tensor]:
    """The rows that have a gradient, each once, and their gradients; all rows where it is dense."""
    gradient = weight.grad
    if gradient is None:
        return torch.empty(0, dtype=torch.int64, device=weight.device), weight.detach()[:0]
    if not gradient.is_sparse:
        return None, gradient
    one = gradient.coalesce()
    return one.indices()[0], one.values()


def _added(numbers: Tensor, rows: Tensor | None, more: Tensor) -> Tensor:
    """Add to some rows, and give what they have become."""
    if rows is None:
        return numbers.add_(more)
    numbers.index_add_(0, rows, more)
    return numbers[rows]
