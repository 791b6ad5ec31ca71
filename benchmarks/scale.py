"""The embedded engine on large graphs: does what a task costs stay the same, and how much memory does it take?"""

from __future__ import annotations

import json
from typing import Any

from engine import Verdict
from programs import HERE, OURS, output

SMALL, LARGE = 10_000, 100_000
SHAPE = "layered"
MOST_MEMORY = 10**9  # bytes, of the engine's process, the graph in Python included
MOST_GROWTH = 1.3  # of what a task costs, from the small graph to the large one


def measure(scale: int) -> dict[str, Any]:
    """Processor seconds of a task, and the engine's memory, on both graphs of commands, once: it takes minutes."""
    print(f"\nLarge graphs, {SHAPE}, of commands")
    print(f"  {'tasks':>9}{'seconds':>9}{'tasks/s':>9}{'cpu ms a task':>15}{'peak MB':>9}", flush=True)
    rows = []
    for n in (SMALL // scale, LARGE // scale):
        took = json.loads(output(OURS, HERE / "ours_run.py", SHAPE, n, "commands"))
        row = {"tasks": n, "cpu_ms_per_task": took["cpu_seconds"] / n * 1000, **took}
        print(f"  {n:>9,}{row['seconds']:>9.1f}{row['tasks_per_second']:>9.0f}{row['cpu_ms_per_task']:>15.3f}", end="")
        print(f"{row['peak_bytes'] / 1e6:>9.0f}", flush=True)
        rows.append(row)
    return {"rows": rows, "growth": rows[1]["cpu_ms_per_task"] / rows[0]["cpu_ms_per_task"]}


def verdicts(found: dict[str, Any] | None) -> list[Verdict]:
    """What is promised about large graphs."""
    if found is None:
        return []
    peak, growth = found["rows"][1]["peak_bytes"], found["growth"]
    return [
        (f"a graph of {LARGE:,} tasks in less than 1 GB", f"{peak / 1e6:.0f} MB", peak < MOST_MEMORY),
        (f"a task costs the same among {LARGE:,} as among {SMALL:,}", f"{growth:.2f} times", growth < MOST_GROWTH),
    ]
