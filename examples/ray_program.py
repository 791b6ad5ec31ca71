"""A program of Ray: many tasks throw darts at a square, and the share that hits the circle in it says what pi is.

Without an address Ray is started beside the program, on the step's own machine; with one, as "http://ray-head:8265",
the program runs on that cluster.

couler run examples/ray_program.py -p tasks=4
couler compile examples/ray_program.py --to argo -o ray_program.yaml
"""

from pathlib import Path

import couler_py as couler
from couler_py.steps import ray

PROGRAM = """
import random
import sys

import ray

tasks, darts = int(sys.argv[1]), 100_000


@ray.remote
def hits(seed):
    throw = random.Random(seed).random
    return sum(throw() ** 2 + throw() ** 2 <= 1 for _ in range(darts))


ray.init()
print("pi", 4 * sum(ray.get([hits.remote(seed) for seed in range(tasks)])) / (tasks * darts))
"""


@couler.step
def code() -> Path:
    """The folder that Ray hands to all its nodes."""
    folder = Path("code")
    folder.mkdir()
    (folder / "pi.py").write_text(PROGRAM)
    return folder


@couler.step
def read(log: Path) -> float:
    """What the program has printed, among what Ray itself says."""
    words = [line.split() for line in log.read_text().splitlines()]
    return next(float(said[1]) for said in words if said[:1] == ["pi"])


@couler.workflow
def ray_program(tasks: int = 16, address: str = ""):
    done = ray.submit(couler.format("python pi.py {}", tasks), address, working_dir=code())
    return {"pi": read(done.log)}
