"""Time `couler plan`, part by part. Arguments: shape, tasks, the options of passes as JSON."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any, TypeVar

from shapes import SHAPES

import couler_py as couler
from couler_py import api
from couler_py.backends.base import backend
from couler_py.cli.commands.plan import view
from couler_py.cli.passing import Passes
from couler_py.passes.pipeline import PASSES
from couler_py.passes.plan import plan
from couler_py.passes.situation import Situation

T = TypeVar("T")
took: dict[str, float] = {}


def timed(name: str, work: Callable[[], T]) -> T:
    begun = time.process_time()
    found = work()
    took[name] = time.process_time() - begun
    return found


def written(waits: list[list[int]]) -> Any:
    with couler.Workflow("bench") as workflow:
        echo = couler.container("alpine:3", ["echo"], [couler.argument("value")], inputs={"value": str}, name="echo")
        tasks: list[Any] = []
        for i, producers in enumerate(waits):
            task = echo(value=f"v{i}")
            for producer in producers:
                tasks[producer] >> task
            tasks.append(task)
    return workflow


def main(shape: str, tasks: int, options: dict[str, Any]) -> None:
    waits = SHAPES[shape](tasks)
    with api.collector_at_rest():
        program = timed("program", lambda: written(waits))
        checked = timed("check", lambda: api.checked(program))
        # So many tasks are more parts than one run on Argo may have; others weigh by their number alone.
        engine = "local" if "split" in options else "argo"
        situation = Situation(engine, None, options, checked.settings, scale=api.scale_of(backend(engine), None, {}))
        workflow = checked.workflow
        for each in PASSES:
            if each.runs(options):
                workflow = timed(each.name, lambda: each.apply(workflow, situation).workflow)  # noqa: B023 - called now
        made = timed("counts", lambda: plan(workflow))
        timed("emit", lambda: view(checked, made, engine, Passes((), options), {}, workflow))
    print(json.dumps(took))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3]))
