"""Some ranks are gone: those that are left go on, better than without their machine, and get all layers."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from couler_py.steps.hybrid.elastic import plan_elastic, without
from couler_py.steps.hybrid.placing import placed
from couler_py.steps.hybrid.plan import Hardware, Pipeline, Plan, Stage, simulated, violations
from couler_py.steps.hybrid.splitting import InfeasibleError
from couler_py.steps.hybrid.straggler import plan_straggler, uniform

ALPHA = {1: 1.0, 2: 1.91, 4: 3.77, 8: 7.35}  # 110 B parameters (Malleus)


def throughput(ranks: int, tensor: int, lost: int) -> tuple[float, float]:
    """Of a training that lost the first ranks of a machine, and of one that dropped the machine; 1 while all lived."""
    hardware = Hardware((1.0,) * ranks, tensor=tensor, alpha=ALPHA)
    old = uniform(hardware, 80, 64, 2)
    found = plan_elastic(hardware, old, range(lost), [1] * 80)
    assert violations(found.plan, without(hardware, range(lost))) == []
    dropped = plan_straggler(without(hardware, range(8)), 80, 64, 2)
    healthy = simulated(old, hardware)
    return healthy / simulated(found.plan, hardware), healthy / simulated(dropped, hardware)


@pytest.mark.parametrize(
    ("ranks", "tensor", "ruled"),
    [(32, 4, (0.946, 0.918, 0.870, 0.838)), (32, 8, (0.924, 0.903)), (64, 8, (0.939,))],
    ids=["32 TP4", "32 TP8", "64 TP8"],
)
def test_losing_ranks_costs_no_more_than_elastors_rules_simulated(
    ranks: int, tensor: int, ruled: tuple[float, ...]
) -> None:
    """What Elastor's rules give was simulated; its authors' own figures aren't known here."""
    for lost, expected in enumerate(ruled, 1):
        kept, dropped = throughput(ranks, tensor, lost)
        assert kept >= expected - 0.002
        assert kept > dropped


def test_a_plan_is_found_where_groups_of_several_sizes_differ_by_more_than_two_ranks() -> None:
    """Elastor's own rule refuses these: what pipelines get of the batch makes up for it."""
    for lost in (3, 4):
        kept, dropped = throughput(32, 8, lost)
        assert kept > dropped


@settings(max_examples=20, deadline=None)
@given(lost=st.sets(st.integers(0, 15), min_size=1, max_size=9), slow=st.sampled_from([1.0, 2.57]))
def test_whoever_is_left_trains_all_layers_of_the_whole_batch(lost: set[int], slow: float) -> None:
    hardware = Hardware((slow, *[1.0] * 15), node=8, tensor=4)
    old = uniform(hardware, 16, 16, 2)
    found = plan_elastic(hardware, old, lost, [64] * 16)
    left = without(hardware, lost)
    assert violations(found.plan, left) == []
    assert found.plan.micros == old.micros
    needed = sum(64 * stage.count for each in found.plan.pipelines for stage in each.stages)
    moved = found.migration
    assert moved.kept + moved.moved + moved.read == needed
    assert not lost & {move.source for move in moved.moves}


@settings(max_examples=20, deadline=None)
@given(rates=st.lists(st.sampled_from([1.0, 1.0, 1.0, 2.57]), min_size=16, max_size=16))
def test_placing_only_changes_who_of_equals_does_what(rates: list[float]) -> None:
    hardware = Hardware(tuple(rates), node=8, tensor=2)
    old = uniform(hardware, 16, 16, 2)
    new = plan_straggler(hardware, 16, 16, 2)
    better = placed(new, old, hardware)
    assert violations(better, hardware) == []
    assert better.certificate == new.certificate


def test_a_group_keeps_the_layers_that_it_has() -> None:
    hardware = Hardware((1.0,) * 4, node=4, tensor=1)
    old = Plan(2, 2, tuple(Pipeline((Stage((a,), (0, 1)), Stage((b,), (1, 2))), 1) for a, b in ((3, 1), (2, 0))))
    new = Plan(2, 2, tuple(Pipeline((Stage((a,), (0, 1)), Stage((b,), (1, 2))), 1) for a, b in ((0, 1), (2, 3))))
    assert [stage.ranks for each in placed(new, old, hardware).pipelines for stage in each.stages] == [
        (2,),
        (0,),
        (3,),
        (1,),
    ]


def test_fewer_pipelines_go_on_where_there_are_too_few_groups() -> None:
    hardware = Hardware((1.0,) * 2, node=2, tensor=1)
    found = plan_elastic(hardware, uniform(hardware, 4, 4, 2), [1], [10] * 4)
    assert [each.micros for each in found.plan.pipelines] == [4]
    assert found.slower == pytest.approx(2.0)
    assert found.migration.read == 0  # the other pipeline had all of it


def test_what_only_the_lost_had_is_named() -> None:
    hardware = Hardware((1.0,) * 2, node=2, tensor=1)
    found = plan_elastic(hardware, uniform(hardware, 4, 4, 1), [1], [10] * 4)
    assert sorted(found.needs_checkpoint) == ["layer 2", "layer 3"]
    assert found.migration.read == 20


def test_nobody_left_is_said() -> None:
    hardware = Hardware((1.0,) * 2, node=2, tensor=1)
    with pytest.raises(InfeasibleError, match="the 0 ranks that are left don't hold 4 layers"):
        plan_elastic(hardware, uniform(hardware, 4, 4, 1), [0, 1], [10] * 4)


def test_a_rank_that_is_not_there_cannot_be_lost() -> None:
    hardware = Hardware((1.0,) * 2, node=2, tensor=1)
    with pytest.raises(ValueError, match="rank 2 can't be lost: there are 2"):
        plan_elastic(hardware, uniform(hardware, 4, 4, 1), [2], [10] * 4)
