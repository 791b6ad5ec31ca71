"""Parts never wait in a circle, stay within their limits, and cost as little time as can be had."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from benchmarks.split.graphs import SHAPES, problem, scattered
from couler_py.passes.split.baselines import acyclic, of_the_paper
from couler_py.passes.split.choosing import BASELINES, choose, within
from couler_py.passes.split.coarsening import clusters
from couler_py.passes.split.cutting import cut, filled
from couler_py.passes.split.orders import by_cluster, by_component, by_level, depth_first, towards_results
from couler_py.passes.split.problem import Problem, plain
from couler_py.passes.split.refining import handed_over, refined
from couler_py.passes.split.simulating import makespan


def small(seed: int) -> Problem:
    chance = random.Random(seed)
    count = chance.randrange(1, 16)
    return plain(scattered(count, chance), count, chance.randrange(1, 6))


def test_parts_of_10000_random_graphs_wait_in_no_circle() -> None:
    for seed in range(10_000):
        made = small(seed)
        order = (by_level, depth_first, towards_results)[seed % 3](made)
        parts = refined(made, cut(made, order))
        assert all(parts[task] <= parts[reader] for task in range(len(made)) for reader in made.after[task]), seed
        assert within(made, parts), seed


@pytest.mark.parametrize("seed", range(200))
def test_clusters_wait_in_no_circle(seed: int) -> None:
    chance = random.Random(seed)
    made = plain(scattered(60, chance), 60, 10)
    groups = clusters(made, 8)
    order = by_cluster(made, groups)
    place = {task: number for number, task in enumerate(order)}
    assert sorted(order) == list(range(60))
    assert all(place[task] < place[reader] for task in range(60) for reader in made.after[task])


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("count", "most", "slots"), [(400, 40, 4), (600, 60, 16), (2000, 450, 4)])
def test_no_baseline_is_faster(shape: str, count: int, most: int, slots: int) -> None:
    made = problem(shape, count, most)
    choice = choose(made, slots)
    sizes = [choice.chosen.parts.count(part) for part in range(choice.chosen.count)]
    baselines = [each.seconds for each in choice.tried if each.way in BASELINES]
    assert max(sizes) <= most
    assert acyclic(made, choice.chosen.parts)
    if min(sizes) >= 100 * slots:
        assert choice.loss <= 0.05
    else:
        assert choice.chosen.seconds <= min(baselines) * (1 + 1e-9)


@pytest.mark.parametrize("shape", SHAPES)
def test_where_parts_are_large_a_run_takes_no_longer(shape: str) -> None:
    assert choose(problem(shape, 3000, 800), 2).loss <= 0.05


def test_the_papers_parts_wait_in_a_circle_where_ours_do_not() -> None:
    # 0 -> 1 -> 3 and 0 -> 2 -> 3: the walk takes 0, 1 and then 3, which waits for 2.
    diamond = plain([(0, 1), (0, 2), (1, 3), (2, 3)], 4, 3)
    assert of_the_paper(diamond) == [0, 0, 1, 0]
    assert not acyclic(diamond, of_the_paper(diamond))
    assert acyclic(diamond, choose(diamond, 2).chosen.parts)


def test_moving_tasks_hands_over_less() -> None:
    chance = random.Random(1)
    made = plain(scattered(500, chance, near=30), 500, 50)
    parts = cut(made, by_level(made))
    assert handed_over(made, refined(made, parts)) < handed_over(made, parts)


def test_a_part_starts_when_those_it_reads_have_ended() -> None:
    chains = plain([(0, 1), (2, 3)], 4, 2, times=[1.0, 1.0, 5.0, 1.0])
    assert makespan(chains, 4) == 6.0
    assert makespan(chains, 4, [0, 0, 1, 1]) == 6.0
    assert makespan(chains, 4, [0, 1, 0, 1]) == 6.0
    assert makespan(chains, 1, [0, 1, 0, 1], start=2.0) == 12.0


def test_parts_that_wait_for_each_other_never_end() -> None:
    with pytest.raises(ValueError, match="wait for each other"):
        makespan(plain([(0, 1), (1, 2)], 3, 3), 1, [0, 1, 0])


def test_what_is_shared_and_what_crosses_counts() -> None:
    made = Problem(
        names=["a", "b", "c", "d"],
        before=[[], [], [0, 1], [2]],
        after=[[2], [2], [3], []],
        sizes=([1, 1, 1, 1],),
        limits=(16,),
        kinds=[0, 0, 0, 1],
        shared=[(10,), (5,)],
        fixed=(1,),
        entering=(1,),
        leaving=(2,),
        carried=[1, 1, 1, 1],
        times=[1.0] * 4,
    )
    # 1 for each part, 10 for a template once: a, b and c with what c gives are 1 + 3 + 10 + 2, and d is over that.
    assert filled(made, [0, 1, 2, 3]) == [0, 0, 0, 1]


def test_a_task_larger_than_a_part_may_be_is_named() -> None:
    made = plain([], 2, 1)
    large = Problem(**{name: getattr(made, name) for name in made.__struct_fields__} | {"sizes": ([1, 2],)})
    assert large.too_large() == [1]


@pytest.mark.parametrize("shape", ["layered", "random", "narrow", "map-reduce"])
def test_an_inserted_task_moves_few_others(shape: str) -> None:
    made = problem(shape, 3000, 150)
    place = len(made) // 2
    edges = [(task, reader) for task, readers in enumerate(made.after) for reader in readers]
    edges = [(task + (task >= place), reader + (reader >= place)) for task, reader in edges]
    names = [*made.names[:place], "inserted", *made.names[place:]]
    changed = plain([*edges, (place - 1, place)], len(names), 150, names=names)
    for order in (by_level, towards_results):
        before, after = in_sets(made, cut(made, order(made))), in_sets(changed, cut(changed, order(changed)))
        assert len(before) >= 20
        assert len(before - after) <= len(before) // 4


@pytest.mark.parametrize("shape", ["layered", "random", "map-reduce"])
def test_an_inserted_task_moves_few_others_whatever_way_is_chosen(shape: str) -> None:
    made = problem(shape, 1200, 80)
    before = in_sets(made, choose(made, 8).chosen.parts)
    edges = [(task, reader) for task, readers in enumerate(made.after) for reader in readers]
    for place in (300, 900):
        later = [(task + (task >= place), reader + (reader >= place)) for task, reader in edges]
        names = [*made.names[:place], "inserted", *made.names[place:]]
        times = [*made.times[:place], 5.0, *made.times[place:]]
        changed = plain([*later, (place - 1, place)], len(names), 80, names=names, times=times)
        after = in_sets(changed, choose(changed, 8).chosen.parts)
        assert len(before - after) <= len(before) // 4


def in_sets(made: Problem, parts: Sequence[int]) -> set[tuple[str, ...]]:
    found: dict[int, list[str]] = {}
    for name, part in zip(made.names, parts, strict=True):
        found.setdefault(part, []).append(name)
    return {tuple(sorted(each)) for each in found.values()}


def test_components_stay_apart() -> None:
    made = plain([(0, 2), (1, 3)], 4, 2)
    assert by_component(made) == ([0, 2, 1, 3], [0, 1, 0, 1])
