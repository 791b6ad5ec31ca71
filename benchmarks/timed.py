"""What every program that is timed does: build one graph, print what that took as JSON.

Arguments: shape, tasks, "shared" or "distinct"; with "text" after them, the text itself is printed instead.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable

from shapes import SHAPES

_MAXRSS_UNIT = 1 if sys.platform == "darwin" else 1024  # getrusage(2): bytes on macOS, KiB on Linux


def main(build: Callable[[list[list[int]], bool], str]) -> None:
    """Time a compiler: `build` takes the graph, and whether each task has a template of its own; it gives the text."""
    shape, n, distinct = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "distinct"
    start = time.perf_counter()
    build(SHAPES[shape](10), distinct)  # loads what is only loaded when used: told apart, for every compiler
    first = time.perf_counter() - start
    waits = SHAPES[shape](n)
    start, cpu = time.perf_counter(), time.process_time()
    text = build(waits, distinct)
    took = {
        "seconds": time.perf_counter() - start,
        "cpu_seconds": time.process_time() - cpu,
        "first_seconds": first,
        "bytes": len(text.encode()),
        "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _MAXRSS_UNIT,
    }
    print(text if "text" in sys.argv[4:] else json.dumps(took))
