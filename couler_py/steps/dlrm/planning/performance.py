"""How fast an allocation trains: terms of a step's time, and their coefficients from what was measured.

With parameter servers, DLRover-RM's decomposition: w workers of λw cores, p servers of λp cores, mini-batches of m
rows, D embedded numbers of a row, τ seconds to move the dense weights:

    T = a₁·m/λw + a₂·w/(p·λp) + a₃·τ·w/p + a₄·m·D/p + c,    rows a second = w·m/T

(gradients, updates, pushes and pulls, look-ups, the rest). With N ranks that step together on a batch G of all:

    T = a₁·G/(N·λw) + a₂·G·D·(N-1)/N² + a₃·τ·(N-1)/N + c,    rows a second = G/T

(look-ups and layers, all-to-alls, all-reduce, the rest). Both are linear in coefficients that are not below 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from couler_py.passes.solver import not_negative
from couler_py.steps.dlrm.planning.allocation import Allocation, Load, Measured

Floats = NDArray[np.float64]
NAMES = {
    "servers": ("gradients", "updates", "transfer", "embeddings", "constant"),
    "ranks": ("rows", "exchange", "reduction", "constant"),
}
LEAST_RANK = {"servers": 4, "ranks": 3}
"""Terms that measures must tell apart before a fit is relied on: one less than there are."""
CONDITION = 1e6
"""Directions in which measures vary by less than this part of the most are not told apart."""
WORST = 0.25
"""A fit that misses its own measures by more, on average, is not relied on."""


def points(allocations: Sequence[Allocation]) -> Floats:
    """Allocations as an array (n, 4): workers, servers, cores of a worker, cores of a server."""
    return np.array([each.point for each in allocations], np.float64).reshape(-1, 4)


def terms(load: Load, at: Floats) -> Floats:
    """The terms of a step's time (n, terms), in the order of `NAMES`, at points (n, 4)."""
    workers, servers, cores, server_cores = at.T
    one = np.ones_like(workers)
    if load.kind == "servers":
        each = (
            load.batch / cores,
            workers / (servers * server_cores),
            load.transfer * workers / servers,
            load.batch * load.embedded / servers,
            one,
        )
        return np.stack(each, axis=1)
    others = (workers - 1) / workers
    shared = load.batch / workers
    return np.stack((shared / cores, shared * load.embedded * others, load.transfer * others, one), axis=1)


def rows_of_step(load: Load, at: Floats) -> Floats:
    """Rows that all workers together make in the time of a step (n,)."""
    return np.asarray(at[:, 0] * load.batch if load.kind == "servers" else np.full(len(at), float(load.batch)))


class Fit(msgspec.Struct, frozen=True):
    """Coefficients of a kind of job, how well they meet what they were fitted to, and what that can tell."""

    kind: Literal["servers", "ranks"]
    coefficients: tuple[float, ...]
    rank: int
    """Directions of the terms that were told apart."""
    condition: float
    """Of the measured terms, each column of length 1; infinite where some go together."""
    error: float
    """The mean of the errors relative to what was measured."""
    measures: int
    scale: tuple[float, ...] = ()
    span: tuple[tuple[float, ...], ...] = ()

    @property
    def confidence(self) -> Literal["high", "part", "low"]:
        """Whether all allocations can be predicted, those that go along with what was measured, or none."""
        if self.rank < LEAST_RANK[self.kind] or self.error > WORST:
            return "low"
        return "high" if self.rank == len(self.coefficients) else "part"

    def seconds(self, load: Load, at: Floats) -> Floats:
        """The time of a step (n,) at points (n, 4)."""
        return np.asarray(terms(load, at) @ np.array(self.coefficients))

    def throughput(self, load: Load, at: Floats) -> Floats:
        """Rows a second (n,) at points (n, 4)."""
        return np.asarray(rows_of_step(load, at) / np.maximum(self.seconds(load, at), 1e-12))

    def identified(self, load: Load, at: Floats) -> NDArray[np.bool_]:
        """Which points (n, 4) have terms that are sums of measured ones: elsewhere a prediction is a guess."""
        if self.rank == len(self.coefficients):
            return np.ones(len(at), bool)
        scaled = terms(load, at) / np.array(self.scale)
        span = np.array(self.span).reshape(-1, scaled.shape[1])
        left = scaled - scaled @ span.T @ span
        return np.asarray(np.linalg.norm(left, axis=1) <= 1e-6 * np.linalg.norm(scaled, axis=1))


def fit(measured: Sequence[Measured]) -> Fit:
    """The coefficients, none below 0, that are nearest to measures, errors counted relative to what was measured.

    Without that, slow allocations would decide alone. Raises `ValueError` for measures of jobs of different kinds, of
    none, and for times that are none.
    """
    kinds = {each.load.kind for each in measured}
    if len(kinds) != 1:
        raise ValueError(f"a fit takes measures of one kind of job, and here are {len(kinds)}")
    seconds = np.array([each.seconds for each in measured], np.float64)
    if not (np.isfinite(seconds) & (seconds > 0)).all():
        raise ValueError("the times of steps are above 0")
    columns = np.concatenate([terms(each.load, points([each.allocation])) for each in measured])
    weighted = columns / seconds[:, None]
    found = not_negative(weighted, np.ones_like(seconds))
    scale = np.linalg.norm(weighted, axis=0)
    scale[scale == 0] = 1.0
    _, singular, directions = np.linalg.svd(weighted / scale, full_matrices=False)
    rank = int((singular > singular[0] / CONDITION).sum())
    whole = len(singular) == columns.shape[1] and singular[-1] > 0
    (kind,) = kinds
    return Fit(
        kind,
        tuple(float(each) for each in found),
        rank,
        float(singular[0] / singular[-1]) if whole else float("inf"),
        float(np.abs(columns @ found / seconds - 1).mean()),
        len(measured),
        tuple(float(each) for each in scale),
        tuple(tuple(float(x) for x in row) for row in directions[:rank]),
    )
