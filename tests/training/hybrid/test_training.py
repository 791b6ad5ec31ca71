"""A training that plans for its ranks: slow ones are found, named, and given less, and nothing is learned otherwise."""

from __future__ import annotations

from pathlib import Path

from tests.training.conftest import Launch


def test_a_slow_rank_gets_less_to_do_and_losses_stay_those_of_equal_shares(launch: Launch, tmp_path: Path) -> None:
    """It is named in the log; weights move, the samples of a step don't; a checkpoint goes on in the next training."""
    said = launch("tests.training.hybrid.watching", 4, str(tmp_path))
    assert "rank 0 takes 2." in said
