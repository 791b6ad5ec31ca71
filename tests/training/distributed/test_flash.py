"""Saves through memory: what is whole is never lost, what is torn is never read, and nothing is left behind."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch

from couler_py.steps.checkpoint import folders, link
from couler_py.steps.checkpoint.flash import Flash
from couler_py.steps.checkpoint.manifest import CheckpointError
from couler_py.steps.checkpoint.memory import ABOUT, About, Memory
from couler_py.steps.checkpoint.places import place
from couler_py.steps.checkpoint.saving import load
from couler_py.store import faults
from tests.training.distributed.ranks import Thread, on_ranks

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="keepers are looked for in /proc")


@pytest.fixture(autouse=True)
def _sockets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Each test has keepers of its own, and none is left when it ends."""
    monkeypatch.setattr(link.tempfile, "tempdir", str(tmp_path))
    yield
    for pid in keepers(tmp_path):
        os.kill(pid, signal.SIGKILL)


def keepers(folder: Path) -> list[int]:
    found = []
    for each in Path("/proc").iterdir():
        if each.name.isdigit():
            try:
                command = (each / "cmdline").read_bytes()
            except OSError:
                continue
            if b"checkpoint.keeper" in command and os.fsencode(folder) in command:
                found.append(int(each.name))
    return found


def until(holds: Callable[[], bool]) -> None:
    """Wait for what comes in its own time."""
    for _ in range(1000):
        if holds():
            return
        time.sleep(0.02)
    pytest.fail("it never came")


def state(step: int) -> dict[str, torch.Tensor]:
    return {"a": torch.full((300, 200), float(step)), "b": torch.full((40,), step, dtype=torch.int64)}


def read(folder: Path) -> tuple[int, bool, float]:
    """The step that a training goes on with, and whether all of it is of that step."""
    got = state(-1)
    flash = Flash(folder / "ckpt")
    loaded = flash.restore(got)
    flash.close()
    assert got["a"].unique().tolist() == [float(got["b"][0])] == [float(loaded.step)]
    assert got["b"].unique().numel() == 1
    return loaded.step, loaded.from_memory, loaded.facts["consumed"]


def dies(work: Callable[[], None], fault: str = "") -> None:
    """Do something in a process that is killed in the end, or earlier by a fault."""
    pid = os.fork()
    if pid == 0:
        try:
            if fault:
                os.environ["COULER_FAULT"] = fault
                faults._fault = faults._Fault(fault)
            work()
        finally:
            os.kill(os.getpid(), signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    assert os.WTERMSIG(status) == signal.SIGKILL


def test_what_is_written_is_the_state_that_was_saved_whatever_training_does_then(tmp_path: Path) -> None:
    tensors = state(1)
    with Flash(tmp_path / "ckpt") as flash:
        kept = flash.save(1, tensors, {"consumed": 8})
        for each in tensors.values():
            each.zero_()
        assert kept.persisting
    got = state(-1)
    assert load(tmp_path / "ckpt", got).facts == {"consumed": 8}
    assert got["a"].unique().tolist() == [1.0]


def test_a_folder_for_temporary_files_may_have_a_long_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / ("long" * 40)
    folder.mkdir()
    monkeypatch.setattr(link.tempfile, "tempdir", str(folder))

    def work() -> None:
        Flash(tmp_path / "ckpt").save(1, state(1), {"consumed": 10}, persist=False)

    dies(work)
    step, _, consumed = read(tmp_path)
    assert (step, consumed) == (1, 10)


def test_a_state_that_was_only_in_memory_outlives_the_process(tmp_path: Path) -> None:
    def work() -> None:
        flash = Flash(tmp_path / "ckpt")
        flash.save(1, state(1), {"consumed": 10})
        flash.wait()
        flash.save(2, state(2), {"consumed": 20}, persist=False)

    dies(work)
    step, _, consumed = read(tmp_path)
    assert (step, consumed) == (2, 20)


def test_it_is_written_to_disk_as_well_when_the_process_is_gone(tmp_path: Path) -> None:
    dies(lambda: Flash(tmp_path / "ckpt", linger=0.1).save(1, state(1), {"consumed": 10}, persist=False) and None)
    until(lambda: keepers(tmp_path) == [])
    got = state(-1)
    assert load(tmp_path / "ckpt", got).step == 1


def test_memory_is_read_where_disk_is_older(tmp_path: Path) -> None:
    flash = Flash(tmp_path / "ckpt")
    flash.save(1, state(1), {})
    flash.wait()
    flash.save(2, state(2), {"consumed": 20}, persist=False)
    got = state(-1)
    loaded = flash.restore(got)
    assert (loaded.step, loaded.from_memory, loaded.facts) == (2, True, {"consumed": 20})
    assert got["a"].unique().tolist() == [2.0]
    flash.close()


def test_a_part_of_the_state_is_read_from_disk_and_saving_goes_on(tmp_path: Path) -> None:
    flash = Flash(tmp_path / "ckpt")
    flash.save(1, state(1), {})
    part = {"b": torch.zeros(40, dtype=torch.int64)}
    loaded = flash.restore(part)
    assert (loaded.step, loaded.from_memory, loaded.unused) == (1, False, ("a",))
    assert part["b"].unique().tolist() == [1]
    assert flash.save(2, state(2), {}).persisting
    flash.close()
    assert load(tmp_path / "ckpt", state(-1)).step == 2


@pytest.mark.parametrize(
    ("fault", "step"),
    [
        ("checkpoint.copying:2", 1),
        ("checkpoint.copied:2", 2),
        ("checkpoint.writing:2", 1),
        ("checkpoint.written:2", 1),
        ("checkpoint.reported:2", 1),
        ("checkpoint.whole:2", 1),
        ("checkpoint.newest:2", 2),
    ],
)
def test_a_kill_at_any_point_leaves_a_whole_state(fault: str, step: int, tmp_path: Path) -> None:
    """The second save is hit: the trainer while it copies, or its keeper while it writes."""

    def work() -> None:
        flash = Flash(tmp_path / "ckpt")
        for each in (1, 2):
            flash.save(each, state(each), {"consumed": 10 * each})
            flash.wait()

    dies(work, fault)
    assert read(tmp_path)[::2] == (step, 10 * step)


def test_after_a_kill_training_saves_on(tmp_path: Path) -> None:
    def work() -> None:
        flash = Flash(tmp_path / "ckpt")
        flash.save(1, state(1), {"consumed": 10})
        flash.save(2, state(2), {"consumed": 20}, persist=False)

    dies(work, "checkpoint.copying:2")
    with Flash(tmp_path / "ckpt") as flash:
        assert flash.restore(state(-1)).step == 1
        flash.save(3, state(3), {"consumed": 30})
    assert read(tmp_path)[0] == 3
    whole = [
        each for each in folders.folders(place(tmp_path / "ckpt")) if folders.is_whole(place(tmp_path / "ckpt"), each)
    ]
    assert [folders.step_of(each) for each in whole] == [1, 3]


def test_training_never_waits_for_a_disk_that_hangs(tmp_path: Path) -> None:
    flash = Flash(tmp_path / "ckpt")
    flash.save(1, state(1), {})
    flash.wait()
    [keeper] = keepers(tmp_path)
    os.kill(keeper, signal.SIGSTOP)
    said = [flash.save(step, state(step), {}).persisting for step in (2, 3, 4)]
    os.kill(keeper, signal.SIGCONT)
    flash.wait()
    assert said == [True, False, False]
    got = state(-1)
    assert load(tmp_path / "ckpt", got).step == 2
    assert got["a"].unique().tolist() == [2.0]
    assert flash.save(5, state(5), {}).persisting
    flash.close()


def test_a_write_that_failed_is_told_at_the_next_save_and_the_one_after_is_made(tmp_path: Path) -> None:
    flash = Flash(tmp_path / "ckpt")
    (tmp_path / "ckpt").write_text("a file where the folder should be")
    flash.save(1, state(1), {})
    with pytest.raises(CheckpointError, match=r"step 1 was not written: (NotADirectory|FileExists)Error"):
        flash.wait()
    (tmp_path / "ckpt").unlink()
    flash.save(2, state(2), {"consumed": 20})
    flash.close()
    assert read(tmp_path)[0] == 2


def test_a_keeper_that_was_killed_is_told_and_another_is_started(tmp_path: Path) -> None:
    flash = Flash(tmp_path / "ckpt")
    flash.save(1, state(1), {})
    flash.wait()
    [keeper] = keepers(tmp_path)
    os.kill(keeper, signal.SIGSTOP)
    flash.save(2, state(2), {})
    os.kill(keeper, signal.SIGKILL)
    with pytest.raises(CheckpointError, match="the keeper of rank 0 died while it wrote"):
        flash.wait()
    flash.save(3, state(3), {"consumed": 30})
    flash.close()
    assert read(tmp_path)[0] == 3


def test_nothing_is_left_when_all_is_over(tmp_path: Path) -> None:
    with Flash(tmp_path / "ckpt") as flash:
        flash.save(1, state(1), {})
    until(lambda: keepers(tmp_path) == [])
    assert [path.name for path in tmp_path.rglob("*") if path.is_socket()] == []


def test_copies_of_a_model_are_in_memory_once_and_every_rank_gets_all_of_it(tmp_path: Path) -> None:
    def work(rank: Thread) -> tuple[int, bool, int]:
        flash = Flash(tmp_path / "ckpt", group=rank, grain=0)
        flash.save(1, state(1), {}, persist=False)
        got = state(-1)
        loaded = flash.restore(got)
        assert got["a"].unique().tolist() == [1.0]
        room = flash._link.find(*flash._known[2:]).room  # type: ignore[index, union-attr]
        flash.close()
        return loaded.size, loaded.from_memory, room

    whole = sum(each.numel() * each.element_size() for each in state(1).values())
    for size, from_memory, room in on_ranks(3, work):
        assert (size, from_memory) == (whole, True)
        assert room < whole / 3 + 16384


def test_ranks_write_their_parts_and_one_makes_it_a_checkpoint(tmp_path: Path) -> None:
    def work(rank: Thread) -> None:
        with Flash(tmp_path / "ckpt", group=rank) as flash:
            flash.save(1, state(1), {"consumed": 10})

    on_ranks(3, work)
    assert read(tmp_path) == (1, False, 10)


def test_a_step_that_only_some_ranks_have_is_not_restored(tmp_path: Path) -> None:
    """Rank 1 was killed while it copied the second state, rank 0 had copied it."""

    def work(rank: Thread) -> int:
        flash = Flash(tmp_path / "ckpt", group=rank)
        flash.save(1, state(1), {}, persist=False)
        flash.save(2, state(2), {}, persist=False)
        if rank.rank == 1:
            memory = flash._link.find(*flash._known[2:])  # type: ignore[index]
            assert memory is not None
            memory.begin(memory.newest()[0])
        got = state(-1)
        step = flash.restore(got).step
        assert got["a"].unique().tolist() == [float(step)]
        flash.close()
        return step

    assert on_ranks(2, work) == [1, 1]


def test_a_slot_that_was_not_finished_is_not_there() -> None:
    memory = Memory.create(100)
    memory.begin(0)
    assert memory.about(0) is None
    memory.finish(0, About(3, "folder", "layout", {"x": 1}))
    assert Memory(os.dup(memory.descriptor)).about(0) == About(3, "folder", "layout", {"x": 1})
    assert memory.newest() == [0]
    memory.close()


def test_facts_that_do_not_fit_are_refused() -> None:
    memory = Memory.create(100)
    with pytest.raises(CheckpointError, match=r"the facts of step 3 take 1,\d{3},\d{3} bytes: 1,048,576 is the most"):
        memory.finish(0, About(3, "folder", "layout", {"x": "x" * ABOUT}))
    memory.close()


def test_memory_that_there_is_not_is_named() -> None:
    with pytest.raises(
        CheckpointError, match=r"/dev/shm has [\d,]+ bytes left, and two copies of this rank's state take"
    ):
        Memory.create(1 << 50)
