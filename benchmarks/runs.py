"""What every program that runs a graph does: run it, time that, check that every task ran, print JSON.

Arguments: shape, tasks, "commands" (each task starts `true`) or "python" (each task calls a function that does
nothing). What is timed goes from the first line that describes the graph to the end of its last task; what a
program loads, and servers that it starts, come before.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from shapes import SHAPES

MAXRSS_UNIT = 1 if sys.platform == "darwin" else 1024  # getrusage(2): bytes on macOS, KiB on Linux
Run = Callable[[list[list[int]], bool, Path], int]
"""Runs a graph, of commands or else of functions, in an empty folder; gives how many tasks succeeded."""


def main(run: Run, warm: int = 10) -> None:
    """Time a runner. A graph of `warm` tasks goes first, untimed: it loads what is loaded when first used."""
    shape, n, commands = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "commands"
    with _folder() as folder:
        if warm:
            _checked(run, warm, shape, commands, Path(folder) / "warm")
        before = _processors()
        start = time.perf_counter()
        _checked(run, n, shape, commands, Path(folder) / "run")
        seconds = time.perf_counter() - start
        took = {
            "seconds": seconds,
            "tasks_per_second": n / seconds,
            "cpu_seconds": _processors() - before,
            "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * MAXRSS_UNIT,
        }
    print(json.dumps(took))


def _folder() -> AbstractContextManager[str]:
    """An empty folder. Where `COULER_BENCH` names one around, it stays until all is measured.

    ext4 passes over what was deleted in the last minute when it looks for room for a new file, so that whoever comes
    after a large folder was deleted would pay for it.
    """
    around = os.environ.get("COULER_BENCH")
    if around:
        return nullcontext(tempfile.mkdtemp(prefix="run-", dir=around))
    return tempfile.TemporaryDirectory(prefix="couler-bench-")


def _checked(run: Run, n: int, shape: str, commands: bool, folder: Path) -> None:
    folder.mkdir()
    done = run(SHAPES[shape](n), commands, folder)
    if done != n:
        raise SystemExit(f"{done} of {n} tasks succeeded")


def _processors() -> float:
    """Processor seconds of this process and of those that it has waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)
