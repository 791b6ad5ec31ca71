"""A slow worker doesn't hold up the others: shards that are asked for, and steps that are cut by speed."""

from __future__ import annotations

import heapq

import pytest
from hypothesis import given
from hypothesis import strategies as st

from couler_py.steps.dlrm.sharding.machine import Machine
from couler_py.steps.dlrm.sharding.messages import Advance, Join, Joined, Lease, Request, Take
from couler_py.steps.dlrm.sharding.settings import Settings
from couler_py.steps.dlrm.sharding.shares import Speeds, shares


def makespan(speeds: list[float], rows: int, shard: int) -> float:
    """When the last shard is done, on a clock of its own: workers of so many rows a second, a real machine."""
    machine = Machine(Settings(rows=rows, shard_rows=shard))
    generations = {}
    for number in range(len(speeds)):
        joined, _ = machine.apply(Request(str(number), 0, 0, Join()))
        assert isinstance(joined, Joined)
        generations[number] = joined.generation
    free = [(0.0, number, 0) for number in range(len(speeds))]
    heapq.heapify(free)
    last, sequence = 0.0, 0
    while free:
        now, number, lease = heapq.heappop(free)
        sequence += 1
        worker, generation = str(number), generations[number]
        if lease:
            held = machine.state.held[lease].part
            _, start, stop = machine.settings.shard(held.place)
            machine.apply(Request(worker, generation, sequence, Advance(lease, stop - start)))
            last = max(last, now)
        taken, _ = machine.apply(Request(worker, generation, -sequence, Take()))
        if isinstance(taken, Lease):
            heapq.heappush(free, (now + taken.rows / speeds[number], number, taken.number))
    assert machine.status().rows_done == rows
    return last


@pytest.mark.parametrize(
    ("slow", "shard", "time"),
    [
        (0.5, 100, 11_500), (0.5, 1000, 12_000), (0.5, 5000, 15_000),
        (0.25, 100, 12_400), (0.25, 1000, 13_000), (0.25, 5000, 20_000),
        (0.1, 100, 13_000), (0.1, 1000, 20_000), (0.1, 5000, 50_000),
    ],
)  # fmt: skip
def test_small_shards_end_nearly_together(slow: float, shard: int, time: float) -> None:
    assert makespan([1, 1, 1, slow], 40_000, shard) == pytest.approx(time)


def test_one_worker_at_a_quarter_of_the_speed_costs_little_more_than_it_must() -> None:
    rows, speeds = 40_000, [1, 1, 1, 0.25]
    ideal = rows / sum(speeds)
    assert makespan(speeds, rows, rows // 50) <= 1.15 * ideal
    assert rows / 4 / 0.25 > 3.2 * ideal  # what an equal split takes


def test_a_slow_rank_gets_the_fewer_rows_the_slower_it_is() -> None:
    assert shares([1, 1, 1, 4], 520) == [160, 160, 160, 40]
    assert shares([1, 1], 10) == [5, 5]
    assert shares([1, 1, 1000], 96, unit=8) == [48, 40, 8]
    assert shares([1, 2], 100, unit=8) == [68, 32]


@given(st.lists(st.floats(0.01, 100), min_size=1, max_size=8), st.integers(0, 500), st.integers(1, 9))
def test_all_rows_of_a_batch_are_somebodys(seconds: list[float], extra: int, unit: int) -> None:
    rows = unit * len(seconds) + extra
    found = shares(seconds, rows, unit)
    assert sum(found) == rows
    assert min(found) >= unit


@pytest.mark.parametrize(
    ("seconds", "rows", "problem"),
    [([1, 1], 1, "1 rows in units of 1: 2 ranks need 2"), ([1, 0], 9, r"seconds a row: times are above 0")],
)
def test_what_can_not_be_shared_is_refused(seconds: list[float], rows: int, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        shares(seconds, rows)


def test_shares_follow_measured_speeds_but_not_their_noise() -> None:
    speeds = Speeds(4, 520)
    assert speeds.shares == [130, 130, 130, 130]
    assert not speeds.measured([1.0, 1.1, 0.95, 1.05])
    changes = [speeds.measured([rows * each for rows, each in zip(speeds.shares, [1, 1, 1, 4], strict=True)])]
    for _ in range(30):
        changes.append(speeds.measured([rows * each for rows, each in zip(speeds.shares, [1, 1, 1, 4], strict=True)]))
    assert max(rows * each for rows, each in zip(speeds.shares, [1, 1, 1, 4], strict=True)) <= 1.15 * 520 / 3.25
    assert not any(changes[20:])
