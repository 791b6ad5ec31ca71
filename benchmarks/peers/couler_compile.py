"""Time Couler, where it installs: build the graph in Python and write Argo YAML. Arguments: see `timed`."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import couler.argo as couler
import timed
import yaml


def build(waits: list[list[int]], distinct: bool) -> str:
    def job(i: int):
        image = f"image-{i}:1" if distinct else "alpine:3"
        return lambda: couler.run_container(image=image, command=["echo"], args=[f"v{i}"], step_name=f"t{i}")

    for i, producers in enumerate(waits):
        couler.set_dependencies(job(i), dependencies=[f"t{producer}" for producer in producers])
    return yaml.dump(couler.workflow_yaml(), Dumper=yaml.CDumper)


if __name__ == "__main__":
    timed.main(build)
