"""Automatic caching: the paper's scenarios replayed under every policy, and real runs of the embedded engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cache import plots, real, replayed

BUILD = Path(__file__).parents[2] / "build"
Verdict = tuple[str, str, bool]


def measure(less: int) -> dict[str, Any]:
    """Replay and run, print tables, and write plots to `build/`. `less` divides the number of seeds."""
    found = {"replayed": replayed.measure(max(1, replayed.SEEDS // less)), "real": real.measure()}
    BUILD.mkdir(exist_ok=True)
    plots.draw(found["replayed"], BUILD)
    return found


def verdicts(found: dict[str, Any] | None) -> list[Verdict]:
    """What is promised about caching."""
    if found is None:
        return []
    return [*replayed.verdicts(found["replayed"]), *real.verdicts(found["real"])]
