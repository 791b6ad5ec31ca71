"""`couler engines`: the matrix of what each engine can do, from their support tables."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from couler_py.backends.base import Support, backend, installed
from couler_py.backends.features import FEATURES
from couler_py.cli.console import columns, console
from couler_py.cli.options import AsJson

STYLES = {"native": "green", "lowered": "cyan", "emulated": "yellow", "never": "red"}


def command(
    engine: Annotated[str | None, typer.Argument(help="Only this engine, with how and why.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show which engine can do what."""
    names = [engine] if engine else list(installed())
    tables = {name: {row.feature: row for row in backend(name).support()} for name in names}
    if as_json:
        print(json.dumps(_plain(tables), indent=2))
        return
    out = console()
    if engine is not None:
        for line in columns(_of_one(tables[engine]), header=("FEATURE", "LEVEL", "HOW OR WHY")):
            out.print(line)
        return
    for line in columns(_matrix(tables), header=("FEATURE", *names, "WHAT")):
        out.print(line)


def _of_one(table: dict[str, Support]) -> list[list[object]]:
    return [
        [feature, _level(table.get(feature)), row.by if (row := table.get(feature)) else ""] for feature in FEATURES
    ]


def _matrix(tables: dict[str, dict[str, Support]]) -> list[list[object]]:
    return [
        [feature, *(_level(table.get(feature)) for table in tables.values()), what]
        for feature, what in FEATURES.items()
    ]


def _level(row: Support | None) -> object:
    from rich.text import Text

    level = row.level if row else "unknown"
    return Text(level, STYLES.get(level, "dim"))


def _plain(tables: dict[str, dict[str, Support]]) -> dict[str, dict[str, dict[str, str]]]:
    return {
        name: {feature: {"level": row.level, "by": row.by} for feature, row in table.items()}
        for name, table in tables.items()
    }
