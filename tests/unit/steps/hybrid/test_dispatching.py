"""Sequences to pipelines and into micro-batches: each once, within memory, near the best of all ways."""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from couler_py.steps.hybrid.dispatching import Dispatch, cu_seqlens, dispatch_and_pack
from couler_py.steps.hybrid.packing import packed
from couler_py.steps.hybrid.schemes import POOL32, Scheme, Strategy

BY_SHAPE = {(each.tensor, each.stages): each for each in POOL32}
MIXES = (((8, 3), (4, 1)), ((8, 1), (4, 2)), ((4, 1), (4, 1), (8, 1)), ((4, 4), (8, 2)))


def partitions(row: Sequence[int]) -> Iterator[list[list[int]]]:
    """All ways to part a row into groups."""
    if not row:
        yield []
        return
    for rest in partitions(row[1:]):
        yield [[row[0]], *rest]
        for at, group in enumerate(rest):
            yield [*rest[:at], [row[0], *group], *rest[at + 1 :]]


def best_of_all(lengths: Sequence[int], strategy: Strategy) -> float:
    """The least time over all assignments and all packings."""

    @cache
    def alone(scheme: Scheme, chosen: frozenset[int]) -> float:
        return min(
            (
                scheme.time([sum(scheme.cost(lengths[place]) for place in micro) for micro in micros])
                for micros in partitions(sorted(chosen))
                if all(sum(lengths[place] for place in micro) <= scheme.longest for micro in micros)
            ),
            default=math.inf,
        )

    best = math.inf
    for where in product(range(len(strategy.pipelines)), repeat=len(lengths)):
        shares = [
            frozenset(place for place, to in enumerate(where) if to == number)
            for number in range(len(strategy.pipelines))
        ]
        time = 0.0
        for scheme, share in zip(strategy.pipelines, shares, strict=True):
            time = max(time, alone(scheme, share))
            if time >= best:
                break
        best = min(best, time)
    return best


def check(found: Dispatch, lengths: Sequence[int], strategies: Sequence[Strategy]) -> None:
    """What holds of every answer, looked at without its planner."""
    pipelines = strategies[found.strategy].pipelines
    assert sorted(place for share in found.shares for place in share.sequences) == list(range(len(lengths)))
    for scheme, share in zip(pipelines, found.shares, strict=True):
        costs = []
        for micro in share.micros:
            assert sum(lengths[place] for place in micro) <= scheme.longest
            costs.append(sum(scheme.cost(lengths[place]) for place in micro))
        assert share.time == pytest.approx(scheme.time(costs))


def gaps(cases: int) -> list[float]:
    found = []
    for seed in range(cases):
        drawn = random.Random(seed)
        mix = drawn.choice(MIXES)
        strategy = Strategy(tuple(BY_SHAPE[shape] for shape in mix))
        count = 7 if len(mix) == 2 else 6
        lengths = [min(int(drawn.lognormvariate(7.5, 1.2)) + 64, strategy.longest) for _ in range(count)]
        answer = dispatch_and_pack(lengths, [strategy])
        check(answer, lengths, [strategy])
        found.append(answer.time / best_of_all(lengths, strategy) - 1)
    return found


@pytest.mark.parametrize("cases", [24, pytest.param(60, marks=pytest.mark.soak)])
def test_it_is_near_the_best_of_all_ways(cases: int) -> None:
    found = gaps(cases)
    assert min(found) >= -1e-9
    assert statistics.mean(found) <= 0.005
    assert max(found) <= 0.05


@settings(max_examples=30, deadline=None)
@given(
    lengths=st.lists(st.integers(1, 12000), min_size=1, max_size=40),
    seed=st.integers(0, 5),
    mix=st.sampled_from(MIXES),
)
def test_every_sequence_is_done_once_and_fits(lengths: list[int], seed: int, mix: tuple[tuple[int, int], ...]) -> None:
    strategies = [Strategy(tuple(BY_SHAPE[shape] for shape in mix)), Strategy((BY_SHAPE[16, 1],))]
    found = dispatch_and_pack(lengths, strategies, seed=seed, search=200)
    check(found, lengths, strategies)
    assert found == dispatch_and_pack(lengths, strategies, seed=seed, search=200)


def test_the_time_is_that_of_the_costliest_pipeline_not_of_the_last() -> None:
    """The published planner takes the largest key of a table of costs for the largest cost."""
    strategy = Strategy((BY_SHAPE[8, 1], BY_SHAPE[4, 1]))
    found = dispatch_and_pack([20000, 100], [strategy])
    assert found.shares[0].time > found.shares[1].time
    assert found.time == found.shares[0].time


def test_a_strategy_that_cannot_hold_the_longest_is_not_chosen() -> None:
    short, long = Strategy((BY_SHAPE[4, 1],) * 16), Strategy((BY_SHAPE[16, 1],) * 4)
    assert dispatch_and_pack([30000, 10], [short, long]).strategy == 1
    with pytest.raises(ValueError, match="a sequence has 50000 tokens: no strategy holds more than 43614"):
        dispatch_and_pack([50000], [short, long])


def test_the_strategy_that_ends_sooner_is_chosen() -> None:
    lengths = [400] * 200
    slow, fast = Strategy((BY_SHAPE[16, 1],) * 4), Strategy((BY_SHAPE[4, 1],) * 16)
    assert dispatch_and_pack(lengths, [slow, fast]).strategy == 1


@pytest.mark.parametrize(("lengths", "why"), [([], "no sequences"), ([5, 0], "a sequence of 0 tokens")])
def test_steps_without_tokens_are_refused(lengths: list[int], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        dispatch_and_pack(lengths, [Strategy((BY_SHAPE[4, 1],))])


def test_a_pipeline_of_one_stage_packs_as_little_as_fits() -> None:
    found = packed([4000, 3000, 800, 700], BY_SHAPE[4, 1])
    assert found is not None
    assert len(found.micros) == 2


def test_a_longer_pipeline_makes_micro_batches_that_cost_alike() -> None:
    """The costliest counts once more for each further stage."""
    found = packed([4000, 3000, 2000, 1000], with_useful(BY_SHAPE[4, 4], 0))
    assert found is not None
    assert found.micros == ((0,), (1,), (2, 3))


def with_useful(scheme: Scheme, useful: int) -> Scheme:
    return Scheme(scheme.tensor, scheme.stages, scheme.square, scheme.linear, scheme.fixed, scheme.longest, useful)


def test_where_sequences_start_in_a_micro_batch() -> None:
    assert cu_seqlens([5, 3, 9], (0, 2)) == [0, 5, 14]
    assert cu_seqlens([5, 3, 9], (0, 2), align=8) == [0, 5, 14, 16]
    assert cu_seqlens([5, 3], (0, 1), align=8) == [0, 5, 8]
