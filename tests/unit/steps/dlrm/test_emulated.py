"""What goes wrong on purpose: ranks that wait for each row, and processes that end themselves once."""

from __future__ import annotations

import signal
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from couler_py.steps.dlrm.data.shards import Batch
from couler_py.steps.dlrm.emulated import lose, slowed
from couler_py.steps.dlrm.feeding import Blocks
from couler_py.steps.dlrm.task import Emulated

from .mastering import started


class Numbers:
    """Rows of which only the numbers matter."""

    def __len__(self) -> int:
        return 40

    def take(self, start: int, stop: int) -> Batch:
        rows = np.arange(start, stop)
        return Batch(rows, rows, rows, rows)


def test_a_slow_rank_gets_what_the_others_do_and_takes_longer_for_each_row() -> None:
    emulated = Emulated(slow=((1, 0.002),))
    quick: Any = Blocks(Numbers(), 10, 2)
    assert slowed(quick, emulated, 0) is quick
    slow, begun = slowed(Blocks(Numbers(), 10, 2), emulated, 1), time.monotonic()
    found: list[Any] = slow.next(0, 1)
    assert time.monotonic() - begun >= 20 * 0.002
    assert [each.rows.tolist() for each in found] == [each.rows.tolist() for each in quick.next(0, 1)]
    assert slow.facts() == quick.facts()


def test_a_rank_is_lost_after_its_step_and_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COULER_MEMBER", raising=False)  # or it would take the process that tests with it
    emulated = Emulated(lost=((1, 5),))

    def train() -> None:
        for step in range(1, 8):
            lose(emulated, 0, step, tmp_path)
            lose(emulated, 1, step, tmp_path)

    for expected in (-signal.SIGKILL, 0):
        process = started(train)
        process.join()
        assert process.exitcode == expected
    assert [path.name for path in tmp_path.iterdir()] == ["lost-1-5"]
