"""The clairvoyant optimum, and how near our policy comes to it in the paper's scenarios."""

from __future__ import annotations

from itertools import chain, combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.scenarios import SCENARIOS, WAYS, generate
from couler_py.passes.cache.forecast import forecast
from couler_py.passes.cache.optimum import optimum
from couler_py.passes.cache.policies import POLICIES
from couler_py.passes.cache.replay import replay
from couler_py.passes.cache.trace import Artifact, Trace, closure
from tests.unit.passes.cache.test_policies import traces

pytest.importorskip("scipy")


def tried(trace: Trace, budget: int) -> float:
    """The optimum by trying all that could be held after each round."""
    known = trace.by_key()

    def best(number: int, held: frozenset[str], before: frozenset[str]) -> float:
        if number == len(trace.rounds):
            return 0.0
        there = set(closure(trace.rounds[number], known, held))
        made = there - held
        again = sum(known[key].seconds for key in made & before)
        could = sorted(there | held)
        least = float("inf")
        for chosen in chain.from_iterable(combinations(could, count) for count in range(len(could) + 1)):
            if sum(known[key].size for key in chosen) <= budget:
                least = min(least, best(number + 1, frozenset(chosen), before | made))
        return again + least

    return best(0, frozenset(), frozenset())


@given(traces().filter(lambda trace: len(trace.artifacts) <= 4 and len(trace.rounds) <= 4), st.integers(0, 20))
@settings(max_examples=40, deadline=None)
def test_it_is_what_trying_everything_finds(trace: Trace, budget: int) -> None:
    found = optimum(trace, budget)
    assert found.exact
    assert found.again == pytest.approx(tried(trace, budget), abs=1e-6)


@given(traces(), st.integers(0, 30), st.sampled_from(sorted(set(POLICIES) - {"all"})))
@settings(max_examples=60, deadline=None)
def test_no_policy_does_better(trace: Trace, budget: int, name: str) -> None:
    assert optimum(trace, budget).bound <= replay(trace, POLICIES[name](), budget, forecast).again + 1e-6


def test_what_is_kept_saves_what_is_before_it() -> None:
    known = (Artifact("a", 9, 100.0), Artifact("b", 3, 1.0, ("a",)), Artifact("c", 3, 50.0))
    trace = Trace("", known, (("a",), ("b",), ("c",), ("b", "c")))
    assert optimum(trace, 3).again == 100 + 50  # a is too large to be held, whatever is done


@pytest.mark.parametrize(
    ("scenario", "pods", "models"), [("multimodal", 37, 19), ("segmentation", 15, 8), ("language", 21, 11)]
)
def test_the_scenarios_have_the_sizes_of_the_paper(scenario: str, pods: int, models: int) -> None:
    names = [each.name for each in SCENARIOS[scenario]()]
    assert len(names) == pods
    assert sum(name.startswith(("train-", "tune-")) for name in names) == models
    assert generate(scenario, "edits", 3) == generate(scenario, "edits", 3)


@pytest.mark.parametrize("scenario", sorted(SCENARIOS))
def test_in_each_scenario_ours_is_near_the_optimum_and_better_than_the_others(scenario: str) -> None:
    """A seed and two budgets of what `benchmarks/run --only cache` does with twenty and ten."""
    again = dict.fromkeys([*POLICIES, "optimum"], 0.0)
    for way in WAYS:
        trace = generate(scenario, way, 1)
        for tenths in (2, 6):
            budget = trace.peak() * tenths // 10
            again["optimum"] += optimum(trace, budget).again
            for name, policy in POLICIES.items():
                again[name] += replay(trace, policy(), budget, forecast).again
    assert again["foresight"] <= min(again[name] for name in again if name not in ("optimum", "all", "foresight"))
    assert again["foresight"] <= 1.25 * again["optimum"]
    assert again["optimum"] <= again["foresight"]
