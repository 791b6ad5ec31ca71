"""What each policy keeps, by hand and by rules that hold always."""

from __future__ import annotations

from itertools import accumulate

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from couler_py.passes.cache.forecast import forecast
from couler_py.passes.cache.importance import Importance
from couler_py.passes.cache.policies import POLICIES
from couler_py.passes.cache.replay import replay
from couler_py.passes.cache.shelf import Kept, Shelf
from couler_py.passes.cache.trace import Artifact, Trace

BOUNDED = sorted(set(POLICIES) - {"none", "all"})


def held_after(policy: str, rounds: str, budget: int, **artifacts: Artifact) -> set[str]:
    """What is held after some rounds, each of one letter: what can be asked for then without being made."""
    known = artifacts or {key: Artifact(key, 1, 1.0) for key in sorted(set(rounds))}
    trace = Trace("", tuple(known.values()), tuple((key,) for key in rounds), foreseen=False)
    found = set()
    for key in known:
        asked = Trace("", trace.artifacts, (*trace.rounds, (key,)), foreseen=False)
        if replay(asked, POLICIES[policy](), budget).again == replay(trace, POLICIES[policy](), budget).again:
            found.add(key)
    return found


def test_fifo_lets_go_what_came_first() -> None:
    assert held_after("fifo", "aabac", 2) == {"b", "c"}


def test_lru_lets_go_what_was_used_longest_ago() -> None:
    assert held_after("lru", "aabac", 2) == {"a", "c"}


def test_lfu_lets_go_what_was_used_least_often() -> None:
    assert held_after("lfu", "aaabbc", 2) == {"a", "c"}


def test_gdsf_lets_go_what_costs_least_for_its_bytes_and_uses() -> None:
    known = {"cheap": Artifact("cheap", 4, 1.0), "dear": Artifact("dear", 4, 9.0), "small": Artifact("small", 1, 1.0)}
    trace = Trace("", tuple(known.values()), (("dear",), ("cheap",), ("small",), ("dear",), ("small",)), foreseen=False)
    assert replay(trace, POLICIES["gdsf"](), 5).again == 0


def test_foresight_keeps_what_is_needed_next_and_costs_most() -> None:
    known = (Artifact("a", 2, 5.0), Artifact("b", 2, 50.0), Artifact("c", 2, 7.0))
    trace = Trace("", known, (("a", "b", "c"), ("b",), ("a", "c"), ("c", "a")))
    assert replay(trace, POLICIES["foresight"](), 2).again == 5 + 7 + 5


def test_foresight_counts_what_would_have_to_be_made_besides() -> None:
    # b is cheap by itself; without it a and it are made again
    known = (Artifact("a", 9, 100.0), Artifact("b", 3, 1.0, ("a",)), Artifact("c", 3, 50.0))
    trace = Trace("", known, (("a",), ("b",), ("c",), ("b", "c")))
    assert replay(trace, POLICIES["foresight"](), 3).again == 100 + 50  # a is too large to be held, whatever is done


def test_what_is_needed_later_stays_though_what_is_made_from_it_is_held_too() -> None:
    known = (Artifact("a", 2, 2.0), Artifact("b", 2, 1.0, ("a",)), Artifact("c", 1, 2.0))
    trace = Trace("", known, (("b",), ("c",), ("b",), ("a",)))
    assert replay(trace, POLICIES["foresight"](), trace.peak()).again == 0


def shelf(*artifacts: Artifact) -> Shelf:
    return Shelf(100, {}, {each.key: each for each in artifacts})


def test_the_importance_of_the_paper_by_hand() -> None:
    """u reads p, v reads u, w reads v: L = w_u + w_p + d_p·d_u, F = (0+1)/2 for w and nothing for v, V = 0 GiB."""
    known = shelf(
        Artifact("p", 0, 3.0),
        Artifact("u", 0, 5.0, ("p",)),
        Artifact("v", 0, 1.0, ("u",)),
        Artifact("w", 0, 1.0, ("v",)),
    )
    readers = {"p": ["u"], "u": ["v"], "v": ["w"]}
    printed = Importance(n=2).score("u", known, readers)
    assert printed == pytest.approx(2.3978952727983707 + 0.25 - 1)  # log(1 + 5 + 3 + 1·2) + (1/2)² − e⁰
    by_degree = Importance(n=2, by_degree=True).score("u", known, readers)
    assert by_degree == pytest.approx(2.3978952727983707 + (3 + 2 / 2) ** 2 - 1)


def test_a_larger_artifact_is_more_important_to_the_paper() -> None:
    small, large = Artifact("s", 1, 1.0), Artifact("l", 1 << 30, 1.0)
    known = shelf(small, large)
    assert Importance().score("l", known, {}) > Importance().score("s", known, {})


def test_what_is_larger_than_the_budget_is_not_taken_in() -> None:
    known = (Artifact("a", 1, 1.0), Artifact("b", 10, 1.0))
    for name in BOUNDED:
        held = {"a": Kept(known[0], 1, 1)}
        place = Shelf(5, held, {each.key: each for each in known}, [{"a": 1.0, "b": 1.0}])
        POLICIES[name]().offered(place, [Kept(known[1], 2, 2)])
        assert set(place.held) == {"a"}, name


@st.composite
def traces(draw: st.DrawFn) -> Trace:
    count = draw(st.integers(1, 7))
    keys = [f"a{number}" for number in range(count)]
    artifacts = tuple(
        Artifact(
            key,
            draw(st.integers(1, 9)),
            float(draw(st.integers(1, 20))),
            tuple(draw(st.sets(st.sampled_from(keys[:number]), max_size=2))) if number else (),
            f"s{draw(st.integers(0, 3))}",
        )
        for number, key in enumerate(keys)
    )
    rounds = draw(
        st.lists(st.lists(st.sampled_from(keys), min_size=1, max_size=4, unique=True), min_size=1, max_size=6)
    )
    return Trace("", artifacts, tuple(map(tuple, rounds)), draw(st.booleans()))


@given(traces(), st.integers(0, 30), st.sampled_from(sorted(POLICIES)))
@settings(max_examples=150, deadline=None)
def test_no_policy_is_worse_than_none_or_better_than_all(trace: Trace, budget: int, name: str) -> None:
    """`replay` refuses a policy that keeps more than the budget."""
    worst = replay(trace, POLICIES["none"](), budget, forecast)
    found = replay(trace, POLICIES[name](), budget, forecast)
    assert replay(trace, POLICIES["all"](), budget, forecast).again == 0 <= found.again <= worst.again
    assert found.seconds - found.again == pytest.approx(worst.seconds - worst.again)


@given(traces())
@settings(max_examples=100, deadline=None)
def test_with_room_for_what_is_needed_later_nothing_is_made_twice(trace: Trace) -> None:
    known = Trace(trace.name, trace.artifacts, trace.rounds, foreseen=True)
    assert replay(known, POLICIES["foresight"](), known.peak()).again == 0


@given(st.lists(st.floats(0, 100), min_size=1, max_size=6))
def test_an_empty_shelf_knows_its_size(sizes: list[float]) -> None:
    artifacts = [Artifact(f"{number}", int(size), 1.0) for number, size in enumerate(sizes)]
    place = Shelf(1000, {each.key: Kept(each, 0, 0) for each in artifacts}, {})
    assert place.size == list(accumulate(int(size) for size in sizes))[-1]
