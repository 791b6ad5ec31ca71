"""Measure everything, print it, and write build/bench.json. Started by `benchmarks/run`, which makes environments."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import cache
import compilers
import engine
import passes
import plans
import scale
import startup
import view
import writer
from dlrm import planning as dlrm
from hybrid import marks as hybrid_marks
from hybrid import tables as hybrid
from lora import planning as lora
from programs import usable_processors
from split import table as split
from sweep import table as sweep

ROOT = Path(__file__).parents[1]
PARTS = (
    "startup",
    "compilers",
    "writer",
    "engine",
    "scale",
    "view",
    "split",
    "plans",
    "passes",
    "cache",
    "sweep",
    "hybrid",
    "lora",
    "dlrm",
)
BUSY = 0.5  # of the processors: above that load, times of the clock say more about the others


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks/run", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the tasks")
    parser.add_argument("--rounds", type=int, default=3, help="the best of so many counts (3)")
    parser.add_argument("--only", choices=PARTS, action="append", help="one part, or several")
    options = parser.parse_args()
    less = 10 if options.quick else 1
    found: dict[str, Any] = {"machine": machine(), "parts": {}}
    say_machine(found["machine"])
    parts = {
        "startup": lambda: startup.measure(options.rounds),
        "compilers": lambda: compilers.measure(options.rounds, less),
        "writer": lambda: writer.measure(options.rounds, less),
        "engine": lambda: engine.measure(min(options.rounds, 2), less),  # peers take their time
        "scale": lambda: scale.measure(less),
        "view": lambda: view.measure(options.rounds, less),
        "split": lambda: split.measure(less),
        "plans": lambda: plans.measure(less),
        "passes": lambda: passes.measure(options.rounds),
        "cache": lambda: cache.measure(less),
        "sweep": lambda: sweep.measure(less),
        "hybrid": lambda: hybrid.measure(less),
        "lora": lambda: lora.measure(less),
        "dlrm": lambda: dlrm.measure(less),
    }
    with tempfile.TemporaryDirectory(prefix="couler-bench-") as around:
        os.environ["COULER_BENCH"] = around  # see `runs`
        for name, measure in parts.items():
            if options.only is None or name in options.only:
                found["parts"][name] = measure()
    found["machine"]["load_at_end"] = os.getloadavg()[0]
    say_load(found["machine"]["load_at_end"], "at the end")
    if not options.quick:
        say_verdicts(found["parts"])
    path = ROOT / "build" / "bench.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(found, indent=2) + "\n")
    print(f"\nwrote {path.relative_to(ROOT)}")


def machine() -> dict[str, Any]:
    """What was measured on."""
    return {
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "system": f"{platform.system()} {platform.machine()}",
        "processor": processor(),
        "processors": usable_processors(),
        "python": platform.python_version(),
        "load_at_start": os.getloadavg()[0],
    }


def processor() -> str:
    """The name of the processor, where the system says it."""
    if Path("/proc/cpuinfo").exists():
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown"


def say_machine(known: dict[str, Any]) -> None:
    print(f"{known['processors']} processors ({known['processor']}), {known['system']}, Python {known['python']}")
    say_load(known["load_at_start"], "at the start")


def say_load(load: float, when: str) -> None:
    print(f"load {when}: {load:.1f}", flush=True)
    if load > BUSY * usable_processors():
        print(
            "WARNING: the machine is busy with something else. Seconds of the clock are too high; seconds of the "
            "processor (cpu) and the ratios are nearer to what a quiet machine shows.",
            file=sys.stderr,
        )


def say_verdicts(parts: dict[str, Any]) -> None:
    """The bounds that the project promises, and what was found."""
    lines = [
        *startup.verdicts(parts.get("startup")),
        *compilers.verdicts(parts.get("compilers")),
        *engine.verdicts(parts.get("engine")),
        *scale.verdicts(parts.get("scale")),
        *view.verdicts(parts.get("view")),
        *split.verdicts(parts.get("split")),
        *plans.verdicts(parts.get("plans")),
        *passes.verdicts(parts.get("passes")),
        *cache.verdicts(parts.get("cache")),
        *sweep.verdicts(parts.get("sweep")),
        *hybrid_marks.verdicts(parts.get("hybrid")),
        *lora.verdicts(parts.get("lora")),
        *dlrm.verdicts(parts.get("dlrm")),
    ]
    if lines:
        print("\nPromised")
    for promise, value, held in lines:
        print(f"  {'holds' if held else 'BROKEN':<7} {promise}: {value}")


if __name__ == "__main__":
    main()
