"""Plans on real processes. Each launch does many checks: one costs seconds."""

from __future__ import annotations

from pathlib import Path

from tests.training.conftest import Launch


def test_gradients_are_those_of_one_process_under_any_plan(ranks: Launch) -> None:
    """Uneven stages, groups and micro-batches, packed samples, slices, chunks: 1e-10 in float64, 1e-5 in float32."""
    ranks("tests.training.hybrid.gradients", 5)


def test_changing_plans_and_losing_ranks_changes_no_loss(ranks: Launch, tmp_path: Path) -> None:
    """Re-planning, a lost rank with and without a checkpoint of its step, its return: 1e-4 over twenty steps."""
    ranks("tests.training.hybrid.changing", 5, str(tmp_path))


def test_a_slow_rank_gets_less_to_do_and_losses_stay_those_of_equal_shares(ranks: Launch, tmp_path: Path) -> None:
    """It is named in the log; weights move, the samples of a step don't; a checkpoint goes on in the next training."""
    assert "rank 0 takes" in ranks("tests.training.hybrid.watching", 4, str(tmp_path))
