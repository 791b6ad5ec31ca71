"""Tables as data frames, and what a step demands of one; its source travels with the steps that read tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

__couler_travels__ = True

TABLES = ["pandas>=2.1", "scikit-learn>=1.4"]


def read_table(path: Path) -> Any:
    """A table as a data frame. Raises `ValueError`, naming the file, for what is no table."""
    import pandas

    with path.open("rb") as file:
        start = file.read(4)
    try:
        if start == b"PAR1":
            table = pandas.read_parquet(path)
        elif start.startswith(b"{"):
            table = pandas.read_json(path, lines=True)
        else:
            table = pandas.read_csv(path)
    except ValueError as problem:  # what pandas raises for files that it can't read is one
        raise ValueError(f"{path.name} is no table of CSV, JSON lines or Parquet: {problem}") from problem
    if table.empty:
        raise ValueError(f"{path.name} has no rows")
    return table


def demand(table: Any, names: list[str], path: Path) -> None:
    """Raises `ValueError`, naming file and column, where a table lacks one."""
    for name in names:
        if name not in table.columns:
            known = ", ".join(map(str, table.columns))
            raise ValueError(f"{path.name} has no column {name!r}; its columns are {known}")


def answers(table: Any, target: str, path: Path) -> Any:
    """The column that is to be learned. Raises `ValueError`, naming a row, where a value is missing."""
    demand(table, [target], path)
    missing = table[target].isna().to_numpy().nonzero()[0]
    if len(missing):
        raise ValueError(f"column {target!r} of {path.name} has no value in row {int(missing[0]) + 1}")
    return table[target]
