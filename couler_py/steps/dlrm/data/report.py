"""What a table is like, for who sizes and trains on it: clicks, gaps, categories, collisions, growth."""

from __future__ import annotations

from typing import Any

import numpy as np

from couler_py.steps.dlrm.data.counting import Distinct, growth
from couler_py.steps.dlrm.data.encoding import RARE, Table, expected_collisions
from couler_py.steps.dlrm.data.rows import Array, Rows
from couler_py.steps.dlrm.data.schema import Schema

POINTS = 2  # growth is noted whenever there are so many times as many rows as before


class Seen:
    """Counts over rows that pass by."""

    def __init__(self, schema: Schema, tables: list[Table]):
        self.schema, self.tables = schema, tables
        self.rows = self.clicks = 0
        self.dense_missing = np.zeros(len(schema.dense), np.int64)
        self.sparse_missing = np.zeros(len(schema.sparse), np.int64)
        self.rare = np.zeros(len(schema.sparse), np.int64)
        self.distinct = [Distinct() for _ in schema.sparse]
        self.used = [np.zeros(each.rows, bool) for each in tables]
        self.points: list[tuple[int, list[int]]] = []

    def add(self, rows: Rows, places: Array) -> None:
        """See some rows and their places in the tables."""
        self.rows += len(rows)
        self.clicks += int(rows.label.sum())
        self.dense_missing += len(rows) - rows.dense_known.sum(axis=0)
        self.sparse_missing += len(rows) - rows.sparse_known.sum(axis=0)
        for column, (table, distinct, used) in enumerate(zip(self.tables, self.distinct, self.used, strict=True)):
            known = rows.sparse_known[:, column]
            distinct.add(rows.sparse[known, column])
            mine = places[known, column]
            used[mine] = True
            if table.method == "dictionary":
                self.rare[column] += int((mine == RARE).sum())
        if not self.points or self.rows >= POINTS * self.points[-1][0]:
            self.points.append((self.rows, [each.estimate() for each in self.distinct]))


def report(seen: Seen, quarantined: dict[str, int], seconds: float) -> dict[str, Any]:
    """What was seen, as JSON. Shares are of all rows; with hashing, `distinct` is an estimate above
    16,384, as are the points of growth (see `Distinct`)."""
    points = seen.points
    if points and points[-1][0] < seen.rows:
        points = [*points, (seen.rows, [each.estimate() for each in seen.distinct])]
    return {
        "rows": seen.rows,
        "quarantined": {"rows": sum(quarantined.values()), "by": dict(sorted(quarantined.items()))},
        "click_rate": seen.clicks / max(1, seen.rows),
        "dense": {
            name: {"missing": int(count) / max(1, seen.rows)}
            for name, count in zip(seen.schema.dense, seen.dense_missing, strict=True)
        },
        "sparse": {
            table.column: _column(seen, column, [(rows, counts[column]) for rows, counts in points])
            for column, table in enumerate(seen.tables)
        },
        "embedding_rows": sum(table.rows for table in seen.tables),
        "seconds": round(seconds, 3),
        "rows_per_second": round(seen.rows / seconds) if seconds else 0,
    }


def _column(seen: Seen, column: int, points: list[tuple[int, int]]) -> dict[str, Any]:
    table, rows = seen.tables[column], max(1, seen.rows)
    distinct, used = table.distinct or seen.distinct[column].estimate(), int(seen.used[column].sum())
    told: dict[str, Any] = {
        "method": table.method,
        "table_rows": table.rows,
        "used_rows": used,
        "distinct": distinct,
        "missing": int(seen.sparse_missing[column]) / rows,
    }
    if table.method == "hash":
        collisions = max(0, distinct - used)
        told |= {
            "collisions": collisions,
            "collision_rate": collisions / max(1, distinct),
            "expected_collisions": round(expected_collisions(distinct, table.rows - 1), 1),
        }
    else:
        told |= {"threshold": table.threshold, "rare": int(seen.rare[column]) / rows}
    law = growth(points[len(points) // 2 :] if len(points) > 3 else points)
    told["growth"] = {"points": points}
    if law is not None:
        told["growth"] |= {"exponent": law.exponent, "factor": law.factor, "at_ten_times": round(law.after(10 * rows))}
    return told
