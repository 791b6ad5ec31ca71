"""The solver: the best values, what proves them, and clear words where there are none."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from couler_py.passes.solver import Program, UnsolvableError

pytest.importorskip("scipy")


def knapsack(values: list[int], weights: list[int], room: int) -> Program:
    program = Program()
    items = [program.variable(cost=-value, high=1, integer=True) for value in values]
    program.at_most(dict(zip(items, weights, strict=True)), room)
    return program


def test_a_linear_program_has_the_best_corner() -> None:
    program = Program()
    x, y = program.variable(cost=-3), program.variable(cost=-5)
    program.at_most({x: 1}, 4)
    program.at_most({y: 2}, 12)
    program.at_most({x: 3, y: 2}, 18)
    found = program.solve()
    assert (found[x], found[y], found.objective, found.optimal) == (pytest.approx(2), pytest.approx(6), -36, True)


def test_integers_are_integers() -> None:
    found = knapsack([10, 13, 7], [3, 4, 2], 6).solve()
    assert [found.whole(item) for item in range(3)] == [0, 1, 1]
    assert found.objective == -20


items = st.lists(st.tuples(st.integers(1, 30), st.integers(1, 12)), min_size=1, max_size=7)


@settings(max_examples=60)
@given(items, st.integers(1, 40))
def test_nothing_is_better_than_what_it_proves(pairs: list[tuple[int, int]], room: int) -> None:
    values, weights = [value for value, _ in pairs], [weight for _, weight in pairs]
    program = knapsack(values, weights, room)
    found = program.solve()
    best = max(
        sum(v for v, taken in zip(values, chosen, strict=True) if taken)
        for chosen in itertools.product((0, 1), repeat=len(pairs))
        if sum(w for w, taken in zip(weights, chosen, strict=True) if taken) <= room
    )
    assert found.optimal
    assert -found.objective == best
    assert program.violations(found.values) == []


def test_a_solution_is_checked_by_what_did_not_make_it() -> None:
    program = Program()
    x, y = program.variable(high=5, integer=True), program.variable(high=math.inf)
    program.equal({x: 1, y: 1}, 4)
    assert program.violations([3, 1]) == []
    assert program.violations([6, -2]) == [
        "variable 0 is 6, not between 0 and 5",
        "variable 1 is -2, not between 0 and inf",
    ]
    assert program.violations([1.5, 1]) == ["variable 0 is 1.5, not an integer", "row 0 is 2.5, not between 4 and 4"]


def test_where_there_is_no_solution_it_says_so() -> None:
    program = Program()
    x = program.variable(high=1)
    program.at_least({x: 1}, 2)
    with pytest.raises(UnsolvableError, match="no values of the 1 variables satisfy all 1 rows"):
        program.solve()


def test_where_the_best_has_no_end_it_says_so() -> None:
    program = Program()
    program.variable(cost=-1)
    with pytest.raises(UnsolvableError, match="a bound is missing"):
        program.solve()


def test_a_search_that_is_cut_short_gives_what_it_has_and_a_true_bound() -> None:
    weights = [37 + 7 * (k * k % 23) for k in range(40)]
    program = knapsack([weight + k % 5 for k, weight in enumerate(weights)], weights, sum(weights) // 2)
    short, whole = program.solve(gap=0.2), program.solve(gap=0.001)
    assert program.violations(short.values) == []
    assert short.bound <= whole.objective <= short.objective + 1e-9
    assert short.gap <= 0.2


def test_a_program_without_variables_is_solved() -> None:
    assert Program().solve().values == ()
