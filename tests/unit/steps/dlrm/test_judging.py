"""How good scores are: AUC exact with ties, log loss, normalised entropy, calibration."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import log_loss, roc_auc_score

from couler_py.steps.dlrm.judging import auc, judge

rows = st.lists(st.tuples(st.booleans(), st.integers(-4, 4)), min_size=2, max_size=60).filter(
    lambda pairs: len({label for label, _ in pairs}) == 2
)


@settings(max_examples=40, deadline=None)
@given(rows)
def test_auc_and_log_loss_are_those_of_scikit_learn_ties_too(pairs: list[tuple[bool, int]]) -> None:
    labels, logits = (np.array(each, float) for each in zip(*pairs, strict=True))
    told = judge(labels, logits)
    assert told.auc == pytest.approx(roc_auc_score(labels, logits), abs=1e-12)
    assert told.log_loss == pytest.approx(log_loss(labels, 1 / (1 + np.exp(-logits))), abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(rows)
def test_auc_is_the_part_of_pairs_in_the_right_order(pairs: list[tuple[bool, int]]) -> None:
    clicked = [score for label, score in pairs if label]
    others = [score for label, score in pairs if not label]
    won = sum((a > b) + (a == b) / 2 for a in clicked for b in others)
    assert auc(*zip(*pairs, strict=True)) == pytest.approx(won / (len(clicked) * len(others)))


def test_the_average_has_a_normalised_entropy_and_a_calibration_of_one() -> None:
    told = judge([1, 0, 0, 0], [math.log(1 / 3)] * 4)
    assert told.normalised_entropy == pytest.approx(1.0)
    assert told.calibration == pytest.approx(1.0)
    assert told.auc == 0.5


def test_bins_are_equal_parts_from_the_lowest_score_to_the_highest() -> None:
    told = judge([0, 0, 1, 1, 1], [-2.0, -1.0, 0.0, 1.0, 2.0], bins=2)
    assert [(each.rows, each.observed) for each in told.bins] == [(3, pytest.approx(1 / 3)), (2, 1.0)]
    assert told.bins[1].predicted == pytest.approx((1 / (1 + math.exp(-1)) + 1 / (1 + math.exp(-2))) / 2)


def test_rows_of_one_kind_have_a_loss_and_no_auc() -> None:
    told = judge([0, 0], [0.0, 1.0])
    assert math.isnan(told.auc)
    assert math.isnan(told.normalised_entropy)
    assert math.isnan(told.calibration)
    assert told.log_loss == pytest.approx((math.log(2) + math.log1p(math.e)) / 2)


def test_scores_far_out_are_no_trouble() -> None:
    assert judge([1, 0], [1000.0, -1000.0]).log_loss == 0.0
    assert judge([0, 1], [1000.0, -1000.0]).log_loss == 1000.0


@pytest.mark.parametrize(
    ("labels", "logits", "problem"),
    [
        ([], [], "at least one"),
        ([0, 1], [0.0], "labels of shape \\(2,\\) and scores of shape \\(1,\\)"),
        ([0, 2], [0.0, 1.0], "labels are 0 or 1"),
        ([0, 1], [0.0, float("nan")], "1 of 2 scores are no numbers"),
    ],
)
def test_what_can_not_be_judged_is_said(labels: list[int], logits: list[float], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        judge(labels, logits)
