"""Run a graph with couler-py's embedded engine. Arguments: see `runs`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import runs

import couler_py as couler
from couler_py.backends.local import execute


@couler.step
def nothing() -> None:
    """Does nothing."""


def workflow(waits: list[list[int]], commands: bool) -> Any:
    """The graph as a workflow."""
    with couler.Workflow("bench") as made:
        task = couler.container("alpine:3", ["true"], name="nothing") if commands else nothing
        tasks: list[Any] = []
        for producers in waits:
            called = task()
            for producer in producers:
                tasks[producer] >> called
            tasks.append(called)
    return made


def run(waits: list[list[int]], commands: bool, folder: Path) -> int:
    """As `couler.run` does; the ledger stands in the folder, so that other runs of this machine don't count."""
    os.environ["COULER_LEDGER"] = str(folder / "ledger")
    record = execute(couler.build(workflow(waits, commands)), home=folder / "home")
    return sum(bool(path) and task.state == "Succeeded" for path, task in record.tasks.items())


if __name__ == "__main__":
    runs.main(run)
