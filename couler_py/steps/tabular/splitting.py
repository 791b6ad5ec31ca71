"""A table in two parts: one to learn from, one that no model sees before the end."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from couler_py import step
from couler_py.steps.tabular.tables import TABLES, demand, read_table


class Split(NamedTuple):
    """Two tables of the same columns, as CSV, and how many rows each has."""

    train: Path
    test: Path
    train_rows: int
    test_rows: int


@step(packages=TABLES)
def train_test_split(data: Path, test_size: float = 0.25, seed: int = 0, stratify: str = "") -> Split:
    """Split the rows of a table in two, the same way each time; with `stratify`, each value of that column alike.

    Raises `ValueError` for what is no table, a column that isn't there, and shares that leave a part empty.

    >>> parts = train_test_split(data, test_size=0.2, stratify="species")  # doctest: +SKIP
    """
    from sklearn.model_selection import train_test_split as split

    table = read_table(data)
    if stratify:
        demand(table, [stratify], data)
    by = table[stratify] if stratify else None
    train, test = split(table, test_size=test_size, random_state=seed, stratify=by)
    found = Split(Path("train.csv"), Path("test.csv"), len(train), len(test))
    train.to_csv(found.train, index=False)
    test.to_csv(found.test, index=False)
    return found
