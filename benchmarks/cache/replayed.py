"""The paper's three scenarios × ways of working × budgets × seeds: seconds that each policy has to make again."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from itertools import product
from typing import Any

from programs import usable_processors
from scenarios import SCENARIOS, WAYS, generate

from couler_py.passes.cache.forecast import forecast
from couler_py.passes.cache.importance import Importance
from couler_py.passes.cache.optimum import optimum
from couler_py.passes.cache.policies import POLICIES
from couler_py.passes.cache.replay import replay

SEEDS = 20
TENTHS = tuple(range(1, 11))
OTHERS = {"couler, ζ as degree": lambda: Importance(by_degree=True)}
"""Policies that are only compared with: the other reading of the paper's formula."""

COLUMNS = ("optimum", *POLICIES, *OTHERS)
Row = dict[str, Any]


def measure(seeds: int = SEEDS) -> list[Row]:
    """A row for each scenario, way and budget: the seconds made again, by policy, all seeds together."""
    cases = [(scenario, way, seed) for scenario in SCENARIOS for way in WAYS for seed in range(seeds)]
    with ProcessPoolExecutor(usable_processors()) as pool:
        found = [row for rows in pool.map(_case, *zip(*cases, strict=True)) for row in rows]
    rows = [_joined(found, *key) for key in product(SCENARIOS, WAYS, TENTHS)]
    print(f"\nCaching: seconds made again, as a multiple of the clairvoyant optimum; {seeds} seeds, budgets 10-100 %")
    print(f"{'scenario':13}{'way':7}{'optimum':>10}" + "".join(f"{name[:9]:>11}" for name in COLUMNS[1:]))
    for scenario in SCENARIOS:
        for way in (*WAYS, "all"):
            _print(scenario, way, rows)
    _print("all", "all", rows)
    return rows


def _case(scenario: str, way: str, seed: int) -> list[Row]:
    """One trace under all budgets."""
    trace = generate(scenario, way, seed)  # type: ignore[arg-type]
    rows = []
    for tenths in TENTHS:
        budget = trace.peak() * tenths // 10
        best = optimum(trace, budget)
        again = {name: replay(trace, make(), budget, forecast).again for name, make in (POLICIES | OTHERS).items()}
        rows.append(
            {"scenario": scenario, "way": way, "tenths": tenths, "bound": best.bound} | {"optimum": best.again} | again
        )
    return rows


def _joined(found: list[Row], scenario: str, way: str, tenths: int) -> Row:
    own = [row for row in found if (row["scenario"], row["way"], row["tenths"]) == (scenario, way, tenths)]
    worse = sum(row["foresight"] > row["none"] + 1e-6 for row in own)
    sums = {name: sum(row[name] for row in own) for name in (*COLUMNS, "bound")}
    return {"scenario": scenario, "way": way, "tenths": tenths, "worse_than_none": worse} | sums


def total(rows: list[Row], name: str, scenario: str = "all", way: str = "all") -> float:
    """The seconds of a column, in one scenario or way or all."""
    return sum(row[name] for row in rows if scenario in ("all", row["scenario"]) and way in ("all", row["way"]))


def _print(scenario: str, way: str, rows: list[Row]) -> None:
    best = total(rows, "bound", scenario, way)
    print(f"{scenario:13}{way:7}{best:>10.0f}", end="")
    print("".join(f"{total(rows, name, scenario, way) / best:>11.3f}" for name in COLUMNS[1:]), flush=True)


def verdicts(rows: list[Row]) -> list[tuple[str, str, bool]]:
    """What is promised: near the optimum, better than the others in every scenario, never worse than nothing."""
    excess = total(rows, "foresight") / total(rows, "bound") - 1
    by_way = {way: total(rows, "foresight", way=way) / total(rows, "bound", way=way) - 1 for way in WAYS}
    shown = ", ".join(f"{way} {value:.1%}" for way, value in by_way.items())
    made = [("caching: within 5 % of the clairvoyant optimum on average", f"{excess:.1%} ({shown})", excess <= 0.05)]
    for name in ("lru", "fifo", "couler"):
        ratios = [total(rows, name, scenario) / total(rows, "foresight", scenario) for scenario in SCENARIOS]
        text = f"makes {min(ratios):.2f} to {max(ratios):.2f} times as much again"
        made.append((f"caching: better than {name} in every scenario", text, min(ratios) > 1))
    worse = sum(row["worse_than_none"] for row in rows)
    made.append(("caching: never worse than keeping nothing", f"{worse} cases", worse == 0))
    return made
