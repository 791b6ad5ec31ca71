"""Plans of tables: every row and column is somewhere once, and what can't be is said with the table's name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from couler_py.steps.dlrm.embeddings.balancing import BUCKETS, bucket_edges, imbalance, loads, rebalanced
from couler_py.steps.dlrm.embeddings.placing import (
    EVERY,
    Part,
    Table,
    check,
    column_wise,
    numbers_per_row,
    placed,
    replicated,
    row_wise,
    table_wise,
)

TABLE = Table("ids", 10, 4)
tables = st.lists(st.tuples(st.integers(1, 200_000), st.integers(1, 32)), min_size=1, max_size=6).map(
    lambda sizes: [Table(f"table-{n}", rows, width) for n, (rows, width) in enumerate(sizes)]
)
worlds = st.integers(1, 5)


@given(tables, worlds)
def test_a_plan_holds_every_number_of_every_table_once(tables: list[Table], world: int) -> None:
    plan = placed(tables, world)
    assert list(plan) == [table.name for table in tables]
    assert [sum(part.size for part in plan[table.name]) for table in tables] == [t.rows * t.width for t in tables]


@given(st.integers(1, 50), st.integers(1, 50), worlds)
def test_rows_and_columns_are_cut_evenly(rows: int, width: int, world: int) -> None:
    table = Table("ids", rows, width)
    for parts, lengths in (
        (row_wise(table, world), [part.rows for part in row_wise(table, world)]),
        (column_wise(table, world), [part.columns for part in column_wise(table, world)]),
    ):
        check([table], {"ids": parts}, world)
        assert max(lengths) - min(lengths) <= 1


@pytest.mark.parametrize(
    ("plan", "problem"),
    [
        ({}, "table 'ids' is not in the plan"),
        ({"ids": table_wise(TABLE, 0), "other": ()}, "table 'other' is in the plan, and there is no such table"),
        ({"ids": table_wise(TABLE, 2)}, "table 'ids' of 10 x 4: a part is on rank 2, and there are 2"),
        ({"ids": (Part(0, 0, 10, 0, 4), Part(1, 5, 5, 0, 4))}, "two parts hold the same row and column"),
        ({"ids": (Part(0, 0, 5, 0, 4),)}, "parts side by side hold the same rows, and together all of them"),
        ({"ids": (Part(0, 0, 10, 0, 2),)}, "its parts don't hold all of it"),
        ({"ids": (Part(0, 0, 5, 0, 4), Part(0, 5, 5, 0, 4))}, "a rank holds one part of a table"),
        ({"ids": (Part(EVERY, 0, 5, 0, 4), Part(0, 5, 5, 0, 4))}, "a table that every rank holds is held whole"),
        ({"ids": (Part(0, 0, 11, 0, 4),)}, "does not lie within it"),
    ],
)
def test_what_a_plan_lacks_is_named(plan: dict[str, tuple[Part, ...]], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        check([TABLE], plan, 2)


def test_two_tables_of_one_name_are_named() -> None:
    with pytest.raises(ValueError, match="two tables are called 'ids'"):
        check([TABLE, TABLE], {"ids": replicated(TABLE)}, 1)


def test_small_tables_are_everywhere_large_ones_cut_by_rows_and_the_rest_whole() -> None:
    chosen = [
        Table("large", 100_000, 16),
        Table("middle", 20_000, 16),
        Table("also", 19_999, 16),
        Table("small", 9, 16),
    ]
    plan = placed(chosen, 2)
    assert plan["large"] == row_wise(chosen[0], 2)
    assert plan["middle"] == table_wise(chosen[1], 0)
    assert plan["also"] == table_wise(chosen[2], 1)
    assert plan["small"] == replicated(chosen[3])


def test_a_table_that_does_not_fit_is_named() -> None:
    chosen = [Table("small", 9, 16), Table("large", 1_000_000, 64)]
    with pytest.raises(ValueError, match=r"table 'large' of 488 MiB doesn't fit: a rank would hold 244 MiB of tables"):
        placed(chosen, 2, optimizer="adagrad", memory=200 * 2**20)
    assert len(placed(chosen, 2, optimizer="adagrad", memory=300 * 2**20)["large"]) == 2


def test_what_optimizers_remember_counts() -> None:
    assert [numbers_per_row(TABLE, each) for each in ("sgd", "adagrad", "rowwise_adagrad")] == [4, 8, 5]


@given(st.integers(1, 1000), st.data())
def test_an_id_lies_in_the_bucket_that_its_edges_say(rows: int, data: st.DataObject) -> None:
    each = data.draw(st.integers(0, rows - 1))
    bucket = each * BUCKETS // rows
    edges = bucket_edges(rows)
    assert edges[bucket] <= each < edges[bucket + 1]


def test_hot_rows_are_cut_so_that_ranks_do_alike() -> None:
    table = Table("hot", 6400, 8)
    lookups = {"hot": [90.0] + [10.0 / 63] * 63}
    plan = {"hot": row_wise(table, 2)}
    assert imbalance(loads([table], plan, lookups, 2)) > 0.8
    after = rebalanced([table], plan, lookups, 2)
    check([table], after, 2)
    assert imbalance(loads([table], after, lookups, 2)) < 0.05


def test_hot_tables_go_to_the_rank_that_does_least_and_one_too_hot_is_cut() -> None:
    chosen = [Table(name, 640, 8) for name in "abcd"]
    together = {name: table_wise(table, 0) for name, table in zip("abcd", chosen, strict=True)}
    even = {name: [1.0] * BUCKETS for name in "abcd"}
    assert sorted(parts[0].rank for parts in rebalanced(chosen, together, even, 2).values()) == [0, 0, 1, 1]
    after = rebalanced(chosen, together, even | {"a": [100.0] * BUCKETS}, 2)
    assert [len(after[name]) for name in "abcd"] == [2, 1, 1, 1]


def test_what_is_even_stays_as_it_is() -> None:
    plan = {"ids": row_wise(TABLE, 2)}
    assert rebalanced([TABLE], plan, {"ids": [1.0] * BUCKETS}, 2) is plan
    assert rebalanced([TABLE], plan, {"ids": [0.0] * BUCKETS}, 2) is plan


@given(tables, worlds, st.data())
def test_a_rebalanced_plan_is_whole_and_never_worse(tables: list[Table], world: int, data: st.DataObject) -> None:
    counts = st.lists(st.integers(0, 1000), min_size=BUCKETS, max_size=BUCKETS)
    few = st.lists(counts, min_size=1, max_size=2)
    drawn = data.draw(few)
    lookups = {table.name: drawn[number % len(drawn)] for number, table in enumerate(tables)}
    plan = placed(tables, world)
    after = rebalanced(tables, plan, lookups, world, tolerance=0.0)
    check(tables, after, world)
    assert imbalance(loads(tables, after, lookups, world)) <= imbalance(loads(tables, plan, lookups, world)) + 1e-9
