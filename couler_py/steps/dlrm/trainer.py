"""One step of training a recommender on any number of ranks, and its state in checkpoints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from couler_py.steps.checkpoint.training import restore, state_of
from couler_py.steps.dlrm.embeddings.bags import Bags
from couler_py.steps.dlrm.embeddings.balancing import rebalanced
from couler_py.steps.dlrm.embeddings.exchange import ranks_of
from couler_py.steps.dlrm.embeddings.moving import replanned
from couler_py.steps.dlrm.embeddings.optimizers import RowOptimizer
from couler_py.steps.dlrm.embeddings.placing import Plan, Table, placed
from couler_py.steps.dlrm.embeddings.sharded import ShardedBags
from couler_py.steps.dlrm.models import build

if TYPE_CHECKING:
    from couler_py.steps.dlrm.feeding import Batch
    from couler_py.steps.dlrm.task import Task

TYPES = {"fp32": torch.float32, "fp64": torch.float64}
OPTIMIZERS = {"adam": torch.optim.Adam, "adagrad": torch.optim.Adagrad, "sgd": torch.optim.SGD}


class Layout(msgspec.Struct, frozen=True):
    """What a checkpoint knows of where tables were: among how many ranks, by which plan, and what was looked up."""

    world: int
    plan: dict[str, Any]
    lookups: dict[str, list[int]]


class Trainer:
    """A model: its dense layers on every rank, its tables shared by all; they make one alike, and call it alike.

    `tables` has one for each column of categories, in their order; a model without categories ignores them. A step's
    gradient is that of the mean loss over the step's rows, however ranks share them.
    """

    def __init__(
        self, task: Task, tables: Sequence[Table], dense: int, *, group: Any = None, device: torch.device | str = "cpu"
    ):
        shape, self.dtype = task.shape, TYPES[task.precision]
        wrong = [table.name for table in tables if table.width != shape.table_width]
        if wrong:
            raise ValueError(f"table {wrong[0]!r} is not {shape.table_width} wide, as a {shape.kind} has them")
        self.task, self.device = task, torch.device(device)
        self.tables = tuple(tables) if shape.kind != "dense" else ()
        self.dense = build(shape, dense, len(self.tables), task.seed, self.dtype).to(device)
        self.optimizer = OPTIMIZERS[task.dense_optimizer](self.dense.parameters(), lr=task.dense_lr)
        plan = placed(
            self.tables,
            ranks_of(group).world,
            optimizer=task.row_optimizer,
            width=self.dtype.itemsize,
            memory=task.memory,
        )
        self.bags = ShardedBags(self.tables, plan, group=group, seed=task.seed, dtype=self.dtype, device=device)
        self.rows = RowOptimizer(self.bags, task.row_optimizer, lr=task.row_lr)
        self.ranks = self.bags.ranks

    def step(self, batches: Sequence[Batch]) -> tuple[int, float]:
        """Train on a step's micro-batches, of which ranks may have different numbers and sizes, and none.

        Gives how many rows all ranks had, and the mean loss over them; no rows, and nothing has changed.
        """
        mine = torch.tensor([sum(len(each.label) for each in batches), len(batches)], device=self.device)
        counts = self.ranks.everybodys(mine)
        rows, rounds = int(counts[:, 0].sum()), int(counts[:, 1].max())
        if not rows:
            return 0, 0.0
        total = torch.zeros((), dtype=self.dtype, device=self.device)
        for number in range(rounds):  # all ranks look up equally often: others wait for their part of it
            label, logits = self._scored(batches[number] if number < len(batches) else None)
            loss = binary_cross_entropy_with_logits(logits, label, reduction="sum") / rows
            loss.backward()
            total += loss.detach()
        self._share(total)
        self.optimizer.step()
        self.optimizer.zero_grad()
        self.rows.step()
        return rows, float(total)

    @torch.no_grad()
    def scores(self, batch: Batch | None) -> tuple[Tensor, Tensor]:
        """Labels and log-odds of a batch of this rank's; all ranks call it, those without a batch with None."""
        self.bags.eval()
        found = self._scored(batch)
        self.bags.train()
        return found

    def rebalance(self) -> bool:
        """Move parts of tables where a rank looks up too much; gives whether any moved. All ranks call it."""
        lookups = self.bags.lookups()
        plan = rebalanced(self.tables, self.bags.plan, lookups, self.ranks.world, tolerance=self.task.tolerance)
        self.bags.looked_up.zero_()
        if plan == self.bags.plan:
            return False
        self._move(plan)
        return True

    def state(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """All tensors by names that no layout changes, and facts; all ranks call it."""
        tensors, settings = state_of(self.dense, self.optimizer)
        layout = Layout(self.ranks.world, dict(self.bags.plan), self.bags.lookups())
        facts = {"dense": settings, "layout": msgspec.to_builtins(layout)}
        return {**tensors, **self.bags.holding(), **self.rows.holding()}, facts

    def take(self, tensors: Mapping[str, Any], facts: Mapping[str, Any]) -> None:
        """Go on from the state that a checkpoint has filled the tensors of `state` with.

        With as many ranks as before, tables go back to where they were; with others, to where what was looked up says.
        """
        restore(self.dense, self.optimizer, tensors, facts["dense"])
        layout = msgspec.convert(facts["layout"], Layout)
        if layout.world == self.ranks.world:
            plan = msgspec.convert(layout.plan, Plan)
        else:
            plan = rebalanced(
                self.tables, self.bags.plan, layout.lookups, self.ranks.world, tolerance=self.task.tolerance
            )
        if plan != self.bags.plan:
            self._move(plan)
        if self.ranks.rank == 0:
            counts = [count for table in self.tables for count in layout.lookups[table.name]]
            self.bags.looked_up.copy_(torch.tensor(counts, dtype=torch.int64))

    def _move(self, plan: Plan) -> None:
        self.bags, self.rows = replanned(self.bags, self.rows, plan)

    def _scored(self, batch: Batch | None) -> tuple[Tensor, Tensor]:
        label, dense, bags = self._tensors(batch)
        pooled = self.bags(bags)
        width = self.task.shape.table_width
        embedded = torch.stack(pooled, 1) if pooled else dense.new_zeros(len(dense), 0, width)
        return label, self.dense(dense, embedded)

    def _tensors(self, batch: Batch | None) -> tuple[Tensor, Tensor, Bags]:
        features = len(self.tables)
        if batch is None:
            nothing = torch.zeros(features, 0, dtype=torch.int64, device=self.device)
            none = torch.zeros(0, self.dense.dense, dtype=self.dtype, device=self.device)
            return none[:, 0], none, Bags(nothing, nothing.flatten())
        ids = torch.as_tensor(batch.sparse)[:, :features].to(self.device, torch.int64).T.contiguous()
        label, dense = (torch.as_tensor(each).to(self.device, self.dtype) for each in (batch.label, batch.dense))
        return label, dense, Bags(torch.ones_like(ids), ids.flatten())

    def _share(self, total: Tensor) -> None:
        """Add up, over ranks, the gradients of what all of them hold, and the loss, in one message."""
        shared = [*self.dense.parameters(), *self.bags.replicated()]
        gradients = [torch.zeros_like(each) if each.grad is None else each.grad for each in shared]
        flat = self.ranks.total(torch.cat([*(each.flatten() for each in gradients), total[None]]))
        sizes = [each.numel() for each in shared]
        for parameter, piece in zip(shared, flat.split([*sizes, 1])[:-1], strict=True):
            parameter.grad = piece.view(parameter.shape)
        total.copy_(flat[-1])
