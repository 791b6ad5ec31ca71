"""Lookups in tables that ranks share: ids go to those who hold their rows, pooled vectors come back.

Three all-to-alls a forward (sizes, ids, vectors) and one a backward. Nothing needs a reduce-scatter, which gloo lacked
until 2025 (pytorch issue 149869), so tables are cut by rows on CPUs too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import embedding_bag

from couler_py.steps.checkpoint.tensors import Shard
from couler_py.steps.dlrm.embeddings.bags import Bags, offsets_of
from couler_py.steps.dlrm.embeddings.balancing import BUCKETS
from couler_py.steps.dlrm.embeddings.exchange import exchanged, ranks_of
from couler_py.steps.dlrm.embeddings.placing import EVERY, Part, Plan, Table, check
from couler_py.steps.dlrm.embeddings.starting import beginning


class Route(NamedTuple):
    """One part of a table that ids are sent to."""

    feature: int
    part: Part


class ShardedBags(nn.Module):
    """Embedding tables, each cut as a plan says; all ranks of the group make one alike, and call it alike.

    A rank looks up bags of its own samples, of which ranks may have different numbers, and none. What it holds are the
    parameters, one for each table that it has a part of. Gradients of rows are the sums of what all ranks' losses say:
    with a loss that is a sum over a rank's samples divided by the samples of all ranks, they are exactly those of one
    process. With `gradients="mean"` they are divided by the ranks, as DDP does for losses that are means of equally
    many samples. What tables begin with depends on the seed alone; `held` gives this rank's parts instead.
    """

    def __init__(
        self,
        tables: Sequence[Table],
        plan: Plan,
        *,
        group: Any = None,
        seed: int = 0,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str = "cpu",
        gradients: Literal["sum", "mean"] = "sum",
        held: Mapping[str, Tensor] | None = None,
    ):
        super().__init__()
        self.tables, self.plan, self.dtype = tuple(tables), plan, dtype
        self.ranks = ranks_of(group)
        check(self.tables, plan, self.ranks.world)
        self.gradients = gradients
        self._scale = 1.0 if gradients == "sum" else 1.0 / self.ranks.world
        self.routes = [
            [
                Route(feature, part)
                for feature, table in enumerate(self.tables)
                for part in plan[table.name]
                if part.rank == rank
            ]
            for rank in range(self.ranks.world)
        ]
        """By rank: the parts that it holds alone."""
        self.parts = {
            table.name: part for table in self.tables for part in plan[table.name] if part.rank in (EVERY, self.rank)
        }
        """What this rank holds, by the name of the table."""
        self.weights = nn.ParameterDict()
        for table in self.tables:
            if table.name in self.parts:
                mine = self.parts[table.name]
                numbers = beginning(table, mine, seed, dtype).to(device) if held is None else held[table.name]
                self.weights[_key(table.name)] = nn.Parameter(numbers)
        rows = torch.tensor([table.rows for table in self.tables], dtype=torch.int64, device=device)
        self.register_buffer("_rows", rows, persistent=False)
        self.register_buffer("looked_up", rows.new_zeros(len(self.tables) * BUCKETS), persistent=False)

    @property
    def rank(self) -> int:
        """This rank of the group."""
        return self.ranks.rank

    @property
    def device(self) -> torch.device:
        """Where its tables lie."""
        found: torch.device = self._rows.device
        return found

    def weight(self, name: str) -> nn.Parameter:
        """What this rank holds of a table."""
        found: nn.Parameter = self.weights[_key(name)]
        return found

    def replicated(self) -> list[nn.Parameter]:
        """Tables that every rank holds: their gradients are for the caller to add up, as those of dense layers are."""
        return [self.weight(name) for name, part in self.parts.items() if part.rank == EVERY]

    def forward(self, bags: Bags) -> list[Tensor]:
        """The pooled vectors of each table, [samples, width]; bags without ids give zeros.

        Raises `ValueError` on all ranks, naming the table, where one has an id that there is no row for.
        """
        self._agree(self._problem(bags))
        if self.training:
            self._count(bags)
        counts = bags.lengths.sum(1).tolist()
        ids = bags.ids.split(counts)
        received = self._pooled(*self._asked(bags, ids))
        pooled: list[Tensor] = []
        for feature, table in enumerate(self.tables):
            parts = self.plan[table.name]
            if parts[0].rank == EVERY:
                offsets = offsets_of(bags.lengths[feature])
                found = embedding_bag(ids[feature], self.weight(table.name), offsets, mode="sum")
            else:
                found = _joined([(part, received[feature, part]) for part in parts])
            if table.pooling == "mean":
                found = found / bags.lengths[feature].clamp(min=1)[:, None]
            pooled.append(found)
        return pooled

    def _asked(self, bags: Bags, ids: Sequence[Tensor]) -> tuple[list[Tensor], list[int], int]:
        """What each rank asks of this one, its samples, and how many samples are this rank's."""
        samples = bags.samples
        outgoing = []
        split = {feature: self._by_rows(feature, bags, ids[feature]) for feature in range(len(self.tables))}
        for routes in self.routes:
            lengths = [split[route.feature][route.part.row][0] for route in routes]
            outgoing.append(torch.cat([bags.ids[:0], *lengths, *(split[r.feature][r.part.row][1] for r in routes)]))
        given = [len(each) for each in outgoing]
        mine = len(self.routes[self.rank])
        sizes = torch.tensor([[samples, size] for size in given], dtype=torch.int64, device=bags.ids.device)
        told = self.ranks.exchange(sizes.flatten(), [2] * len(given), [2] * len(given)).view(-1, 2).tolist()
        received = self.ranks.exchange(torch.cat(outgoing), given, [size for _, size in told])
        asked = received.split([size for _, size in told])
        theirs = [count for count, _ in told]
        lengths_and_ids = [each.split([mine * n, len(each) - mine * n]) for each, n in zip(asked, theirs, strict=True)]
        return [part for pair in lengths_and_ids for part in pair], theirs, samples

    def _pooled(self, asked: list[Tensor], theirs: list[int], samples: int) -> dict[tuple[int, Part], Tensor]:
        """The sums of rows for this rank's samples, by feature and part."""
        mine = self.routes[self.rank]
        lengths = [each.view(len(mine), count) for each, count in zip(asked[::2], theirs, strict=True)]
        ids = [each.split(length.sum(1).tolist()) for each, length in zip(asked[1::2], lengths, strict=True)]
        sums = []
        for number, route in enumerate(mine):
            bags = torch.cat([length[number] for length in lengths])
            rows = torch.cat([each[number] for each in ids])
            weight = self.weight(self.tables[route.feature].name)
            sums.append(embedding_bag(rows, weight, offsets_of(bags), mode="sum", sparse=True).split(theirs))
        nothing = torch.empty(0, dtype=self.dtype, device=self.device)
        outgoing = [torch.cat([nothing, *(each[rank].flatten() for each in sums)]) for rank in range(len(theirs))]
        taken = [samples * sum(route.part.columns for route in routes) for routes in self.routes]
        received = exchanged(torch.cat(outgoing), self.ranks, [len(each) for each in outgoing], taken, self._scale)
        found: dict[tuple[int, Part], Tensor] = {}
        for routes, flat in zip(self.routes, received.split(taken), strict=True):
            sizes = [samples * route.part.columns for route in routes]
            for route, each in zip(routes, flat.split(sizes), strict=True):
                found[route.feature, route.part] = each.view(samples, route.part.columns)
        return found

    def _by_rows(self, feature: int, bags: Bags, ids: Tensor) -> dict[int, tuple[Tensor, Tensor]]:
        """The lengths of bags and the ids, counted from a part's first row, for each run of rows that is held apart."""
        starts = sorted({part.row for part in self.plan[self.tables[feature].name]})
        lengths = bags.lengths[feature]
        if len(starts) == 1:
            return {0: (lengths, ids)}
        bag = torch.repeat_interleave(torch.arange(len(lengths), device=ids.device), lengths)
        which = torch.bucketize(ids, torch.tensor(starts[1:], device=ids.device), right=True)
        found = {}
        for number, start in enumerate(starts):
            chosen = which == number
            found[start] = torch.bincount(bag[chosen], minlength=len(lengths)), ids[chosen] - start
        return found

    def _problem(self, bags: Bags) -> str | None:
        """What is wrong with some bags."""
        if bags.lengths.shape[0] != len(self.tables):
            return f"bags of {bags.lengths.shape[0]} features, and there are {len(self.tables)} tables"
        feature = self._feature_of_ids(bags)
        if len(feature) != len(bags.ids):
            return f"the lengths of bags say {len(feature)} ids, and there are {len(bags.ids)}"
        odd = (bags.ids < 0) | (bags.ids >= self._rows[feature])
        if not bool(odd.any()):
            return None
        place = int(odd.nonzero()[0])
        table = self.tables[int(feature[place])]
        return f"table {table.name!r} has {table.rows} rows: there is no id {int(bags.ids[place])}"

    def _agree(self, problem: str | None) -> None:
        """Raises on all ranks where one has a problem, so that none waits for it."""
        mine = torch.tensor([problem is not None], dtype=torch.int64, device=self.device)
        failed = self.ranks.everybodys(mine).flatten().nonzero().flatten().tolist()
        if failed:
            raise ValueError(problem or f"rank {failed[0]} of {self.ranks.world} has bags that can't be looked up")

    def _feature_of_ids(self, bags: Bags) -> Tensor:
        return torch.repeat_interleave(torch.arange(len(self.tables), device=bags.ids.device), bags.lengths.sum(1))

    def _count(self, bags: Bags) -> None:
        feature = self._feature_of_ids(bags)
        places = feature * BUCKETS + bags.ids * BUCKETS // self._rows[feature]
        self.looked_up += torch.bincount(places, minlength=len(self.looked_up))

    def lookups(self) -> dict[str, list[int]]:
        """How often ids of each bucket of rows were looked up in training, by all ranks; they call it together."""
        rows = self.ranks.total(self.looked_up.clone()).view(-1, BUCKETS).tolist()
        return {table.name: row for table, row in zip(self.tables, rows, strict=True)}

    def holding(self) -> dict[str, Shard]:
        """What this rank holds, by logical names, for checkpoints: the parts of whole tables."""
        return {
            f"tables/{table.name}/weight": box_of(self.weight(table.name).detach(), table, self.parts[table.name])
            for table in self.tables
            if table.name in self.parts
        }


def box_of(numbers: Tensor, table: Table, part: Part) -> Shard:
    """A part's numbers, or one for each of its rows, as a part of the whole."""
    if numbers.dim() == 1:
        return Shard(numbers, (table.rows,), (part.row,))
    return Shard(numbers, (table.rows, table.width), (part.row, part.column))


def _joined(parts: Sequence[tuple[Part, Tensor]]) -> Tensor:
    """Sums of rows from several parts as one: columns side by side, runs of rows added in their order."""
    bands: dict[int, list[Tensor]] = {part.row: [] for part, _ in parts}
    for part, each in sorted(parts, key=lambda pair: (pair[0].row, pair[0].column)):
        bands[part.row].append(each)
    rows = [torch.cat(band, 1) if len(band) > 1 else band[0] for band in bands.values()]
    total = rows[0]
    for each in rows[1:]:
        total = total + each
    return total


def _key(name: str) -> str:
    return f"table {name}".replace(".", "/")  # names of parameters hold no dots
