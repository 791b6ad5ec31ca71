"""Memory of a server, report by report, by formulas: flat, in a line, by Heaps' law, in stairs, in teeth of a saw."""

from __future__ import annotations

from typing import Any

import numpy as np

from couler_py.steps.dlrm.planning.memory import Alarm, Watch

LIMIT = 100.0
REPORTS = 400
GROWING = ("linear", "heaps 0.64", "heaps 0.83", "heaps 0.94", "stairs")
STEADY = ("flat", "saw", "one step")


def trace(kind: str, seed: int) -> Any:
    """So many reports (`REPORTS`,), with noise of half a part in a hundred; growing ones pass the limit."""
    drawn = np.random.default_rng(seed)
    at, base = np.arange(REPORTS), drawn.uniform(10, 30)
    full = drawn.uniform(60, 350)
    top = drawn.uniform(40, 80)
    match kind.split():
        case ["flat"]:
            found = np.full(REPORTS, top)
        case ["saw"]:
            found = base + (top - base) * (at % (period := drawn.integers(5, 40))) / period
        case ["one", "step"]:
            found = np.where(at < full, base, top)
        case ["linear"]:
            found = base + (LIMIT - base) * at / full
        case ["heaps", exponent]:
            found = base + (LIMIT - base) * (at / full) ** float(exponent)
        case _:
            rise, every = drawn.uniform(2, 8), drawn.integers(3, 12)
            found = base + rise * (at // every)
    return found * (1 + 0.005 * drawn.standard_normal(REPORTS))


def alarm(values: Any, lead: int = 4) -> tuple[Alarm | None, int | None]:
    """The first alarm, and the report at which the limit is reached, if it is."""
    over = np.flatnonzero(values >= LIMIT)
    full = int(over[0]) if len(over) else None
    watch = Watch(LIMIT, lead)
    for value in values[:full]:
        found = watch.report(float(value))
        if found is not None:
            return found, full
    return None, full
