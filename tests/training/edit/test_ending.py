"""A training that ends after any of its steps goes on in new processes as if it had not: to the last bit."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.training.conftest import Launch


@pytest.mark.timeout(900)
def test_from_each_step_new_processes_come_to_the_same_model(launch: Launch, tmp_path: Path) -> None:
    for mode in ("whole", "again"):
        launch("tests.training.edit.ending", 2, mode, str(tmp_path), timeout=420)
    assert len(list(tmp_path.glob("at-*"))) == 8
