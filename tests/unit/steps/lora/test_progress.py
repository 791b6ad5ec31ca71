"""What is said of jobs when all have ended."""

from __future__ import annotations

from couler_py.steps.lora.progress import Progress, last_losses


def test_the_loss_of_a_job_is_that_on_held_out_lines_or_of_its_last_step() -> None:
    jobs = {
        "judged": Progress("done", losses=[3.0, 2.0], seen=[(1, 2.75), (2, 2.5)]),
        "stopped": Progress("stopped", losses=[3.0, 2.25]),
        "failed": Progress("failed", losses=[1.0]),
        "cancelled": Progress("cancelled"),
    }
    assert last_losses(jobs) == {"judged": 2.5, "stopped": 2.25}


def test_a_job_that_never_moved_has_none() -> None:
    """A scaler left out all of its steps; held-out lines were looked at all the same."""
    jobs = {"still": Progress("done", step=3), "judged": Progress("done", step=3, seen=[(3, 5.5)])}
    assert last_losses(jobs) == {"judged": 5.5}
