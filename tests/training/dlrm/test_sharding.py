"""Tables that ranks share train as one process does that has all of them. Ranks are threads here (`sharing.py`)."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
import torch
from torch import Tensor
from torch.nn.functional import embedding_bag

from couler_py.steps.checkpoint.saving import load, save
from couler_py.steps.dlrm.embeddings.bags import bags_of
from couler_py.steps.dlrm.embeddings.moving import replanned
from couler_py.steps.dlrm.embeddings.optimizers import METHODS, Method, RowOptimizer
from couler_py.steps.dlrm.embeddings.placing import replicated
from couler_py.steps.dlrm.embeddings.sharded import ShardedBags
from tests.training.dlrm.sharing import TABLES, Ranks, draw, on, plans, share, trained, whole

TOLERANCE = {torch.float32: 1e-6, torch.float64: 1e-12}


@pytest.mark.parametrize("counts", [[5, 0], [2, 0, 5]], ids=str)
@pytest.mark.parametrize(
    ("dtype", "method"), [*((torch.float64, method) for method in METHODS), (torch.float32, "adagrad")], ids=str
)
def test_every_way_of_cutting_trains_as_one_process_does(counts: list[int], method: Method, dtype: torch.dtype) -> None:
    single = ShardedBags(TABLES, {table.name: replicated(table) for table in TABLES}, dtype=dtype)
    seen = trained(single, RowOptimizer(single, method, lr=0.1), [sum(counts)], range(3))
    near = {"rtol": 0, "atol": TOLERANCE[dtype]}
    for name, plan in plans(len(counts)).items():

        def compare(ranks: Ranks, plan: object = plan, name: str = name) -> None:
            bags = ShardedBags(TABLES, plan, group=ranks, dtype=dtype)
            mine = trained(bags, RowOptimizer(bags, method, lr=0.1), counts, range(3))
            first = sum(counts[: bags.rank])
            for here, there in zip(mine, seen, strict=True):
                expected = there[first : first + counts[bags.rank]]
                torch.testing.assert_close(here, expected, **near, msg=lambda m: f"{name}: {m}")
            for table, numbers in whole(bags).items():
                expected = single.weight(table).detach()
                torch.testing.assert_close(numbers, expected, **near, msg=lambda m: f"{name}: {m}")

        on(len(counts), compare)


def test_lookups_of_whole_tables_are_those_of_torch_to_the_bit() -> None:
    def compare(ranks: Ranks) -> None:
        bags = ShardedBags(TABLES, plans(2)["table-wise"], group=ranks)
        tables = whole(bags)
        mine = share(draw(0, 9), [4, 5], bags.rank)
        ids = mine.ids.split(mine.lengths.sum(1).tolist())
        for table, found, values, lengths in zip(TABLES, bags(mine), ids, mine.lengths, strict=True):
            offsets = lengths.cumsum(0) - lengths
            assert torch.equal(found, embedding_bag(values, tables[table.name], offsets, mode=table.pooling)), table

    on(2, compare)


def test_gradients_can_be_means_as_those_of_ddp_are() -> None:
    def compare(ranks: Ranks) -> None:
        one = ShardedBags(TABLES, plans(2)["row-wise"], group=ranks, dtype=torch.float64)
        other = ShardedBags(TABLES, plans(2)["row-wise"], group=ranks, dtype=torch.float64, gradients="mean")
        mine = share(draw(1, 8), [4, 4], one.rank)
        torch.cat(one(mine), 1).square().sum().div(8).backward()  # over the samples of all ranks
        torch.cat(other(mine), 1).square().sum().div(4).backward()  # over the rank's own
        for name in one.parts:
            left, right = (each.weight(name).grad.to_dense() for each in (one, other))
            torch.testing.assert_close(left, right, rtol=0, atol=1e-12)

    on(2, compare)


def test_an_id_without_a_row_is_named_and_no_rank_waits() -> None:
    def compare(ranks: Ranks) -> None:
        bags = ShardedBags(TABLES, plans(2)["mixed"], group=ranks)
        mine = bags_of([[[1]], [[37 if ranks.rank == 0 else 36]], [[0]], [[0]]])
        expected = (
            "table 'items' has 37 rows: there is no id 37",
            "rank 0 of 2 has bags that can't be looked up",
        )
        with pytest.raises(ValueError, match=expected[ranks.rank]):
            bags(mine)

    on(2, compare)


def test_bags_that_contradict_themselves_are_named() -> None:
    bags = ShardedBags(TABLES, plans(1)["table-wise"])
    with pytest.raises(ValueError, match="bags of 1 features, and there are 4 tables"):
        bags(bags_of([[[1]]]))
    whole_ones = bags_of([[[1]], [[1]], [[1]], [[1]]])
    with pytest.raises(ValueError, match="the lengths of bags say 4 ids, and there are 3"):
        bags(whole_ones._replace(ids=whole_ones.ids[:3]))


@pytest.mark.parametrize("method", METHODS)
def test_checkpoints_load_on_any_number_of_ranks_to_the_bit(method: Method, tmp_path: Path) -> None:
    def begun(ranks: Ranks) -> dict[str, Tensor]:
        bags = ShardedBags(TABLES, plans(2)["mixed"], group=ranks)
        optimizer = RowOptimizer(bags, method, lr=0.1)
        trained(bags, optimizer, [3, 4], range(3))
        save(tmp_path / "0", 0, {**bags.holding(), **optimizer.holding()}, group=ranks.group)
        return whole(bags)

    wanted = on(2, begun)[0]
    remembered: dict[str, Tensor] = {}
    for number, (world, way) in enumerate(((1, "table-wise"), (3, "grid"), (2, "column-wise"), (1, "replicated"))):

        def went_on(ranks: Ranks, number: int = number, way: str = way) -> None:
            bags = ShardedBags(TABLES, plans(ranks.world)[way], group=ranks, seed=9)
            optimizer = RowOptimizer(bags, method, lr=0.1)
            holding = {**bags.holding(), **optimizer.holding()}
            load(tmp_path / f"{number}", holding, group=ranks.group)
            assert all(torch.equal(numbers, wanted[name]) for name, numbers in whole(bags).items())
            for name, shard in optimizer.holding().items():
                if ranks.world == 1:
                    kept = remembered.setdefault(name, shard.part.clone())
                    assert torch.equal(shard.part, kept), name
            save(tmp_path / f"{number + 1}", number + 1, holding, group=ranks.group)

        on(world, went_on)
    assert len(remembered) == (0 if method == "sgd" else len(TABLES))


@pytest.mark.parametrize("method", METHODS)
def test_tables_move_to_another_plan_while_training_goes_on(method: Method) -> None:
    ways = ["mixed", "grid", "column-wise", "replicated", "row-wise", "table-wise", "mixed"]

    def compare(ranks: Ranks, before: str, after: str) -> None:
        made = []
        for way in (before, after):
            bags = ShardedBags(TABLES, plans(3)[before], group=ranks, dtype=torch.float64)
            optimizer = RowOptimizer(bags, method, lr=0.1)
            trained(bags, optimizer, [1, 2, 3], range(2))
            old = whole(bags)
            bags, optimizer = replanned(bags, optimizer, plans(3)[way])
            assert all(torch.equal(each, old[name]) for name, each in whole(bags).items())
            trained(bags, optimizer, [1, 2, 3], range(2, 4))
            made.append(whole(bags))
        for name, numbers in made[0].items():
            torch.testing.assert_close(made[1][name], numbers, rtol=0, atol=1e-12)

    for before, after in itertools.pairwise(ways):
        on(3, lambda ranks, before=before, after=after: compare(ranks, before, after))


def test_what_is_looked_up_in_training_is_counted_on_all_ranks() -> None:
    def compare(ranks: Ranks) -> None:
        bags = ShardedBags(TABLES, plans(2)["mixed"], group=ranks)
        bags(bags_of([[[49, 0]], [[]], [[1]], [[]]]))
        bags.eval()(bags_of([[[49, 0]], [[]], [[1]], [[]]]))
        found = bags.lookups()
        assert [found["users"][0], found["users"][62], sum(found["users"])] == [2, 2, 4]
        assert [sum(found[table.name]) for table in TABLES] == [4, 0, 2, 0]

    on(2, compare)
