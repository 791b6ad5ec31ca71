"""The constants of schemes and of a model's memory, from what was measured (Hydraulis, SIGMOD 2026, its profiler).

Least squares, with what is left over. Needs NumPy.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from couler_py.passes.solver import not_negative
from couler_py.steps.hybrid.schemes import Model, end_bytes

Floats = NDArray[np.float64]


class Sample(msgspec.Struct, frozen=True):
    """Forward and backward of a micro-batch of one sequence, on a stage of a pipeline."""

    tensor: int
    stages: int
    length: int
    milliseconds: float


class Peak(msgspec.Struct, frozen=True):
    """The most bytes that a rank had with micro-batches of so many tokens."""

    tensor: int
    stages: int
    length: int
    bytes: float


class Fit(msgspec.Struct, frozen=True):
    """How well constants meet what was measured."""

    r2: float
    """The share of the variance that they explain."""
    worst: float
    """The largest error, as a share of what was measured."""


class Curve(msgspec.Struct, frozen=True):
    """Milliseconds of a sequence of s tokens: `square`·s² + `linear`·s + `fixed`."""

    square: float
    linear: float
    fixed: float
    fit: Fit


def fit_cost(samples: Sequence[Sample]) -> dict[tuple[int, int], Curve]:
    """The curve of each (tensor, stages) among the samples; errors count relative to what was measured.

    No constant is below 0. Raises `ValueError` for a scheme with fewer than three lengths, or a time that isn't
    positive.
    """
    by_scheme: dict[tuple[int, int], list[Sample]] = {}
    for sample in samples:
        if not (sample.milliseconds > 0 and math.isfinite(sample.milliseconds) and sample.length > 0):
            raise ValueError(f"{sample}: times and lengths are above 0")
        by_scheme.setdefault((sample.tensor, sample.stages), []).append(sample)
    found = {}
    for scheme, own in sorted(by_scheme.items()):
        lengths = np.array([each.length for each in own], float)
        times = np.array([each.milliseconds for each in own])
        if len(set(lengths.tolist())) < 3:
            raise ValueError(f"({scheme[0]},{scheme[1]}) was measured at fewer than 3 lengths: a curve takes 3")
        columns = np.stack([lengths**2, lengths, np.ones_like(lengths)], axis=1)
        square, linear, fixed = not_negative(columns / times[:, None], np.ones_like(times))
        found[scheme] = Curve(square, linear, fixed, _fit(columns @ np.array([square, linear, fixed]), times))
    return found


def fit_memory(peaks: Sequence[Peak], model: Model) -> tuple[Model, Fit]:
    """The model with its `activations`, `states` and `sharded` as measured; what else it says is taken as true.

    Raises `ValueError` where the peaks can't tell them apart: each tensor parallelism takes two lengths, and all
    together two numbers of ranks.
    """
    kinds = sorted({peak.tensor for peak in peaks})
    measured = np.array([peak.bytes for peak in peaks])
    data, tensor_os, stages_os = model.owners
    layer, ends = model.hidden**2, model.hidden * model.vocabulary
    sharded = model.sharded
    for _ in range(50):  # embeddings depend on what is shared out, which depends on all else
        rows, known = [], []
        for peak in peaks:
            token = peak.length * model.layers * model.hidden / peak.tensor
            rows.append(
                [
                    *(token if kind == peak.tensor else 0.0 for kind in kinds),
                    model.layers / peak.stages * layer / peak.tensor,
                    model.layers / stages_os * layer / tensor_os / data,
                ]
            )
            step = ends / peak.tensor * end_bytes(peak.stages) * (1 - sharded)
            known.append(step + ends / tensor_os * end_bytes(stages_os) * sharded / data)
        columns, target = np.array(rows), measured - np.array(known)
        scale = np.abs(columns).max(axis=0) if len(rows) else np.ones(len(kinds) + 2)
        if not len(rows) or np.linalg.matrix_rank(columns / scale, tol=1e-9) < columns.shape[1]:
            raise ValueError(
                "the peaks don't tell activations and states apart: measure each tensor parallelism at two lengths, "
                "and several numbers of stages"
            )
        values = not_negative(columns / scale / measured[:, None], target / measured) / scale
        here, there = float(values[-2]), float(values[-1])
        before, sharded = sharded, there / (here + there) if here + there else 0.0
        if abs(before - sharded) < 1e-12:
            break
    found = msgspec.structs.replace(
        model,
        activations={kind: float(value) for kind, value in zip(kinds, values, strict=False)},
        states=here + there,
        sharded=sharded,
    )
    predicted = [
        found.state_bytes(peak.tensor, peak.stages)
        + found.activations[peak.tensor] * found.layers * found.hidden / peak.tensor * peak.length
        for peak in peaks
    ]
    return found, _fit(np.array(predicted), measured)


def _fit(predicted: Floats, measured: Floats) -> Fit:
    left = float(((predicted - measured) ** 2).sum())
    spread = float(((measured - measured.mean()) ** 2).sum())
    return Fit(1.0 - left / spread if spread else 1.0, float((np.abs(predicted - measured) / measured).max()))
