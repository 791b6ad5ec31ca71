"""`couler plan` of large graphs: how long it takes, and each pass in it."""

from __future__ import annotations

import json
from typing import Any

from engine import Verdict
from programs import HERE, OURS, output

TASKS = 100_000
SHAPES = ("chain", "wide", "layered")
OPTIONS: tuple[dict[str, Any], ...] = ({}, {"drop_order_edges": True}, {"split": "tasks=2000"})
MOST_SECONDS = 10.0


def measure(scale: int) -> list[dict[str, Any]]:
    """Processor seconds by what a plan is made of, in a new process each."""
    print(f"\nPlans of {TASKS // scale:,} tasks, processor seconds")
    rows = []
    for shape in SHAPES:
        for options in OPTIONS:
            took = json.loads(output(OURS, HERE / "ours_plan.py", shape, TASKS // scale, json.dumps(options)))
            asked = ", ".join(f"{name}={value}" for name, value in options.items()) or "-"
            rows.append({"shape": shape, "options": options, "took": took})
            told = ", ".join(f"{name} {seconds:.1f}" for name, seconds in took.items() if seconds >= 0.05)
            print(f"  {shape:<9}{asked:<23}{sum(took.values()):>6.1f}   {told}", flush=True)
    return rows


def verdicts(found: list[dict[str, Any]] | None) -> list[Verdict]:
    """What is promised about plans."""
    if found is None:
        return []
    slowest = max(sum(row["took"].values()) for row in found if not row["options"])
    return [
        (f"a plan of {TASKS:,} tasks in less than {MOST_SECONDS:.0f} s", f"{slowest:.1f} s", slowest < MOST_SECONDS)
    ]
