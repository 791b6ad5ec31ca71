"""Deployment, dispatch and buckets of many LoRA trainings: the published programs, against all ways of small cases."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from couler_py.steps.lora.planning.buckets import length_buckets
from couler_py.steps.lora.planning.costs import Config, Costs, Sample, Tau, fit
from couler_py.steps.lora.planning.deploying import deploy, least, proposed
from couler_py.steps.lora.planning.dispatching import balanced, by_length, greedy, micro_batches

ROW = Costs(1, {tensor: Tau((0, 0, 1 / (512 * tensor), 0, 0, 1)) for tensor in (1, 2, 4, 8)})
"""tau(b, S) = b·S / (512·tensor) + 1."""
A, B, C = Config(1, 1, 1024), Config(2, 1, 2048), Config(4, 1, 2048)
GOLDEN = {
    "three replicas": ([A, A, B], {512: 6, 1024: 3, 2048: 1}, 6.0, 11.0),
    "a pipeline": ([Config(1, 2, 1024), B], {512: 5, 1024: 2, 2048: 2}, 7.5, 8.5),
    "one wide": ([A, C], {512: 9, 2048: 1}, 5.5, 14.0),
}


@pytest.mark.parametrize(("replicas", "rows", "best", "by_lengths"), GOLDEN.values(), ids=GOLDEN)
def test_the_published_examples(replicas: list[Config], rows: dict[int, int], best: float, by_lengths: float) -> None:
    assert balanced(replicas, rows, ROW).time == pytest.approx(best)
    assert by_length(replicas, rows, ROW).time == pytest.approx(by_lengths)


def best_of_all(replicas: Sequence[Config], rows: Mapping[int, int], costs: Costs) -> float:
    """The least time over all ways to deal the rows out."""

    def shares(count: int, replicas: int) -> list[tuple[int, ...]]:
        return [each for each in itertools.product(range(count + 1), repeat=replicas) if sum(each) == count]

    lengths = list(rows)
    ways = itertools.product(*(shares(rows[length], len(replicas)) for length in lengths))
    return min(
        max(
            costs.replica(config, {length: way[number] for length, way in zip(lengths, each, strict=True)})
            for number, config in enumerate(replicas)
        )
        for each in ways
    )


@pytest.mark.parametrize("seed", range(12))
def test_the_program_finds_the_best_of_all_ways(seed: int) -> None:
    drawn = random.Random(seed)
    replicas = drawn.choices([A, B, C, Config(1, 2, 1024), Config(8, 1, 4096)], k=drawn.randint(2, 3))
    longest = max(config.tokens for config in replicas)
    lengths = [length for length in (256, 512, 1024, 2048) if length <= longest]
    rows = {length: drawn.randint(1, 5) for length in drawn.sample(lengths, 2)}
    costs = Costs(
        2,
        {
            t: Tau((1e-7 / t, 1e-8, drawn.uniform(1, 2) / (512 * t), 1e-4, 0.01, drawn.uniform(0.2, 1)))
            for t in (1, 2, 4, 8)
        },
    )
    assert balanced(replicas, rows, costs).time == pytest.approx(best_of_all(replicas, rows, costs), rel=1e-6)


@settings(max_examples=30, deadline=None)
@given(
    replicas=st.lists(st.sampled_from([A, B, C, Config(1, 2, 1024)]), min_size=1, max_size=5),
    counts=st.lists(st.integers(0, 20), min_size=3, max_size=3),
)
def test_every_row_is_done_once_where_it_fits(replicas: list[Config], counts: list[int]) -> None:
    replicas = [*replicas, B]
    rows = dict(zip((512, 1024, 2048), counts, strict=True))
    found = balanced(replicas, rows, ROW, nodes=50)
    assert {length: sum(own.get(length, 0) for own in found.counts) for length in rows} == rows
    assert found.time == pytest.approx(max(found.times(replicas, ROW)))
    assert found.time <= by_length(replicas, rows, ROW).time + 1e-9
    assert found.bound <= found.time + 1e-6
    tasks = [{length: count // 2 for length, count in rows.items()}]
    tasks.append({length: count - tasks[0][length] for length, count in rows.items()})
    made = micro_batches(found, replicas, tasks)
    assert sorted((micro.length, row) for own in made for micro in own for row in micro.rows) == sorted(
        (length, (task, number)) for task, own in enumerate(tasks) for length, n in own.items() for number in range(n)
    )
    for config, own in zip(replicas, made, strict=True):
        assert all(len(micro.rows) * micro.length <= config.tokens for micro in own)
        for micro in own:
            tasks_in_row = [task for task, _ in micro.rows]
            assert tasks_in_row == sorted(tasks_in_row)


def test_with_no_branches_left_the_greedy_answer_is_used() -> None:
    found = balanced([A, A, B], {512: 60, 1024: 30, 2048: 10}, ROW, nodes=0)
    assert found.time <= greedy([A, A, B], {512: 60, 1024: 30, 2048: 10}, ROW).time


def test_a_row_that_no_replica_holds_is_named() -> None:
    with pytest.raises(ValueError, match="a row of 4096 tokens: no replica holds more than 2048"):
        balanced([A, B], {4096: 1}, ROW)


def test_tasks_and_dispatch_must_agree() -> None:
    found = balanced([B], {512: 3}, ROW)
    with pytest.raises(ValueError, match="tasks have 2 rows of 512 tokens, the dispatch 3"):
        micro_batches(found, [B], [{512: 2}])


LENGTHS = [30, 50, 60, 100, 130, 200, 500, 510, 900]


@pytest.mark.parametrize(
    ("most", "padding", "bounds"),
    [
        (1, 5728, (912,)),
        (2, 1504, (208, 912)),
        (3, 688, (144, 512, 912)),
        (4, 272, (64, 208, 512, 912)),
        (9, 80, (32, 64, 112, 144, 208, 512, 912)),
    ],
)
def test_the_published_buckets(most: int, padding: int, bounds: tuple[int, ...]) -> None:
    found = length_buckets(LENGTHS, most)
    assert (found.padding, found.bounds) == (padding, bounds)


@settings(max_examples=60, deadline=None)
@given(lengths=st.lists(st.integers(1, 90), min_size=1, max_size=12), most=st.integers(1, 5))
def test_no_other_buckets_pad_less(lengths: list[int], most: int) -> None:
    found = length_buckets(lengths, most, align=8)
    candidates = sorted({-(-length // 8) * 8 for length in lengths})
    best = math.inf
    for count in range(1, min(most, len(candidates)) + 1):
        for bounds in itertools.combinations(candidates, count):
            if bounds[-1] >= max(lengths):
                padding = sum(min(bound for bound in bounds if bound >= length) - length for length in lengths)
                best = min(best, padding)
    assert found.padding == best == sum(found.of(length) - length for length in lengths)
    assert len(found.bounds) <= most
    if most > 1:
        assert found.padding <= length_buckets(lengths, most - 1, align=8).padding


def test_constants_are_found_again() -> None:
    tau = Tau((1e-8, 2e-8, 3e-4, 1e-5, 0.02, 0.4))
    samples = [Sample(2, rows, length, tau.time(rows, length)) for rows in (1, 2, 8) for length in (128, 1024, 8192)]
    found, worst = fit(samples)[2]
    assert found.constants == pytest.approx(tau.constants)
    assert worst < 1e-9
    with pytest.raises(ValueError, match="tensor parallelism 2 takes measures of 2 numbers of rows and 3 lengths"):
        fit(samples[:3])


def everything(configs: Sequence[Config], ranks: int, rows: Mapping[int, int], costs: Costs) -> float:
    """The best step over all multisets of kinds that use all ranks."""
    longest = max(rows)
    best = math.inf
    for count in range(1, ranks + 1):
        for plan in itertools.combinations_with_replacement(sorted(configs), count):
            if sum(config.ranks for config in plan) == ranks and max(config.tokens for config in plan) >= longest:
                best = min(best, balanced(plan, rows, costs).time)
    return best


KINDS = [Config(1, 1, 1024), Config(2, 1, 2048), Config(4, 1, 4096)]


@pytest.mark.parametrize("rows", [{512: 30, 1024: 8, 4096: 1}, {256: 50, 2048: 3}, {1024: 12}], ids=str)
def test_few_plans_are_solved_and_the_best_is_among_them(rows: dict[int, int]) -> None:
    found = deploy(KINDS, 6, rows, ROW)
    assert found.dispatch.time == pytest.approx(everything(KINDS, 6, rows, ROW), rel=1e-6)
    assert found.homogeneous is not None
    assert found.dispatch.time <= found.homogeneous.dispatch.time
    assert sum(config.ranks for config in found.replicas) == 6


@pytest.mark.soak
@settings(max_examples=25, deadline=None)
@given(ranks=st.integers(4, 8), counts=st.lists(st.integers(0, 20), min_size=4, max_size=4))
def test_nothing_better_is_left_out_whatever_rows_there_are(ranks: int, counts: list[int]) -> None:
    rows = dict(zip((256, 512, 1024, 2048), counts, strict=True)) | {4096: 1}
    found = deploy(KINDS, ranks, rows, ROW)
    assert found.homogeneous is not None
    assert found.dispatch.time <= found.homogeneous.dispatch.time
    assert sum(config.ranks for config in found.replicas) <= ranks, "one wide replica may be as soon as any others"
    assert found.dispatch.time == pytest.approx(everything(KINDS, ranks, rows, ROW), rel=1e-5)


@settings(max_examples=30, deadline=None)
@given(
    plan=st.lists(st.sampled_from(KINDS), min_size=1, max_size=4),
    counts=st.lists(st.integers(0, 9), min_size=3, max_size=3),
)
def test_no_dispatch_ends_before_the_linear_bound(plan: list[Config], counts: list[int]) -> None:
    plan = [*plan, KINDS[2]]
    rows = dict(zip((512, 1024, 4096), counts, strict=True))
    assert least(plan, rows, ROW) <= balanced(plan, rows, ROW, nodes=50).time + 1e-9


def test_the_linear_bound_of_rows_that_fill_their_micro_batches_is_reached() -> None:
    assert least([A, A], {512: 8, 1024: 2}, ROW) == pytest.approx(9.0)
    assert balanced([A, A], {512: 8, 1024: 2}, ROW).time == pytest.approx(9.0)


def test_of_two_kinds_with_one_memory_the_faster_rank_is_kept_and_the_smaller() -> None:
    fast, slow = Config(2, 1, 1024), Config(1, 2, 1024)
    assert proposed([fast, slow, Config(4, 1, 1024)], ROW)[-1].ranks == 2


def test_a_plan_that_cannot_hold_the_longest_is_refused() -> None:
    with pytest.raises(ValueError, match="no replica of at most 2 ranks holds a row of 4096 tokens"):
        deploy(KINDS, 2, {4096: 1}, ROW)
    with pytest.raises(ValueError, match="no rows to plan for"):
        deploy(KINDS, 2, {512: 0}, ROW)
