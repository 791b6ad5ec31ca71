"""How good log-odds of clicks are: AUC, log loss, normalised entropy, calibration. numpy only."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np

Numbers = Any


class Bin(msgspec.Struct, frozen=True):
    """Rows of neighbouring scores: how many, what was said of them on average, and how many were clicked."""

    rows: int
    predicted: float
    observed: float


class Judged(msgspec.Struct, frozen=True):
    """What came of comparing log-odds with what happened."""

    rows: int
    auc: float
    """How often a clicked row stands above one that is not, ties counting half; NaN where all rows are of one kind."""
    log_loss: float
    """In nats a row."""
    normalised_entropy: float
    """The log loss divided by that of always saying the average (He et al., "Practical Lessons from Predicting Clicks
    on Ads at Facebook", ADKDD 2014, equation 1): below 1 is better than that. NaN where all rows are of one kind."""
    calibration: float
    """Clicks that were expected, divided by those that came (ibidem): 1 is right. NaN where none came."""
    bins: tuple[Bin, ...]
    """Rows by their score, in equal parts."""


def judge(labels: Numbers, logits: Numbers, bins: int = 10) -> Judged:
    """Compare labels [rows], 0 or 1, with log-odds [rows]. Raises `ValueError` for none, or for what is no number.

    >>> told = judge([0, 1, 0, 1], [-1.0, 1.0, 1.0, 2.0])
    >>> told.auc
    0.875
    """
    y, x = np.asarray(labels, np.float64), np.asarray(logits, np.float64)
    if y.shape != x.shape or y.ndim != 1 or not len(y):
        raise ValueError(f"labels of shape {y.shape} and scores of shape {x.shape}: both are rows, at least one")
    if not np.isin(y, (0.0, 1.0)).all():
        raise ValueError("labels are 0 or 1")
    if not np.isfinite(x).all():
        raise ValueError(f"{int((~np.isfinite(x)).sum())} of {len(x)} scores are no numbers")
    loss = float(np.mean(np.logaddexp(0, x) - y * x))
    probability = np.exp(-np.logaddexp(0, -x))
    rate = float(y.mean())
    mixed = 0 < rate < 1
    entropy = -(rate * np.log(rate) + (1 - rate) * np.log1p(-rate)) if mixed else float("nan")
    parts = [part for part in np.array_split(np.argsort(x, kind="stable"), min(bins, len(x))) if len(part)]
    return Judged(
        rows=len(y),
        auc=auc(y, x),
        log_loss=loss,
        normalised_entropy=float(loss / entropy),
        calibration=float(probability.sum() / y.sum()) if rate else float("nan"),
        bins=tuple(Bin(len(part), float(probability[part].mean()), float(y[part].mean())) for part in parts),
    )


def auc(labels: Numbers, scores: Numbers) -> float:
    """The area under the ROC curve, exact with ties: the statistic of Mann and Whitney over middle ranks."""
    y, x = np.asarray(labels, np.float64), np.asarray(scores, np.float64)
    _, place, count = np.unique(x, return_inverse=True, return_counts=True)
    middle = np.cumsum(count) - (count - 1) / 2
    positive = float(y.sum())
    negative = len(y) - positive
    if not positive or not negative:
        return float("nan")
    ranks = float(middle[place][y == 1].sum())
    return (ranks - positive * (positive + 1) / 2) / (positive * negative)
