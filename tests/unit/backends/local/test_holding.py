"""Paths of processes outside their folders: who holds them, and what is taken away after."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from couler_py.backends.local.scope import TaskFailure
from couler_py.backends.local.steps.holding import absent, holding
from couler_py.store.locks import release, try_paths


def request(*paths: Path, fresh: bool = True) -> dict[str, Any]:
    names = [str(path) for path in paths]
    return {
        "lock_paths": names,
        "shared_paths": [],
        "fresh_paths": names if fresh else [],
        "folders_of": names,
        "clean": [],
    }


def test_the_outermost_folder_that_a_path_lacks(tmp_path: Path) -> None:
    paths = [tmp_path / "a" / "b" / "file", tmp_path / "a" / "other", tmp_path / "file", tmp_path / "z" / "file"]
    assert absent(map(str, paths)) == [str(tmp_path / "a"), str(tmp_path / "z")]


def test_a_folder_that_is_made_for_an_attempt_is_its_own_and_taken_away_after(tmp_path: Path) -> None:
    async def hold() -> None:
        asked = request(tmp_path / "out" / "one")
        async with holding(asked):
            assert asked["clean"] == [str(tmp_path / "out")]
            assert try_paths([str(tmp_path / "out" / "two")]) is None
        after = try_paths([str(tmp_path / "out" / "two")])
        assert after is not None
        release(after)

    asyncio.run(hold())


def test_a_folder_that_is_there_stays_and_is_shared(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()

    async def hold() -> None:
        asked = request(tmp_path / "out" / "one")
        async with holding(asked):
            assert asked["clean"] == []
            other = try_paths([str(tmp_path / "out" / "two")])
            assert other is not None
            release(other)

    asyncio.run(hold())


def test_what_an_attempt_before_took_away_is_looked_at_again(tmp_path: Path) -> None:
    """The second begins to wait while the folder of the first is there, and finds it gone."""

    async def hold() -> None:
        first, second = request(tmp_path / "out" / "one"), request(tmp_path / "out" / "two")
        async with asyncio.TaskGroup() as group, holding(first):
            (tmp_path / "out").mkdir()
            waiting = group.create_task(enter(second))
            await asyncio.sleep(0)
            assert not waiting.done()
            (tmp_path / "out").rmdir()
        assert second["clean"] == [str(tmp_path / "out")]

    async def enter(asked: dict[str, Any]) -> None:
        async with holding(asked):
            pass

    asyncio.run(hold())


def test_what_stands_at_a_path_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "mine").touch()

    async def hold() -> None:
        async with holding(request(tmp_path / "mine")):
            raise AssertionError("held")

    with pytest.raises(TaskFailure, match="mine exists on this machine, and a step that runs as a process would"):
        asyncio.run(hold())
    held = try_paths([str(tmp_path / "mine")])
    assert held is not None
    release(held)
