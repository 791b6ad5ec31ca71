"""Time Couler, where it installs: build the graph in Python and write Argo YAML. Arguments: shape, tasks, form."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import couler.argo as couler
import yaml
from shapes import SHAPES


def build(waits: list[list[int]], distinct: bool) -> str:
    def job(i: int):
        image = f"image-{i}:1" if distinct else "alpine:3"
        return lambda: couler.run_container(image=image, command=["echo"], args=[f"v{i}"], step_name=f"t{i}")

    for i, producers in enumerate(waits):
        couler.set_dependencies(job(i), dependencies=[f"t{producer}" for producer in producers])
    return yaml.dump(couler.workflow_yaml(), Dumper=yaml.CDumper)


if __name__ == "__main__":
    shape, n, form = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    start = time.perf_counter()
    text = build(SHAPES[shape](n), form == "distinct")
    print(json.dumps({"seconds": time.perf_counter() - start, "bytes": len(text)}))
