"""The replayed scenarios as pictures: what is made again, by budget."""

from __future__ import annotations

from pathlib import Path
from typing import Any

SHOWN = ("none", "fifo", "lru", "lfu", "gdsf", "couler", "foresight", "optimum")


def draw(rows: list[dict[str, Any]], folder: Path) -> None:
    """Write `cache-SCENARIO.svg` for each scenario, all ways of working together."""
    import matplotlib as mpl

    mpl.use("svg")
    import matplotlib.pyplot as plt

    for scenario in dict.fromkeys(row["scenario"] for row in rows):
        own = [row for row in rows if row["scenario"] == scenario]
        budgets = sorted({row["tenths"] for row in own})
        figure, axes = plt.subplots(figsize=(7, 4.5))
        for name in SHOWN:
            hours = [sum(row[name] for row in own if row["tenths"] == tenths) / 3600 for tenths in budgets]
            line = {"optimum": "k--", "foresight": "C6-"}.get(name, "-")
            axes.plot([10 * tenths for tenths in budgets], hours, line, label=name, lw=2 if name == "foresight" else 1)
        axes.set_xlabel("budget, % of what has to be held for nothing to be made twice")
        axes.set_ylabel("hours made again, all seeds")
        axes.set_title(f"{scenario}: one run, sweeps and edits")
        axes.legend()
        figure.tight_layout()
        path = folder / f"cache-{scenario}.svg"
        figure.savefig(path)
        plt.close(figure)
        print(f"wrote {path.relative_to(folder.parent)}")
