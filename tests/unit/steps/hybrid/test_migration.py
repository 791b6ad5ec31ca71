"""From plan to plan: everybody gets exactly what is needed, and nothing moves that needn't."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from couler_py.steps.checkpoint.surviving import Rescue
from couler_py.steps.hybrid.migration import plan_migration
from couler_py.steps.hybrid.plan import Hardware, Pipeline, Plan, Stage
from couler_py.steps.hybrid.straggler import plan_straggler, uniform

WHOLE = Plan(
    4, 4, (Pipeline((Stage((0, 1), (0, 2)), Stage((2, 3), (2, 4))), 2), Pipeline((Stage((4, 5), (0, 4)),), 2)), (6, 7)
)
SIZES = [100, 100, 100, 100]


def test_the_same_plan_moves_nothing() -> None:
    found = plan_migration(WHOLE, WHOLE, SIZES)
    assert (found.kept, found.moved, found.read) == (800, 0, 0)


def test_what_a_group_of_another_size_needs_comes_in_parts() -> None:
    """One rank takes the layers of a group of two: it keeps its half of each, and is sent the other."""
    alone = Plan(2, 1, (Pipeline((Stage((0,), (0, 2)),), 1),))
    pair = Plan(2, 1, (Pipeline((Stage((0, 1), (0, 2)),), 1),))
    found = plan_migration(pair, alone, [100, 60])
    assert (found.kept, found.moved, found.read) == (80, 80, 0)
    assert list(found.messages()) == [(1, 0)]


def test_what_only_a_lost_rank_had_is_read_and_the_rest_comes_from_its_replica() -> None:
    new = Plan(4, 4, (Pipeline((Stage((6, 7), (0, 4)),), 4),), (0, 1, 2, 3, 4, 5))
    assert plan_migration(WHOLE, new, SIZES, lost={0}).read == 0
    found = plan_migration(WHOLE, new, SIZES, lost={0, 4})
    assert found.read == 100  # the first halves of two layers
    assert sorted(found.lost()) == ["layer 0", "layer 1"]


def test_a_rank_of_the_same_machine_sends_first() -> None:
    new = Plan(4, 4, (Pipeline((Stage((6, 7), (0, 4)),), 4),), (0, 1, 2, 3, 4, 5))
    assert {source for source, _ in plan_migration(WHOLE, new, SIZES, node=4).messages()} == {4, 5}


@settings(max_examples=25, deadline=None)
@given(rates=st.lists(st.sampled_from([1.0, 1.0, 2.57, 5.4]), min_size=8, max_size=8))
def test_every_rank_gets_the_bytes_that_it_needs(rates: list[float]) -> None:
    old = plan_straggler(Hardware((1.0,) * 8, 4, 2), 8, 8, 2)
    new = plan_straggler(Hardware(tuple(rates), 4, 2), 8, 8, 2, current=old)
    found = plan_migration(old, new, [64] * 8, node=4)
    got: dict[int, int] = {}
    for move in found.moves:
        got[move.target] = got.get(move.target, 0) + move.size
    needed = {
        rank: stage.count * 64 // len(stage.ranks)
        for each in new.pipelines
        for stage in each.stages
        for rank in stage.ranks
    }
    assert got == needed
    assert found.read == 0


def test_plans_of_other_models_are_refused() -> None:
    with pytest.raises(ValueError, match="plans of 4 and 4 layers, and sizes of 3"):
        plan_migration(WHOLE, WHOLE, [1, 1, 1])


def sent(found: Rescue) -> Counter[int]:
    """Bytes that each rank sends."""
    count: Counter[int] = Counter()
    for (source, _), row in found.messages().items():
        count[source] += sum(move.size for move in row)
    return count


def of_single_ranks(draw: random.Random, ranks: list[int], pipelines: int, layers: int) -> Plan:
    """A plan of random stages of one rank each."""
    made = []
    for row in (ranks[number::pipelines] for number in range(pipelines)):
        marks = [0, *sorted(draw.sample(range(1, layers), len(row) - 1)), layers]
        stages = (Stage((rank,), (marks[at], marks[at + 1])) for at, rank in enumerate(row))
        made.append(Pipeline(tuple(stages), 1))
    return Plan(layers, pipelines, tuple(made))


@settings(max_examples=60)
@given(pipelines=st.integers(2, 4), depth=st.sampled_from([1, 2, 4]), seed=st.integers(0, 1000))
def test_of_equal_shares_nobody_sends_more_than_twice_the_mean(pipelines: int, depth: int, seed: int) -> None:
    """Every layer has two owners or more; other ranks take over under any plan, and as many bytes go to each owner."""
    count = pipelines * depth
    old = uniform(Hardware((1.0,) * count, 64, 1), 8 * depth, pipelines, pipelines)
    new = of_single_ranks(random.Random(seed), list(range(count, 2 * count)), pipelines, 8 * depth)
    given = sent(plan_migration(old, new, [64] * 8 * depth, node=64))
    assert max(given.values()) <= 2 * sum(given.values()) / count


@pytest.mark.parametrize("seed", range(40))
def test_between_any_plans_nobody_sends_more_than_twice_what_the_best_division_has_somebody_send(seed: int) -> None:
    """Some layers have few owners, and those must send them: for each set of ranks, what only they have, divided."""
    draw = random.Random(seed)
    layers, pipelines, depth = draw.choice([4, 8, 16]), draw.choice([2, 3]), draw.choice([1, 2, 3])
    count = pipelines * depth
    ranks = list(range(2 * count))
    old = of_single_ranks(draw, draw.sample(ranks, count), pipelines, layers)
    new = of_single_ranks(draw, draw.sample(ranks, count), pipelines, layers)
    found = plan_migration(old, new, [draw.choice([32, 64, 96]) for _ in range(layers)], node=64)
    owners = {
        f"layer {layer}": {
            stage.ranks[0] for each in old.pipelines for stage in each.stages if layer in range(*stage.layers)
        }
        for layer in range(layers)
    }
    moved = [move for move in found.moves if move.source != move.target]
    senders = sorted({rank for each in owners.values() for rank in each})
    least = float(max((move.size for move in moved), default=0))  # a layer goes from one rank
    for mask in range(1, 1 << len(senders)):
        some = {rank for place, rank in enumerate(senders) if mask >> place & 1}
        least = max(least, sum(move.size for move in moved if owners[move.tensor] <= some) / len(some))
    assert max(sent(found).values(), default=0) <= 2 * least
