"""Time KFP: build the graph in Python and write its pipeline YAML. Arguments: see `timed`."""

# KFP reads annotations as objects: no `from __future__ import annotations` here.
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import timed
from kfp import compiler, dsl


def component(i: int, distinct: bool):
    def echo(value: str):
        return dsl.ContainerSpec(image=f"image-{i}:1" if distinct else "alpine:3", command=["echo"], args=[value])

    echo.__name__ = f"echo_{i}" if distinct else "echo"
    return dsl.container_component(echo)


def build(waits: list[list[int]], distinct: bool) -> str:
    n = len(waits)
    components = [component(i, True) for i in range(n)] if distinct else [component(0, False)] * n

    @dsl.pipeline(name="bench")
    def bench():
        tasks: list = []
        for i, producers in enumerate(waits):
            task = components[i](value=f"v{i}")
            if producers:
                task.after(*[tasks[producer] for producer in producers])
            tasks.append(task)

    with tempfile.NamedTemporaryFile(suffix=".yaml") as file:
        compiler.Compiler().compile(bench, file.name)
        return Path(file.name).read_text()


if __name__ == "__main__":
    timed.main(build)
