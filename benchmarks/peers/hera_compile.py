"""Time Hera: build the graph in Python and write Argo YAML. Arguments: see `timed`."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import timed
from hera.workflows import DAG, Container, Parameter, Workflow


def build(waits: list[list[int]], distinct: bool) -> str:
    with Workflow(name="bench", entrypoint="main") as workflow:

        def template(i: int) -> Container:
            image = f"image-{i}:1" if distinct else "alpine:3"
            return Container(
                name=f"echo-{i}" if distinct else "echo",
                image=image,
                command=["echo"],
                args=["{{inputs.parameters.value}}"],
                inputs=[Parameter(name="value")],
            )

        templates = [template(i) for i in range(len(waits))] if distinct else [template(0)] * len(waits)
        with DAG(name="main"):
            tasks: list = []
            for i, producers in enumerate(waits):
                task = templates[i](name=f"t{i}", arguments={"value": f"v{i}"})
                for producer in producers:
                    tasks[producer] >> task
                tasks.append(task)
    return workflow.to_yaml()


if __name__ == "__main__":
    timed.main(build)
