"""Our writer of YAML beside PyYAML's C dumper, on the same document."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import ours_compile
import yaml
from shapes import SHAPES

from couler_py.backends.yaml import dump

TASKS = 2_000


def measure(rounds: int, scale: int) -> dict[str, float]:
    """Seconds for the workflow of a layered graph, the best of `rounds`, taking turns."""
    document = yaml.load(ours_compile.build(SHAPES["layered"](TASKS // scale), False), yaml.CSafeLoader)

    def peer(document: Any) -> str:
        return yaml.dump(document, Dumper=yaml.CSafeDumper, sort_keys=False, width=1_000_000)

    ours = theirs = float("inf")
    for _ in range(rounds):
        ours = min(ours, _seconds(dump, document))
        theirs = min(theirs, _seconds(peer, document))
    if yaml.load(dump(document), yaml.CSafeLoader) != document:
        raise SystemExit("the writer wrote another document")
    print(f"\nYAML of {TASKS // scale:,} tasks")
    print(f"  couler-py {ours:.3f} s, PyYAML's C dumper {theirs:.3f} s: {theirs / ours:.1f} times faster")
    return {"seconds": ours, "pyyaml_seconds": theirs, "times_faster": theirs / ours}


def _seconds(write: Callable[[Any], str], document: Any) -> float:
    start = time.perf_counter()
    write(document)
    return time.perf_counter() - start
