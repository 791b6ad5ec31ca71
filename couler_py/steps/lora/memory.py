"""How many bytes a pass takes, learned from passes that were made.

Ye et al., "mLoRA" (arXiv 2312.02515), 3.4: bytes = c0 + c1·B·L + c2·B·L², with B rows of L tokens and no coefficient
below 0; the square is attention's. Jobs that share a pass are padded to one length, so it is asked at (Σ B, max L).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from couler_py.passes.solver import not_negative

if TYPE_CHECKING:
    from couler_py.steps.models.config import DecoderConfig

LEAST = 5
"""Samples before the fit is believed: with 0.2 % noise, 95 of 100 predictions are then within 0.5 %."""
MOST = 64
"""Samples that are kept, the newest."""
SLACK = 0.02
"""The least margin; it is three times the error that 95 of 100 samples stay below, where that is more."""
PRIOR_SLACK = 0.25
"""The margin before there are enough samples: the prior counts what is sure to be kept, not what kernels borrow."""


class Sample(msgspec.Struct, frozen=True):
    """What a pass took."""

    rows: int
    length: int
    bytes: int


class MemoryModel(msgspec.Struct, frozen=True):
    """Coefficients, and how far above its prediction a pass is expected to stay.

    >>> shapes = [(1, 8), (2, 8), (4, 16), (8, 16), (2, 32)]
    >>> model = fit([Sample(b, n, 1000 + 50 * b * n + 2 * b * n * n) for b, n in shapes])
    >>> [round(number) for number in model.coefficients], round(model.bytes(3, 16))
    ([1000, 50, 2], 5035)
    """

    coefficients: tuple[float, float, float]
    margin: float
    samples: int = 0

    def bytes(self, rows: int, length: int) -> float:
        """Bytes of a pass, with the margin; 0 for a pass of nothing."""
        if rows == 0:
            return 0.0
        fixed, linear, square = self.coefficients
        return (1 + self.margin) * (fixed + linear * rows * length + square * rows * length * length)


def prior(config: DecoderConfig, width: int = 4) -> MemoryModel:
    """What a decoder surely keeps for its backward, in numbers of `width` bytes, before anything was measured.

    Of each token and layer: both norms' inputs and results (4 h), queries and results of attention (2 h), keys and
    values, and five of the feed-forward's width; of each token the logits and their logarithms, in float32. Attention
    that keeps its matrix is counted too, although most kernels don't.
    """
    keys = 2 * config.kv_heads * config.head
    layer = 6 * config.hidden + keys + 5 * config.feed_forward
    token = width * config.layers * layer + 8 * config.vocabulary
    return MemoryModel((0.0, float(token), float(width * config.layers * config.heads)), PRIOR_SLACK)


def fit(samples: Sequence[Sample], before: MemoryModel | None = None) -> MemoryModel:
    """A model of samples by non-negative least squares, or the one before while there are fewer than `LEAST`.

    Needs SciPy. Raises `ValueError` for
    too few samples and nothing before.
    """
    if len(samples) < LEAST:
        if before is None:
            raise ValueError(f"{len(samples)} samples: a fit takes {LEAST}, or a model to begin with")
        return before
    import numpy

    kept = samples[-MOST:]
    columns = numpy.array([[1.0, each.rows * each.length, each.rows * each.length**2] for each in kept])
    told = numpy.array([float(each.bytes) for each in kept])
    # Errors count relative to their sample: a pass of few bytes says as much about the coefficients as one of many.
    found = not_negative(columns / told[:, None], numpy.ones(len(kept)))
    fixed, linear, square = (float(number) for number in found)
    errors = numpy.abs(columns @ found / told - 1)
    margin = max(SLACK, 3 * float(numpy.quantile(errors, 0.95)))
    return MemoryModel((fixed, linear, square), margin, len(samples))
