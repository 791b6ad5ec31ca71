"""Hot tables and hot rows: what ranks look up is measured, and where one does too much, parts move. No torch here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from couler_py.steps.dlrm.embeddings.placing import EVERY, Part, Plan, Table, row_wise, table_wise

BUCKETS = 64
"""Runs of rows of a table whose lookups are counted apart."""

Lookups = Mapping[str, Sequence[float]]
"""How often ids of each bucket of each table were looked up."""


def bucket_edges(rows: int) -> list[int]:
    """The first row of each bucket, and where the last ends: id i is in bucket i * BUCKETS // rows.

    >>> bucket_edges(128)[:3], bucket_edges(2)[-2:]
    ([0, 2, 4], [2, 2])
    """
    return [-(-number * rows // BUCKETS) for number in range(BUCKETS + 1)]


def loads(tables: Sequence[Table], plan: Mapping[str, Sequence[Part]], lookups: Lookups, world: int) -> list[float]:
    """Numbers that each rank reads for what was looked up; within a bucket, rows count alike."""
    found = [0.0] * world
    for table in tables:
        for part in plan[table.name]:
            if part.rank != EVERY:
                found[part.rank] += part.columns * _within(table, lookups[table.name], part.row, part.row + part.rows)
    return found


def imbalance(found: Sequence[float]) -> float:
    """How much more than the mean the busiest rank does.

    >>> imbalance([1.0, 3.0])
    0.5
    """
    total = sum(found)
    return max(found) * len(found) / total - 1 if total else 0.0


def rebalanced(tables: Sequence[Table], plan: Plan, lookups: Lookups, world: int, *, tolerance: float = 0.2) -> Plan:
    """A plan in which no rank does much more than the mean; the given one where it is so already, or none is better.

    Tables that are cut by rows are cut where each rank gets an equal part of the lookups. Whole ones go to the rank
    that does least, the busiest first; one that alone is more than a rank's share is cut by rows. What is cut by
    columns or held by every rank stays. Memory isn't looked at: rows of a table cost where they lie.
    """
    before = imbalance(loads(tables, plan, lookups, world))
    if before <= tolerance:
        return plan
    by_name = {table.name: table for table in tables}
    share = sum(loads(tables, plan, lookups, world)) / world
    found: Plan = {}
    whole: list[tuple[float, Table]] = []
    for name, parts in plan.items():
        table = by_name[name]
        load = table.width * sum(lookups[name])
        by_rows = len(parts) > 1 and all(part.columns == table.width for part in parts)
        if by_rows or (len(parts) == 1 and parts[0].rank != EVERY and load > share and table.rows >= world):
            found[name] = row_wise(table, world, _cuts(table, lookups[name], world))
        elif len(parts) == 1 and parts[0].rank != EVERY:
            whole.append((load, table))
        else:
            found[name] = parts
    done = loads([by_name[name] for name in found], found, lookups, world)
    for load, table in sorted(whole, key=lambda each: (-each[0], each[1].name)):
        rank = min(range(world), key=lambda each: (done[each], each))
        found[table.name] = table_wise(table, rank)
        done[rank] += load
    if imbalance(done) >= before:
        return plan
    return {table.name: found[table.name] for table in tables}


def _within(table: Table, counts: Sequence[float], first: int, last: int) -> float:
    edges = bucket_edges(table.rows)
    total = 0.0
    for count, begin, end in zip(counts, edges[:-1], edges[1:], strict=True):
        common = min(last, end) - max(first, begin)
        if count and common > 0:
            total += count * common / (end - begin)
    return total


def _cuts(table: Table, counts: Sequence[float], world: int) -> list[int]:
    """Rows before which a table is cut so that parts are looked up alike; every part has a row, where there are so
    many."""
    edges, total = bucket_edges(table.rows), sum(counts)
    if not total:
        return [part.row for part in row_wise(table, world)][1:]
    cuts: list[int] = []
    for number in range(1, world):
        wanted, passed, cut = total * number / world, 0.0, table.rows
        for count, begin, end in zip(counts, edges[:-1], edges[1:], strict=True):
            if passed + count >= wanted:
                cut = begin + round((end - begin) * (wanted - passed) / count)
                break
            passed += count
        least = (cuts[-1] if cuts else 0) + 1
        cuts.append(max(min(cut, table.rows - (world - number)), min(least, table.rows)))
    return cuts
