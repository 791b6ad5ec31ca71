"""What is remembered of a run."""

from __future__ import annotations

import pytest

from couler_py.backends.local.runs.watching import head
from couler_py.store.records import RunRecord


@pytest.mark.parametrize(
    ("finished", "seconds", "paused"),
    [
        (100.0, 100.0, 0.0),
        (100.0, 96.0, 0.0),  # what it takes to begin
        (100.0, 30.0, 70.0),
        (None, 150.0, 50.0),
        (100.0, 0.0, 0.0),  # an old one, of which nobody knows
    ],
)
def test_a_run_was_paused_while_no_engine_worked_on_it(finished: float | None, seconds: float, paused: float) -> None:
    run = RunRecord("r", "w", "Succeeded", {}, 0.0, 0.0, finished=finished, seconds=seconds)
    assert run.paused(now=200.0) == paused


def test_what_a_run_took_is_without_its_pauses() -> None:
    run = RunRecord("r", "w", "Succeeded", {}, 0.0, 0.0, finished=100.0, seconds=30.0)
    assert head(run).seconds(now=200.0) == 30.0
