"""The file in which the runs of a machine write down what they use."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from couler_py.store.ledger import Ledger, LedgerError, ledger_folder
from couler_py.store.locks import release
from couler_py.store.shares import Hold, Share


def sit(ledger: Ledger, name: str, cpus: float = 2.0) -> None:
    with ledger.opened() as table:
        table.join(name, Share(cpus, 0.0, 0), (), {})


def leave(ledger: Ledger, *names: str) -> None:
    with ledger.opened() as table:
        for name in names:
            table.leave(name)


def seats(folder: Path) -> list[str]:
    with Ledger(folder).opened() as table:
        return list(table.seats)


def test_what_one_writes_the_other_reads(tmp_path: Path) -> None:
    first, second = Ledger(tmp_path), Ledger(tmp_path)
    for number in range(50):  # longer and longer: the book moves about in its file
        sit(first, f"run {number}")
        with second.opened() as table:
            assert list(table.seats) == [f"run {n}" for n in range(number + 1)]
    with second.opened() as table:
        table.seats["run 3"].holds[7] = Hold(0.5, 2.0**40, ("GPU-1",), True)
    with first.opened() as table:
        assert table.seats["run 3"].holds == {7: Hold(0.5, 2.0**40, ("GPU-1",), True)}


def test_who_fails_in_between_has_changed_nothing(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    sit(ledger, "a")
    with pytest.raises(KeyError):
        leave(ledger, "a", "nobody")
    assert seats(tmp_path) == ["a"]


@pytest.mark.parametrize("written", [0, 1])
def test_who_is_killed_while_writing_has_changed_all_or_nothing(written: int, tmp_path: Path) -> None:
    """Killed before, or after, the new book is written, which doesn't count until the header names it."""
    sit(Ledger(tmp_path), "a")
    program = f"""
import os, signal
from pathlib import Path
from couler_py.store.ledger import Ledger
write, left = os.pwrite, [{written}]
def pwrite(*given):
    if not left[0]:
        os.kill(os.getpid(), signal.SIGKILL)
    left[0] -= 1
    return write(*given)
with Ledger(Path({str(tmp_path)!r})).opened() as table:
    os.pwrite = pwrite
    table.leave("a")
"""
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == -signal.SIGKILL
    assert seats(tmp_path) == ["a"]


def test_a_book_that_was_deleted_is_begun_anew(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    sit(ledger, "a")
    (tmp_path / "book").unlink()
    sit(ledger, "b")
    assert seats(tmp_path) == ["b"]


def test_a_damaged_book_is_said_to_be_one(tmp_path: Path) -> None:
    sit(Ledger(tmp_path), "a")
    book = tmp_path / "book"
    book.write_bytes(book.read_bytes()[:16] + b"\xc1" * 100)
    with pytest.raises(LedgerError, match=r"book is damaged .* delete it when no run is at work"):
        seats(tmp_path)


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match=r"gone/book .*set COULER_LEDGER to another folder"):
        seats(tmp_path / "gone")


def test_the_folder_is_the_one_of_locks_or_the_one_that_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.delenv("COULER_LEDGER")
    assert ledger_folder() == tmp_path / f"couler-locks-{os.getuid()}" / "ledger"
    monkeypatch.setenv("COULER_LEDGER", str(tmp_path / "a" / "b"))
    assert ledger_folder() == tmp_path / "a" / "b"
    assert ledger_folder().stat().st_mode & 0o777 == 0o700


def test_a_pipe_wakes_who_waits_and_nobody_else_minds(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    ledger.wake("gone")
    pipe = ledger.listen("a")
    ledger.wake("a")
    ledger.wake("a")
    assert os.read(pipe[0], 10) == b"!!"
    release([*pipe])
    ledger.wake("a")


def test_what_a_dead_engine_held_is_free_when_its_steps_have_ended(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    engine = ledger.take_seat("killed")
    steps = [ledger.take_slot("killed", slot) for slot in (0, 1)]
    with ledger.opened() as table:
        table.join("killed", Share(4, 0, 0), (), {0: Hold(1, 0), 1: Hold(2, 0)})

    def left() -> dict[int, Hold] | None:
        with ledger.opened() as table:
            ledger.sweep(table, "me")
            return table.seats["killed"].holds if "killed" in table.seats else None

    assert left() == {0: Hold(1, 0), 1: Hold(2, 0)}
    release([engine])
    assert left() == {0: Hold(1, 0), 1: Hold(2, 0)}
    release([steps[0]])
    assert left() == {1: Hold(2, 0)}
    release([steps[1]])
    assert left() is None
    assert [path.name for path in tmp_path.iterdir()] == ["book"]


def test_files_of_who_was_killed_when_it_came_are_swept_away(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    release([ledger.take_seat("killed"), ledger.take_slot("killed", 0)])
    living = ledger.take_seat("living")
    with ledger.opened() as table:
        ledger.sweep(table, "me")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["book", "living.seat"]
    release([living])
