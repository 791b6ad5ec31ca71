"""A training's rows, from a master beside the first rank: each once, whoever is lost. Ranks are threads."""

from __future__ import annotations

import functools
import socket
import sys
from collections import Counter
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec
import pytest

from couler_py.steps.checkpoint.peers import Alone
from couler_py.steps.dlrm.data.reading import Pieces
from couler_py.steps.dlrm.feeding import Batch
from couler_py.steps.dlrm.leasing import Leasing
from couler_py.steps.dlrm.sharding.service import serving
from couler_py.steps.dlrm.sharding.settings import Settings
from couler_py.steps.dlrm.sharding.worker import ShardingError, Worker
from couler_py.steps.dlrm.supplying import supplied
from couler_py.steps.dlrm.task import Task
from couler_py.steps.dlrm.training import train
from tests.training.dlrm.sharing import Ranks, on
from tests.training.dlrm.toys import TASK, Planted, trainer

SOURCE: Any = Planted(1500, 1)
changed = msgspec.structs.replace


class Ended(Exception):
    """A training that is ended from outside."""


class Noting:
    """A feed that notes the rows of each step."""

    def __init__(self, feed: Any):
        self._feed, self.steps = feed, list[list[int]]()
        self.computed, self.facts, self.restore = feed.computed, feed.facts, feed.restore

    def next(self, rank: int, world: int) -> list[Batch]:
        found: list[Any] = self._feed.next(rank, world)
        assert all(len(each.label) <= TASK.micro_batch for each in found)
        self.steps.append([int(row) for each in found for row in each.rows])
        return found


def rows_in_the_model(task: Task, lives: list[tuple[int, int | None]], checkpoints: Path) -> Counter[int]:
    """How often each row is in the last model, where so many ranks train until they end after a step."""
    kept: dict[int, list[int]] = {}

    def life(ranks: Ranks, end: int | None) -> tuple[int, list[list[int]]]:
        def after(step: int) -> None:
            if step == end:
                raise Ended

        with supplied(task, SOURCE, ranks.group) as feed:
            noting = Noting(feed)
            mine = trainer(task, ranks)
            try:
                begun_at = train(mine, noting, checkpoints=checkpoints, after=after).begun_at
            except Ended:
                begun_at = -1
            return begun_at, noting.steps

    begun_at = 0
    for world, end in lives:
        told = on(world, functools.partial(life, end=end))
        steps = [list(chain(*each)) for each in zip(*(steps for _, steps in told), strict=True)]
        kept |= {begun_at + number: rows for number, rows in enumerate(steps, 1)}
        if end is None:
            assert {begun for begun, _ in told} == {begun_at}
            kept = {number: rows for number, rows in kept.items() if number <= begun_at + len(steps)}
        else:
            begun_at = end - end % (task.save_every or 1)
    return Counter(row for rows in kept.values() for row in rows)


@pytest.mark.parametrize("sharding", ["exactly_once", "at_least_once"])
def test_workers_that_are_lost_and_come_back_lose_and_repeat_no_row(sharding: Any, tmp_path: Path) -> None:
    task = changed(TASK, sharding=sharding, save_every=2)
    found = rows_in_the_model(task, [(2, 3), (1, 5), (2, None)], tmp_path)
    assert found == Counter(range(1500))


def test_steps_do_not_depend_on_how_many_ranks_there_are() -> None:
    def steps(ranks: Ranks) -> list[list[int]]:
        with supplied(TASK, SOURCE, ranks.group) as feed:
            noting = Noting(feed)
            train(trainer(TASK, ranks), noting)
            return noting.steps

    [alone] = on(1, steps)
    first, second = on(2, steps)
    assert [len(each) for each in alone] == [256, 256, 256, 256, 256, 220, 0]
    assert [a + b for a, b in zip(first, second, strict=True)] == alone


@pytest.mark.parametrize(
    ("other", "problem", "raised"),
    [
        ({"seed": 1}, "this is the state of another training: seed 0, not 1", ShardingError),
        ({"sharding": "at_least_once"}, "whose rows came from elsewhere than leased shards", ValueError),
    ],
)
def test_a_checkpoint_of_other_draws_is_refused(
    other: Any, problem: str, raised: type[Exception], tmp_path: Path
) -> None:
    task = changed(TASK, save_every=2)
    rows_in_the_model(task, [(1, 2)], tmp_path)
    with pytest.raises(raised, match=problem):
        rows_in_the_model(changed(task, **other), [(1, None)], tmp_path)


def test_a_rank_that_finds_no_shard_is_not_taken_for_a_fast_one(tmp_path: Path) -> None:
    def life(ranks: Ranks, master: Path) -> tuple[int, list[int]]:
        with Worker(master, f"rank {ranks.rank}") as worker:
            feed = Leasing(worker, Pieces(SOURCE), 8, ranks.group)
            rows = sum(len(each.label) for each in feed.next(ranks.rank, 2))
            first_of_those_with_rows = ranks.group.gather(rows).index(4)
            feed.computed(1.0 if ranks.rank == first_of_those_with_rows else 0.1)
            return rows, feed.speeds.shares

    for shards, had, expected in ((1, [0, 4], [4, 4]), (2, [4, 4], [1, 7])):
        master = tmp_path / str(shards)
        with serving(master, Settings(20 * shards, 20, shuffled=False)):
            found = on(2, functools.partial(life, master=master))
        assert sorted(rows for rows, _ in found) == had
        assert [shares for _, shares in found] == [expected] * 2


class Hearing(Alone):
    """The first rank of a training on some hosts, which tries what it hears of the master's address."""

    def __init__(self, *others: str):
        self._others = others
        self.host, self.tried = "", list[dict[str, bool]]()

    def gather(self, value: Any) -> list[Any]:
        if isinstance(value, str):
            return [value, *(other or value for other in self._others)]
        if isinstance(value, tuple):
            self.host, self._port, _ = value
        if self.host:
            self.tried.append({host: self._listens(host) for host in ("127.0.0.1", "127.0.0.2")})
        return [value]

    def _listens(self, host: str) -> bool:
        with socket.socket() as sock:
            return sock.connect_ex((host, self._port)) == 0


@pytest.mark.skipif(sys.platform != "linux", reason="127.0.0.2 is another address of this machine, as on Linux")
@pytest.mark.parametrize(
    ("others", "host", "elsewhere"), [([], "127.0.0.1", False), ([""], "127.0.0.1", False), (["b"], "localhost", True)]
)
def test_a_master_listens_for_as_many_hosts_as_there_are_until_all_have_left(
    others: list[str], host: str, elsewhere: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MASTER_ADDR", "localhost")
    ranks = Hearing(*others)
    with supplied(changed(TASK, sharding="at_least_once"), SOURCE, ranks):
        pass
    assert ranks.host == host
    assert (
        ranks.tried == [{"127.0.0.1": True, "127.0.0.2": elsewhere}] * 2
    )  # as ranks hear of it, and when they have left
