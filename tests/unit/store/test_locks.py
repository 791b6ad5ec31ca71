"""Locks that processes hold."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from couler_py.store.locks import lock_file, lock_folder, release, tidy, try_lock, try_paths, try_slot


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return


def test_a_lock_has_one_holder() -> None:
    first = try_lock(lock_file("mutex", "m"))
    assert first is not None
    assert try_lock(lock_file("mutex", "m")) is None
    release([first])
    again = try_lock(lock_file("mutex", "m"))
    assert again is not None
    release([again])


def test_a_semaphore_has_as_many_holders_as_slots() -> None:
    held = [try_slot("semaphore", "s", 2) for _ in range(3)]
    assert [each is not None for each in held] == [True, True, False]
    release([each for each in held if each is not None])


def test_a_lock_file_that_was_deleted_is_not_trusted() -> None:
    path = lock_file("mutex", "m")
    first = try_lock(path)
    assert first is not None
    path.unlink()
    second = try_lock(path)
    assert second is not None
    assert try_lock(path) is None
    release([first, second])


def test_a_shared_path_is_held_together_but_not_with_who_wants_it_alone() -> None:
    first, second = try_paths([], ["/x/a"]), try_paths([], ["/x/a"])
    assert first is not None
    assert second is not None
    assert try_paths(["/x/a"]) is None
    release(first + second)


@pytest.mark.parametrize(
    ("first", "second", "together"),
    [
        (["/x/a"], ["/x/a"], False),
        (["/x/a"], ["/x/b"], True),
        (["/x/a"], ["/x/a/b"], False),
        (["/x/a/b"], ["/x/a"], False),
        (["/x/a", "/x/b"], ["/x/c", "/x/b"], False),
    ],
)
def test_paths_exclude_each_other_where_one_holds_the_other(
    first: list[str], second: list[str], together: bool
) -> None:
    held = try_paths(first)
    assert held is not None
    other = try_paths(second)
    assert (other is not None) is together
    release(held + (other or []))


def test_the_files_of_locks_that_nobody_holds_are_deleted(tmp_path: Path) -> None:
    free, held, shared = (lock_file("mutex", name) for name in ("free", "held", "shared"))
    release([try_lock(free) or 0])
    kept = [try_lock(held), try_lock(shared, shared=True)]
    (lock_folder() / "ledger").mkdir()
    tidy()
    assert {path.name for path in lock_folder().iterdir()} == {held.name, shared.name, "ledger"}
    assert try_lock(held) is None
    release([each for each in kept if each is not None])
    tidy()
    assert [path.name for path in lock_folder().iterdir()] == ["ledger"]
