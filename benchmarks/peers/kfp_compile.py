"""Time KFP: build the graph in Python and write its pipeline YAML. Arguments: shape, tasks (always one component)."""

# KFP reads annotations as objects: no `from __future__ import annotations` here.
import json
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from kfp import compiler, dsl
from shapes import SHAPES


@dsl.container_component
def echo(value: str):
    return dsl.ContainerSpec(image="alpine:3", command=["echo"], args=[value])


def build(waits: list[list[int]], path: str) -> None:
    @dsl.pipeline(name="bench")
    def bench():
        tasks: list = []
        for i, producers in enumerate(waits):
            task = echo(value=f"v{i}")
            if producers:
                task.after(*[tasks[producer] for producer in producers])
            tasks.append(task)

    compiler.Compiler().compile(bench, path)


if __name__ == "__main__":
    shape, n = sys.argv[1], int(sys.argv[2])
    with tempfile.NamedTemporaryFile(suffix=".yaml") as file:
        start = time.perf_counter()
        build(SHAPES[shape](n), file.name)
        print(json.dumps({"seconds": time.perf_counter() - start, "bytes": Path(file.name).stat().st_size}))
