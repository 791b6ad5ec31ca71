"""Plans on real processes. Each launch does many checks: one costs seconds."""

from __future__ import annotations

from pathlib import Path

from tests.training.hybrid.forked import launched


def test_gradients_are_those_of_one_process_under_any_plan(checkout: Path, tmp_path: Path) -> None:
    """Uneven stages, groups and micro-batches, packed samples, slices, chunks: 1e-10 in float64, 1e-5 in float32."""
    launched(checkout, tmp_path, "tests.training.hybrid.gradients", 5)


def test_changing_plans_and_losing_ranks_changes_no_loss(checkout: Path, tmp_path: Path) -> None:
    """Re-planning, a lost rank with and without a checkpoint of its step, its return: 1e-4 over twenty steps."""
    launched(checkout, tmp_path, "tests.training.hybrid.changing", 5, str(tmp_path))
