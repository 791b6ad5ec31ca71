"""A real process whose memory grows towards its limit ends with a checkpoint before it is full, and another goes on."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from couler_py.steps.checkpoint.flash import Flash
from couler_py.steps.checkpoint.peers import Alone
from couler_py.steps.dlrm import guarding
from couler_py.steps.dlrm.guarding import STATM, Bound, Guard, NeedsMemoryError, used
from couler_py.steps.dlrm.training import train
from tests.training.dlrm.growing import GROWTH, ROOM, SOURCE
from tests.training.dlrm.sharing import Ranks, on
from tests.training.dlrm.toys import TASK, feed, trainer

pytestmark = pytest.mark.skipif(not STATM.exists(), reason="reads its size from /proc, as on Linux")


@pytest.fixture(autouse=True)
def no_container(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever else runs in the container of these tests is none of their business."""
    monkeypatch.setattr(guarding, "CGROUP", tmp_path_factory.mktemp("cgroup"))


def test_a_training_that_would_run_out_of_memory_is_saved_before_and_goes_on_where_there_is_more(
    tmp_path: Path,
) -> None:
    command = [sys.executable, "-m", "tests.training.dlrm.growing", str(tmp_path)]
    ended = subprocess.run(command, check=False, capture_output=True, text=True)
    said = ended.stderr.splitlines()[-1]
    found = re.search(r"NeedsMemoryError: out of memory: .* the address space's bound, .* saved at step (\d+)", said)
    assert found, ended.stderr
    step = int(found[1])
    assert 4 <= step < ROOM // GROWTH
    told = train(trainer(), feed(SOURCE), checkpoints=tmp_path)
    assert (told.begun_at, told.steps, told.rows) == (step, 63, 16_000)
    assert [each.choice for each in told.decisions] == ["save, and begin again with the memory that is needed"]
    assert told.decisions[0].inputs["bound"] == "the address space's"


def test_a_training_whose_memory_is_flat_is_not_ended() -> None:
    now = used(Bound("the task's", 0.0))
    guard = Guard(len(SOURCE), 5, Alone(), limit=1.5 * now)
    assert train(trainer(), feed(SOURCE), guard=guard).decisions == ()


def test_ranks_that_run_out_of_memory_save_together(tmp_path: Path) -> None:
    now = used(Bound("the task's", 0.0))

    def life(ranks: Ranks) -> str:
        guard = Guard(len(SOURCE), 1, ranks.group, limit=now / 2 if ranks.rank == 1 else None)
        with pytest.raises(NeedsMemoryError) as raised:
            train(trainer(group=ranks), feed(SOURCE), checkpoints=tmp_path, guard=guard)
        return str(raised.value)

    first, second = on(2, life)
    assert first == second
    assert "of rank 1. It was saved at step 3 and ended before that" in first
    told = train(trainer(), feed(SOURCE), checkpoints=tmp_path)
    assert (told.begun_at, told.rows) == (3, 16_000)


def test_the_last_checkpoint_of_a_training_that_has_no_memory_left_takes_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(Flash, "save", full)
    task = msgspec.structs.replace(TASK, flash=True)
    guard = Guard(len(SOURCE), 1, Alone(), limit=used(Bound("the task's", 0.0)) / 2)
    with pytest.raises(NeedsMemoryError, match="It was saved at step 3 and ended before that"):
        train(trainer(task), feed(SOURCE), checkpoints=tmp_path, guard=guard)
    assert train(trainer(), feed(SOURCE), checkpoints=tmp_path).begun_at == 3


def test_a_training_without_checkpoints_says_what_it_needs() -> None:
    now = used(Bound("the task's", 0.0))
    with pytest.raises(NeedsMemoryError, match=r"the task's bound, of rank 0. It was ended before that; \d+\.\d\d GiB"):
        train(trainer(), feed(SOURCE), guard=Guard(len(SOURCE), 1, Alone(), limit=now / 2))


def test_an_address_space_holds_more_than_what_is_in_memory() -> None:
    assert used(Bound("the address space's", 0.0)) > used(Bound("the task's", 0.0)) > 1 << 20
