"""Torch's own layouts, on real processes: all of them in one launch, since a launch costs seconds."""

from __future__ import annotations

from pathlib import Path

from tests.training.conftest import Launch


def test_a_training_goes_on_in_any_layout_of_torch(launch: Launch, tmp_path: Path) -> None:
    """4 to 3 ranks, to 2x2 with tensor parallelism, to 2, to 2x2 replicated, to tensor parallelism, to one."""
    launch("tests.training.distributed.layouts", 4, str(tmp_path))
