"""A simulated job of a recommender and what befalls it: a slow worker, a kill, memory that grows; drawn by a seed."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from couler_py.steps.dlrm.planning.allocation import GIB, Allocation, Load, Measured, Space
from couler_py.steps.dlrm.planning.performance import Fit, points
from couler_py.steps.dlrm.planning.policies import Elastic, Fixed
from couler_py.steps.dlrm.planning.simulator import Job, Outcome, World

TRUTH = Fit("servers", (2e-3, 0.05, 0.8, 4e-6, 0.02), 5, 1.0, 0.0, 0)
LOAD = Load("servers", batch=512, embedded=416.0, transfer=0.04)
SPACE = Space((1, 16), (1, 8), (1, 2, 4, 8), (1, 2, 4, 8), cores=64)
DEFAULT, EVEN = Allocation(2, 1, 1, 1), Allocation(4, 4, 8, 8)
HOURS = 4.0
LIMIT = 64.0 * GIB


def grid() -> Any:
    """All allocations within the quota (n, 4)."""
    found = np.array(list(itertools.product(*SPACE.values)), float)
    return found[found[:, 0] * found[:, 2] + found[:, 1] * found[:, 3] <= (SPACE.cores or 0)]


def speed(allocation: Allocation) -> float:
    """Rows a second, in truth."""
    return float(TRUTH.throughput(LOAD, points([allocation]))[0])


def oracle() -> float:
    """The most rows a second within the quota."""
    return float(TRUTH.throughput(LOAD, grid()).max())


def probes(seed: int, count: int = 8) -> list[Allocation]:
    """Allocations within the quota, at random."""
    drawn, all_of_them = np.random.default_rng(seed), grid()
    return [Allocation(*(int(x) for x in all_of_them[n])) for n in drawn.choice(len(all_of_them), count, replace=False)]


def measured(seed: int, count: int = 8, noise: float = 0.05) -> list[Measured]:
    """Their steps' times, with noise."""
    drawn = np.random.default_rng(seed + 1_000_000)
    chosen = probes(seed, count)
    seconds = TRUTH.seconds(LOAD, points(chosen)) * (1 + noise * drawn.standard_normal(count))
    return [Measured(each, LOAD, float(took)) for each, took in zip(chosen, seconds, strict=True)]


def world(seed: int) -> World:
    """Rows for `HOURS` at the best; a worker at a quarter of its speed, a kill, servers that fill before the end."""
    drawn = np.random.default_rng(seed)
    rows = oracle() * HOURS * 3600
    full_at, exponent = drawn.uniform(0.4, 0.8), drawn.choice([0.64, 0.83, 0.94, 1.0])
    base = 0.2 * LIMIT
    return World(
        TRUTH,
        LOAD,
        rows,
        slow_at=float(drawn.uniform(0.1, 0.5)),
        slow=0.25,
        lost_at=(float(drawn.uniform(0.2, 0.8)), str(drawn.choice(["worker", "server"]))),
        memory=lambda done: float(base + (LIMIT - base) * (done / (full_at * rows)) ** exponent),
    )


def shard(rows: float) -> float:
    """Half a thousandth of the rows."""
    return rows / 2000


def fixed(seed: int, allocation: Allocation, more: float = 2.0) -> Outcome:
    """The job with nobody to look after it: fixed parts, a checkpoint each half hour; `more` memory after an OOM."""
    given = world(seed)
    return Job(given, allocation, shards=None, save_every=1800.0).play(Fixed(LIMIT, more))


def elastic(seed: int, *, known: bool) -> Outcome:
    """The job with the planner, which has measures of earlier jobs, or none and probes."""
    if known:
        return _looked_after(seed, DEFAULT, Elastic(SPACE, LIMIT, known=measured(seed), seed=seed))
    return _looked_after(seed, DEFAULT, Elastic(SPACE, LIMIT, probes=probes(seed), seed=seed))


def looked_after(seed: int, allocation: Allocation) -> Outcome:
    """The job under one allocation, with trouble handled as by the planner."""
    return _looked_after(seed, allocation, Elastic(None, LIMIT, seed=seed))


def _looked_after(seed: int, allocation: Allocation, policy: Elastic) -> Outcome:
    """With shards, and checkpoints through memory each minute."""
    given = world(seed)
    return Job(given, allocation, shards=shard(given.rows), save_every=60.0).play(policy)
