"""The page that says which engine can do what, from the engines' own support tables."""

from __future__ import annotations

from couler_py.backends.base import Support, backend
from couler_py.backends.features import FEATURES

ENGINES = ("local", "argo", "airflow")
HEAD = """# What each engine can do

Every engine answers for every feature of a workflow. `couler engines` prints this table, and `couler engines argo`
the reasons. Compiling a workflow that uses what an engine can't do fails, and names every such place at once.

| word | meaning |
|---|---|
| <span class="level native">native</span> | the engine has it |
| <span class="level lowered">lowered</span> | said by a rewrite that means the same; how, stands below it |
| <span class="level emulated">emulated</span> | done in another way, with what differs said below it |
| <span class="level never">never</span> | the engine can't do it, and why |

The column of Airflow is that of pods; processes of its workers (`-O operators=local`) have no volumes, sidecars and
secrets. An engine can be [added by another package](guides/engines.md).

"""


def files() -> dict[str, str]:
    """The page by its path below docs/."""
    tables = {name: {row.feature: row for row in backend(name).support()} for name in ENGINES}
    lines = [f"| feature | {' | '.join(ENGINES)} |", f"|---|{'---|' * len(ENGINES)}"]
    for feature, what in FEATURES.items():
        cells = [_cell(table[feature]) for table in tables.values()]
        lines.append(f"| `{feature}`<br>{what} | {' | '.join(cells)} |")
    return {"matrix.md": HEAD + "\n".join(lines) + "\n"}


def _cell(row: Support) -> str:
    level = f'<span class="level {row.level}">{row.level}</span>'
    return f"{level}<br>{row.by.replace('|', '&#124;')}" if row.by else level
