"""Time couler-py: build the graph in Python and write Argo YAML. Arguments: see `timed`."""

from __future__ import annotations

from typing import Any

import timed

import couler_py as couler


def build(waits: list[list[int]], distinct: bool) -> str:
    with couler.Workflow("bench") as workflow:

        def template(i: int) -> Any:
            return couler.container(
                f"image-{i}:1" if distinct else "alpine:3",
                ["echo"],
                [couler.argument("value")],
                inputs={"value": str},
                name=f"echo-{i}" if distinct else "echo",
            )

        templates = [template(i) for i in range(len(waits))] if distinct else [template(0)] * len(waits)
        tasks: list[Any] = []
        for i, producers in enumerate(waits):
            task = templates[i](value=f"v{i}")
            for producer in producers:
                tasks[producer] >> task
            tasks.append(task)
    return couler.compile(workflow, to="argo", crds="minimal").text


if __name__ == "__main__":
    timed.main(build)
