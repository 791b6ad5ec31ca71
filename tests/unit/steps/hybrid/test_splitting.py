"""Layers and micro-batches are shared as well as can be: against all ways, and against published plans."""

from __future__ import annotations

import itertools
import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from couler_py.passes.solver import Program
from couler_py.steps.hybrid.plan import MemoryModel
from couler_py.steps.hybrid.splitting import InfeasibleError, share_layers, share_micros

M32 = MemoryModel((4608.02, 4124.24, 3641.99, 3129.95), 1200, 5500, 81252, 4096)
M70 = MemoryModel((2895, 2685, 2485, 2295, 2110, 1933, 1769, 1647), 600, 4700, 81252, 4096)


def steady(rates: list[list[float]], layers: int, micros: int, caps: list[list[int] | None]) -> float:
    """The best steady part of a step for pipelines of these groups."""
    slow = []
    for row, most in zip(rates, caps, strict=True):
        counts = share_layers(row, layers, most)
        assert sum(counts) == layers
        slow.append(max(rate * count for rate, count in zip(row, counts, strict=True)))
    shares = share_micros(slow, micros, [len(row) for row in rates])
    assert sum(shares) == micros
    return max(share * time for share, time in zip(shares, slow, strict=True))


def most(memory: MemoryModel, sizes: list[int], largest: int) -> list[int]:
    return [memory.most(place, len(sizes), largest / size) for place, size in enumerate(sizes)]


def test_how_many_layers_fit_the_stages_of_the_published_model() -> None:
    assert most(M32, [2, 2, 2, 2], 2) == [15, 17, 19, 22]
    assert most(M32, [2, 1, 2, 2], 2)[1] == 8


def test_golden_32b_with_two_slow_pipelines() -> None:
    rates: list[list[float]] = [[2.34, 2, 1, 1], [3.8, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 1]]
    caps: list[list[int] | None] = [most(M32, [2, 1, 2, 2], 2), *[most(M32, [2] * 4, 2)] * 3]
    assert steady(rates, 60, 64, caps) == pytest.approx(285)


def test_golden_70b_with_groups_cut_to_pieces() -> None:
    rates: list[list[float]] = [[7.22, 3.66, 3.66, 1.9, 1.9, 1.9, 1, 1], [7.22, 7.22, 3.66, 1, 1, 1]]
    sizes = [[1, 2, 2, 4, 4, 4, 8, 8], [1, 1, 2, 8, 8, 8]]
    caps: list[list[int] | None] = [most(M70, row, 8) for row in sizes]
    found = steady(rates, 80, 64, caps)
    assert found == pytest.approx(667)
    assert 80 * 64 / sum(1 / rate for row in rates for rate in row) == pytest.approx(655, abs=0.5)


def test_golden_one_slow_stage() -> None:
    rates: list[list[float]] = [[2.57, 1, 1, 1], *[[1.0] * 4] * 3]
    assert steady(rates, 60, 64, [None] * 4) == pytest.approx(255)


rates = st.lists(st.integers(1, 20).map(lambda each: each / 4), min_size=1, max_size=4)


@settings(max_examples=150)
@given(st.data())
def test_no_way_of_sharing_layers_is_better(data: st.DataObject) -> None:
    row = data.draw(rates)
    layers = data.draw(st.integers(1, 12))
    caps = [data.draw(st.integers(0, 12)) for _ in row]

    def slowest(counts: tuple[int, ...]) -> float:
        return max(rate * count for rate, count in zip(row, counts, strict=True))

    ways = [each for each in itertools.product(*(range(cap + 1) for cap in caps)) if sum(each) == layers]
    if not ways:
        with pytest.raises(InfeasibleError, match=f"{layers} layers: the memory of all {len(row)} stages holds"):
            share_layers(row, layers, caps)
        return
    found = share_layers(row, layers, caps)
    assert sum(found) == layers
    assert all(count <= cap for count, cap in zip(found, caps, strict=True))
    assert slowest(tuple(found)) == pytest.approx(min(map(slowest, ways)))


@settings(max_examples=150)
@given(st.data())
def test_no_way_of_sharing_micro_batches_is_better(data: st.DataObject) -> None:
    row = data.draw(rates)
    starts = [data.draw(st.integers(0, 9)) / 2 for _ in row]
    least = [data.draw(st.integers(0, 3)) for _ in row]
    micros = data.draw(st.integers(max(1, sum(least)), sum(least) + 8))

    def last(counts: tuple[int, ...]) -> float:
        return max(start + slow * count for start, slow, count in zip(starts, row, counts, strict=True))

    found = share_micros(row, micros, least, starts)
    assert sum(found) == micros
    assert all(count >= low for count, low in zip(found, least, strict=True))
    ways = itertools.product(*(range(low, micros + 1) for low in least))
    assert last(tuple(found)) == pytest.approx(min(last(each) for each in ways if sum(each) == micros))


@pytest.mark.parametrize("seed", range(12))
def test_a_solver_finds_nothing_better(seed: int) -> None:
    """HiGHS, on sizes of real plans: layers of a pipeline within memory, then micro-batches of several pipelines."""
    chance = random.Random(seed)
    row = [chance.choice([1.0, 1.0, 1.9, 2.57, 3.66, 5.4]) for _ in range(chance.randint(4, 16))]
    layers = chance.randint(32, 96)
    caps = [chance.randint(layers // len(row) + 1, layers) for _ in row]
    counts = share_layers(row, layers, caps)
    slowest = max(rate * count for rate, count in zip(row, counts, strict=True))
    assert slowest == pytest.approx(solved(row, layers, [0] * len(row), caps))
    micros = chance.randint(64, 128)
    least = [chance.randint(1, 4) for _ in row]
    shares = share_micros(row, micros, least)
    last = max(slow * count for slow, count in zip(row, shares, strict=True))
    assert last == pytest.approx(solved(row, micros, least, [micros] * len(row)))


def solved(rates: list[float], total: int, low: list[int], high: list[int]) -> float:
    """The least of the largest rate times count, of counts between bounds with this sum."""
    program = Program()
    most = program.variable(cost=1.0)
    counts = [program.variable(low=a, high=b, integer=True) for a, b in zip(low, high, strict=True)]
    program.equal(dict.fromkeys(counts, 1.0), total)
    for count, rate in zip(counts, rates, strict=True):
        program.at_least({most: 1.0, count: -rate}, 0.0)
    return program.solve().objective


def test_a_dead_stage_gets_nothing() -> None:
    assert share_layers([1.0, math.inf], 4) == [4, 0]


def test_too_few_micro_batches_are_told() -> None:
    with pytest.raises(InfeasibleError, match="3 micro-batches: the 2 pipelines need at least 8"):
        share_micros([1.0, 1.0], 3, [4, 4])
