"""What the passes save: order that no value needs, short steps in a row, many small items; and requests by history."""

from __future__ import annotations

import random
import tempfile
import time
from itertools import pairwise
from typing import Any

import couler_py as couler
from couler_py.backends.base import backend
from couler_py.backends.local.client import LocalClient
from couler_py.ir.model import Workflow
from couler_py.passes.history import Attempt
from couler_py.passes.pipeline import transform
from couler_py.passes.resources.advice import advise
from couler_py.passes.situation import Situation

WAITS, CHAIN, ITEMS, BATCH = 6, 40, 400, 50
MIB = 1024**2


@couler.step(cpu="100m")
def wait(number: int) -> int:
    import time

    time.sleep(0.3)
    return number


@couler.step
def add(number: int) -> int:
    return number + 1


@couler.workflow
def in_a_row():
    made = [wait(number) for number in range(WAITS)]
    for before, after in pairwise(made):
        before >> after
    return made[-1]


@couler.workflow
def chain():
    found = add(0)
    for _ in range(CHAIN - 1):
        found = add(found)
    return found


@couler.workflow
def items():
    return couler.map(lambda number: add(number), range(ITEMS))


CASES: dict[str, tuple[Any, dict[str, Any], str]] = {
    "order": (in_a_row, {"drop_order_edges": True}, f"{WAITS} steps of 0.3 s in a row, no value between them"),
    "chain": (chain, {"merge_chains": "all"}, f"{CHAIN} steps in a row that add 1"),
    "items": (items, {"batch_fanouts": BATCH}, f"{ITEMS} items, in batches of {BATCH}"),
}


def measure(rounds: int) -> dict[str, Any]:
    """Seconds of runs on this machine with each pass and without, the best of so many; and what requests waste."""
    found: dict[str, Any] = {}
    print("\nWhat passes save on this machine, seconds of the clock")
    print(f"  {'':52}{'as written':>12}{'changed':>10}{'times':>8}")
    for name, (written, options, about) in CASES.items():
        workflow = couler.build(written)
        changed = transform(workflow, Situation(options=options))[0]
        before = min(_run(workflow) for _ in range(rounds))
        now = min(_run(changed) for _ in range(rounds))
        found[name] = {"written": before, "changed": now}
        print(f"  {about:52}{before:12.2f}{now:10.2f}{before / now:8.1f}")
    found["resources"] = _requests()
    return found


def _run(workflow: Workflow) -> float:
    with tempfile.TemporaryDirectory(prefix="couler-bench-home-") as home:
        client = LocalClient(home)
        began = time.perf_counter()
        run = client.submit(backend("local").compile(workflow), runtime="process")
        for status in client.watch(run):
            ended = status
        assert ended.status == "Succeeded", ended.message
        return time.perf_counter() - began


def _requests() -> dict[str, dict[str, float]]:
    """Requests of memory made from the first 20 attempts of 500 steps, held against the 200 that follow."""
    chance = random.Random("couler resources")
    policies = {
        "the mean and half more": lambda peaks: 1.5 * sum(peaks) / len(peaks),
        "the most that was seen": max,
        "twice the most": lambda peaks: 2 * max(peaks),
        "ours": lambda peaks: advise("", [Attempt("Succeeded", 0, 1, memory=peak) for peak in peaks]).memory_limit,
    }
    seen = {name: {"failed": 0, "asked": 0.0, "used": 0.0} for name in policies}
    for _ in range(500):
        middle, spread = chance.uniform(64, 8192), chance.choice((0.02, 0.1, 0.25))
        trace = [int(middle * chance.lognormvariate(0, spread) * MIB) for _ in range(220)]
        for name, policy in policies.items():
            limit = float(policy(trace[:20]) or 0)
            late = trace[20:]
            seen[name]["failed"] += sum(peak > limit for peak in late)
            seen[name]["asked"] += limit * len(late)
            seen[name]["used"] += sum(late)
    print("\nLimits of memory from 20 attempts, held against 200 more (500 synthetic steps)")
    print(f"  {'':28}{'out of memory':>14}{'asked for in vain':>20}")
    found = {}
    for name, each in seen.items():
        failed, waste = each["failed"] / (500 * 200), each["asked"] / each["used"] - 1
        found[name] = {"out of memory": failed, "waste": waste}
        print(f"  {name:28}{100 * failed:12.2f} %{100 * waste:18.0f} %")
    return found


def verdicts(found: dict[str, Any] | None) -> list[tuple[str, str, bool]]:
    """The bounds that are promised, what was found, and whether it holds."""
    if not found:
        return []
    lines = []
    for name, least in (("order", 2.0), ("chain", 2.0), ("items", 2.0)):
        times = found[name]["written"] / found[name]["changed"]
        lines.append((f"{CASES[name][2]}: at least {least:g} times as fast", f"{times:.1f}", times >= least))
    ours = found["resources"]["ours"]["out of memory"]
    lines.append(("at most 1 % of attempts run out of recommended memory", f"{100 * ours:.2f} %", ours <= 0.01))
    return lines
