"""What a sweep may try."""

import math
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import couler_py as couler
from couler_py.dsl.sweeps.space import drawn, grid, holds, misfit, read
from couler_py.dsl.sweeps.study import fits
from couler_py.ir.sweep import Choice, Integer, Metric, Plan, Real, plain
from couler_py.ir.sweep import read as read_plan

SPACE = {
    "gamma": couler.space.real(1e-4, 10, log=True, points=3).only(kernel="rbf"),
    "kernel": ["linear", "rbf"],
    "degree": couler.space.integer(1, 9, step=4),
}


@st.composite
def dimensions(draw):
    kind = draw(st.sampled_from(["real", "integer", "choice"]))
    if kind == "choice":
        return couler.space.choice(*draw(st.lists(st.text(max_size=3), min_size=1, max_size=4, unique=True)))
    low, wide, log = draw(st.integers(1, 50)), draw(st.integers(0, 100)), draw(st.booleans())
    if kind == "integer":
        return couler.space.integer(low, low + wide, log=log, step=1 if log else draw(st.integers(1, 7)))
    return couler.space.real(low / 7, (low + wide) / 7, log=log)


@st.composite
def spaces(draw):
    names = draw(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=4, unique=True))
    space = {name: draw(dimensions()) for name in names}
    for before, name in pairwise(names):
        if isinstance(space[before], Choice) and draw(st.booleans()):
            space[name] = space[name].only(**{before: space[before].values[0]})
    return space


def plan_of(space, **options):
    return Plan(space, (Metric("score", "maximize"),), "random", 3, 3, **options)


@settings(max_examples=60, deadline=None)
@given(spaces(), st.integers(0, 2**32))
def test_points_drawn_at_random_are_in_the_space(space, seed):
    space = read(space)
    for point in drawn(space, 5, seed):
        assert misfit(space, point) == ""
        assert fits(plain(plan_of(space)), point)


def test_points_drawn_at_random_are_the_same_everywhere():
    points = drawn(read(SPACE), 3, seed=7)
    assert points == drawn(read(SPACE), 3, seed=7)
    assert [point["kernel"] for point in points] == ["linear", "rbf", "linear"]
    assert [point["degree"] for point in points] == [1, 1, 1]
    assert points[1]["gamma"] == pytest.approx(0.047798, rel=1e-4)


def test_a_setting_that_is_not_used_multiplies_nothing():
    assert grid(read(SPACE), 1000) == (
        *({"kernel": "linear", "degree": degree} for degree in (1, 5, 9)),
        *(
            {"kernel": "rbf", "degree": degree, "gamma": pytest.approx(gamma)}
            for degree in (1, 5, 9)
            for gamma in (1e-4, math.sqrt(1e-3), 10)
        ),
    )


def test_a_grid_without_end_is_laid_out_as_far_as_that_shows():
    endless = {name: couler.space.integer(0, 2**50) for name in "abcdefgh"}
    assert len(grid(read(endless), 5)) == 6


def test_settings_follow_those_that_they_depend_on():
    assert list(read(SPACE)) == ["kernel", "degree", "gamma"]


def test_logarithms_give_each_order_of_magnitude_its_share():
    space = read({"c": couler.space.real(1e-3, 1e3, log=True)})
    below = sum(point["c"] < 1 for point in drawn(space, 2000, seed=1))
    assert 940 < below < 1060


@pytest.mark.parametrize(
    ("dimension", "value", "is_there"),
    [
        (couler.space.real(0, 1), 1, True),
        (couler.space.real(0, 1), 1.01, False),
        (couler.space.real(0, 1), True, False),
        (couler.space.real(0, 1), math.nan, False),
        (couler.space.integer(1, 9, step=4), 5, True),
        (couler.space.integer(1, 9, step=4), 6, False),
        (couler.space.integer(1, 9), 2.5, False),
        (couler.space.choice(1, "1"), "1", True),
        (couler.space.choice(1, 2), True, False),
    ],
)
def test_which_values_a_dimension_has(dimension, value, is_there):
    assert holds(dimension, value) is is_there


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: couler.space.real(2, 1), "there are no numbers from 2 to 1"),
        (lambda: couler.space.real(0, 1, log=True), "by their logarithm"),
        (lambda: couler.space.real("0", 1), "there are no numbers from 0 to 1"),
        (lambda: couler.space.real(-1e308, 1e308), "further than a float can say"),
        (lambda: couler.space.real(1e-300, 1e300, log=True), "further than a float can say"),
        (lambda: couler.space.integer(0, 10**30), "which no sampler tells apart"),
        (lambda: couler.space.integer(0, 8, log=True), "begin at 1"),
        (lambda: couler.space.integer(1, 8.5), "no whole numbers"),
        (lambda: couler.space.choice(), "needs values"),
        (lambda: couler.space.choice("a", "a"), "twice"),
        (lambda: couler.space.choice(1, True), "twice"),
        (lambda: couler.space.choice(math.nan), "can't hold"),
        (lambda: couler.space.choice(object()), "can't hold"),
        (lambda: read({}), "is empty"),
        (lambda: read({"c": 0.1}), "says no values to try"),
        (lambda: read({"c": couler.space.real(0, 1).only(kernel="rbf")}), "isn't in the space"),
        (lambda: read({"k": ["a"], "c": couler.space.real(0, 1).only(k="b")}), "which it never is"),
        (
            lambda: read({"a": couler.space.choice(1).only(b=1), "b": couler.space.choice(1).only(a=1)}),
            "these depend on each other: a, b",
        ),
        (lambda: grid(read({"c": couler.space.real(0, 1)}), 1000), "can't try every c"),
    ],
)
def test_what_says_no_values_is_refused(make, message):
    with pytest.raises(couler.RecordingError, match="CLR162") as refused:
        make()
    assert message in str(refused.value)


def test_a_plan_survives_as_json():
    plan = plan_of(read(SPACE), defaults={"gamma": 0.0}, rungs=(1, 3))
    assert read_plan(plain(plan)) == plan
    assert isinstance(plan.space["degree"], Integer)
    assert isinstance(plan.space["gamma"], Real)
