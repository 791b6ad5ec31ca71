"""Made rows: the same ones whatever they are made in, and with the structure that was planted."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import pytest

from couler_py.steps.dlrm.data import tsv
from couler_py.steps.dlrm.data.rows import Rows
from couler_py.steps.dlrm.data.synthetic import Synthetic, blocks, made


def area(label: Any, score: Any) -> float:
    """The chance that a click has a higher score than none (scores without ties)."""
    ranks = np.empty(len(score))
    ranks[np.argsort(score)] = np.arange(1, len(score) + 1)
    clicks = int(label.sum())
    return float((ranks[label == 1].sum() - clicks * (clicks + 1) / 2) / (clicks * (len(label) - clicks)))


def test_the_same_settings_give_the_same_bytes() -> None:
    text = b"".join(map(tsv.formatted, blocks(Synthetic(seed=7), 100)))
    assert hashlib.blake2b(text, digest_size=8).hexdigest() == "96c90a53c668dac1"


def test_a_row_depends_on_its_number_alone() -> None:
    spec = Synthetic(seed=3)
    whole, odds = made(spec, 1_000_000, 500)
    parts = [made(spec, 1_000_000, 123), made(spec, 1_000_123, 377)]
    assert tsv.formatted(Rows.joined([rows for rows, _ in parts])) == tsv.formatted(whole)
    assert np.array_equal(np.concatenate([each for _, each in parts]), odds)


def test_who_knows_the_structure_tells_clicks_apart_far_better_than_dense_features_do() -> None:
    rows, odds = made(Synthetic(), 0, 40_000)
    _, dense = made(Synthetic(sparse_effect=0.0, pair_effect=0.0), 0, 40_000)
    assert 0.2 < rows.label.mean() < 0.3
    assert area(rows.label, odds) > 0.78
    assert 0.58 < area(rows.label, dense) < 0.65


def test_categories_follow_a_power_law() -> None:
    spec = Synthetic(renewal=0, exponent=1.5, largest=1000, smallest=1000)
    rows, _ = made(spec, 0, 60_000)
    counts = np.sort(np.unique(rows.sparse[rows.sparse_known[:, 0], 0], return_counts=True)[1])[::-1]
    slope, _ = np.polyfit(np.log(np.arange(3, 40)), np.log(counts[2:39]), 1)
    assert slope == pytest.approx(-1.5, abs=0.1)


def test_new_categories_come_as_long_as_there_are_rows() -> None:
    spec = Synthetic(largest=50, smallest=50, renewal=10_000)
    early, late = made(spec, 0, 5000)[0], made(spec, 20_000, 5000)[0]
    assert not set(early.sparse[:, 1].tolist()) & set(late.sparse[:, 1].tolist())
    steady = Synthetic(largest=50, smallest=50, renewal=0)
    seen = [set(made(steady, first, 5000)[0].sparse[:, 1].tolist()) for first in (0, 20_000)]
    assert seen[0] == seen[1]


@pytest.mark.parametrize("settings", [{"smallest": 1}, {"largest": 2}, {"exponent": 0.0}, {"renewal": -1}])
def test_settings_that_make_no_sense_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"categories|exponent"):
        Synthetic(**settings)
