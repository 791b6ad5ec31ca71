"""The embedded engine on steps that do nothing, beside starting the same number of bare processes."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from programs import usable_processors

import couler_py as couler
from couler_py.backends.local import execute

STEPS = 200
AT_ONCE = usable_processors()  # the engine gives each step a processor


@couler.step
def nothing(i: int) -> None:
    """Does nothing."""


def python_steps() -> Any:
    """A workflow of Python steps that don't wait for each other."""
    with couler.Workflow("nothing") as workflow:
        for i in range(STEPS):
            nothing(i)
    return workflow


def containers() -> Any:
    """The same with containers that run `true`; on this engine, a process each."""
    with couler.Workflow("nothing") as workflow:
        true = couler.container("alpine:3", ["true"], name="nothing")
        for _ in range(STEPS):
            true()
    return workflow


def measure(rounds: int) -> dict[str, Any]:
    """Steps and processes a second, `AT_ONCE` side by side, the best of `rounds`."""
    found = {}
    print(f"\nThe embedded engine: {STEPS} steps that do nothing, {AT_ONCE} at once")
    for name, workflow, command in (
        ("Python steps", python_steps(), [sys.executable, "-c", "pass"]),
        ("containers as processes", containers(), ["true"]),
    ):
        built = couler.build(workflow)
        engine = min(_seconds(lambda built=built: _run(built)) for _ in range(rounds))
        bare = min(_seconds(lambda command=command: _spawn(command)) for _ in range(rounds))
        found[name] = {"steps_per_second": STEPS / engine, "processes_per_second": STEPS / bare}
        print(f"  {name:24}{STEPS / engine:>8.0f} steps/s; bare `{' '.join(map(str, command))}`", end="")
        print(f" {STEPS / bare:.0f} processes/s")
    return found


def _run(model: Any) -> None:
    with tempfile.TemporaryDirectory() as home:
        record = execute(model, home=Path(home))
    if record.status != "Succeeded":
        raise SystemExit(f"the workflow of the benchmark {record.status}")


def _spawn(command: list[str]) -> None:
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for ended in pool.map(lambda _: subprocess.run(command, check=True), range(STEPS)):
            ended.check_returncode()


def _seconds(action: Callable[[], None]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start
