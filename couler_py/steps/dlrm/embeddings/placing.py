"""Which rank holds which rows and columns of which table: pure, the same on every rank. No torch here."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

SMALL = 1 << 16
"""Bytes of a table below which every rank has all of it: cheaper to average than to send for."""


class Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An embedding table: one row for each id of one feature. A bag of ids is pooled to one vector."""

    name: str
    rows: int
    width: int
    pooling: Literal["sum", "mean"] = "sum"

    def __post_init__(self) -> None:
        if self.rows < 1 or self.width < 1:
            raise ValueError(f"table {self.name!r} has {self.rows} rows of {self.width} numbers: both are at least 1")


class Part(msgspec.Struct, frozen=True, array_like=True):
    """A box of a table, and the rank that holds it; -1 is every rank."""

    rank: int
    row: int
    rows: int
    column: int
    columns: int

    @property
    def size(self) -> int:
        """Its numbers."""
        return self.rows * self.columns


Plan = dict[str, tuple[Part, ...]]
"""The parts of each table, by its name, in the order of their rows and columns."""
EVERY = -1


def table_wise(table: Table, rank: int) -> tuple[Part, ...]:
    """All of a table on one rank."""
    return (Part(rank, 0, table.rows, 0, table.width),)


def replicated(table: Table) -> tuple[Part, ...]:
    """All of a table on every rank."""
    return table_wise(table, EVERY)


def row_wise(table: Table, world: int, cuts: Sequence[int] | None = None) -> tuple[Part, ...]:
    """A run of rows on each rank: equal ones, or cut before the rows that are named.

    >>> [(part.rank, part.row, part.rows) for part in row_wise(Table("ids", 5, 4), 2)]
    [(0, 0, 3), (1, 3, 2)]
    """
    inner = _even(table.rows, world) if cuts is None else [0, *cuts, table.rows]
    return tuple(
        Part(rank, first, last - first, 0, table.width)
        for rank, (first, last) in enumerate(itertools.pairwise(inner))
        if last > first
    )


def column_wise(table: Table, world: int) -> tuple[Part, ...]:
    """A run of columns on each rank."""
    edges = _even(table.width, world)
    return tuple(
        Part(rank, 0, table.rows, first, last - first)
        for rank, (first, last) in enumerate(itertools.pairwise(edges))
        if last > first
    )


def _even(length: int, parts: int) -> list[int]:
    each, more = divmod(length, parts)
    return [number * each + min(number, more) for number in range(parts + 1)]


def check(tables: Sequence[Table], plan: Mapping[str, Sequence[Part]], world: int) -> None:
    """Raises `ValueError`, naming the table, where a plan leaves out or doubles a row, column, table or rank.

    Tables that are silently missing from a plan, and so from the training, have happened elsewhere (pytorch/torchrec,
    pull request 3652).
    """
    doubled = [name for name, count in Counter(table.name for table in tables).items() if count > 1]
    if doubled:
        raise ValueError(f"two tables are called {doubled[0]!r}")
    names = {table.name for table in tables}
    if odd := sorted(names ^ plan.keys()):
        where = "is not in the plan" if odd[0] in names else "is in the plan, and there is no such table"
        raise ValueError(f"table {odd[0]!r} {where}")
    for table in tables:
        problem = _problem(table, plan[table.name], world)
        if problem:
            raise ValueError(f"table {table.name!r} of {table.rows} x {table.width}: {problem}")


def _problem(table: Table, parts: Sequence[Part], world: int) -> str | None:
    if any(part.rank == EVERY for part in parts):
        whole = len(parts) == 1 and parts[0] == replicated(table)[0]
        return None if whole else "a table that every rank holds is held whole"
    ranks = [part.rank for part in parts]
    if any(not 0 <= rank < world for rank in ranks):
        return f"a part is on rank {max(ranks)}, and there are {world}"
    if len(set(ranks)) < len(ranks):
        return "a rank holds one part of a table: give it a larger one"
    for part in parts:
        within = part.row >= 0 and part.row + part.rows <= table.rows
        if not within or part.column < 0 or part.column + part.columns > table.width or part.size < 1:
            return f"{part} does not lie within it"
    for number, one in enumerate(parts):
        if any(_meet(one, other) for other in parts[number + 1 :]):
            return "two parts hold the same row and column"
    bands = {(part.row, part.rows) for part in parts}
    if sum(rows for _, rows in bands) != table.rows:
        return "parts side by side hold the same rows, and together all of them"
    for band in bands:
        if sum(part.columns for part in parts if (part.row, part.rows) == band) != table.width:
            return "its parts don't hold all of it"
    return None


def _meet(one: Part, other: Part) -> bool:
    rows = max(one.row, other.row) < min(one.row + one.rows, other.row + other.rows)
    return rows and max(one.column, other.column) < min(one.column + one.columns, other.column + other.columns)


def numbers_per_row(table: Table, optimizer: str) -> float:
    """Numbers that one row costs, with what its optimizer remembers: none, one a number (Adagrad), or one a row."""
    return {"sgd": 1.0, "adagrad": 2.0, "rowwise_adagrad": 1 + 1 / table.width}[optimizer] * table.width


def placed(
    tables: Sequence[Table], world: int, *, optimizer: str = "sgd", width: int = 4, memory: float | None = None
) -> Plan:
    """A plan for so many ranks: small tables on all, those that would fill half a rank by rows, others whole.

    `memory` is the bytes of a rank, of which nine tenths are used; without it, half is taken of a rank's share of all
    tables. `width` is the bytes of a number. The largest table goes first, to the rank that has least.
    Raises `ValueError` where it doesn't fit, naming the table.

    >>> plan = placed([Table("large", 9999, 8), Table("middle", 3000, 8), Table("small", 9, 8)], 2)
    >>> {name: [part.rank for part in parts] for name, parts in plan.items()}
    {'large': [0, 1], 'middle': [0], 'small': [-1]}
    """
    sizes = {table.name: table.rows * numbers_per_row(table, optimizer) * width for table in tables}
    small = [table for table in tables if table.rows * table.width * width < SMALL]
    budget = 0.9 * memory if memory is not None else sum(sizes.values()) / world
    held = [sum(sizes[table.name] for table in small)] * world
    plan: Plan = {table.name: replicated(table) for table in small}
    others = [table for table in tables if table.name not in plan]
    for table in sorted(others, key=lambda each: (-sizes[each.name], each.name)):
        by_rows = world > 1 and sizes[table.name] > budget / 2
        rank = min(range(world), key=lambda each: (held[each], each))
        plan[table.name] = row_wise(table, world) if by_rows else table_wise(table, rank)
        for part in plan[table.name]:
            held[part.rank] += sizes[table.name] * part.size / (table.rows * table.width)
        if memory is not None and max(held) > budget:
            raise ValueError(
                f"table {table.name!r} of {sizes[table.name] / 2**20:.0f} MiB doesn't fit: a rank would hold "
                f"{max(held) / 2**20:.0f} MiB of tables, and nine tenths of its memory are {budget / 2**20:.0f}: "
                "take more ranks, fewer rows, or an optimizer that remembers less"
            )
    check(tables, plan, world)
    return {table.name: plan[table.name] for table in tables}
