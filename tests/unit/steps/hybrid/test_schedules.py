"""Schedules and sequences as steps: JSON in, JSON out, files beside."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from couler_py.steps import hybrid
from couler_py.steps.hybrid.schemes import POOL32

pytest.importorskip("numpy")

SCHEMES: list[dict[str, Any]] = [msgspec.to_builtins(each) for each in POOL32 if each.tensor > 2]


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_slices_that_fit_come_with_their_schedule_which_can_be_played() -> None:
    found = hybrid.plan_slices(8, 4, forward=32.0, activations=16e9, fixed=4e9, capacity=9e9)
    assert (found.slices, found.chunks) == (8, 2)
    assert found.memory <= 9e9
    assert found.choices[0]["step"] == found.step == min(each["step"] for each in found.choices)
    stages = 4 * found.chunks
    one = 32.0 / (stages * found.slices)
    orders = json.loads(json.dumps(found.orders))
    played = hybrid.simulate_schedule(orders=orders, forward=[one] * stages, backward=[2 * one] * stages)
    assert played.makespan == pytest.approx(found.step)
    assert played.bubble == pytest.approx(found.bubble)
    assert max(played.peak[0]) == found.live


def test_a_plan_is_played_with_all_its_pipelines() -> None:
    plan = hybrid.plan_straggler([1.0] * 4, 4, 4, [2], tensor=1).plan
    played = hybrid.simulate_schedule(plan, [1.0] * 4, tensor=1, title="four ranks")
    assert played.makespan == pytest.approx(2 * (2 + 1))  # (m + p - 1) times two layers
    assert played.busy == [[pytest.approx(4.0)] * 2] * 2
    assert played.peak == [[2, 1], [2, 1]]
    events = json.loads(played.trace.read_text())["traceEvents"]
    names = {event["args"]["name"] for event in events if event["name"] == "thread_name"}
    assert len(names) == 4
    assert all(each.startswith("ranks ") for each in names)
    assert "four ranks" in played.picture.read_text()


def test_a_slow_message_makes_a_step_longer() -> None:
    plan = hybrid.plan_straggler([1.0] * 2, 2, 1, [1], tensor=1).plan
    steps = [hybrid.simulate_schedule(plan, [1.0] * 2, tensor=1, sending=each).makespan for each in (0.0, 0.5)]
    assert steps == [pytest.approx(2.0), pytest.approx(3.0)]


def test_lengths_become_strategies_and_sequences_are_dealt_out() -> None:
    found = hybrid.propose_strategies({"512": 900, "2048": 300, "30000": 2}, SCHEMES, 64, grain=1024)
    assert found.names[0] == "1×(16,1) + 12×(4,1)"
    lengths = [300, 600, 14000, 900, 2500, 700]
    step = hybrid.dispatch_and_pack(lengths, json.loads(json.dumps(found.strategies)), align=128)
    micros = [micro for each in step.pipelines for micro in each["micros"]]
    assert sorted(place for micro in micros for place in micro["sequences"]) == list(range(6))
    assert all(micro["cu_seqlens"][-1] % 128 == 0 for micro in micros)
    assert step.milliseconds == max(each["milliseconds"] for each in step.pipelines)


def test_measures_become_constants() -> None:
    samples = [
        {"tensor": 4, "stages": 1, "length": length, "milliseconds": 2e-6 * length**2 + 0.1 * length + 50}
        for length in (512, 1024, 4096, 16384)
    ]
    found = hybrid.fit_cost(samples)
    [curve] = found.curves
    assert (curve["square"], curve["linear"], curve["fixed"]) == pytest.approx((2e-6, 0.1, 50.0), rel=1e-6)
    assert curve["worst"] < 1e-6
    assert found.model is None


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: hybrid.simulate_schedule(), "plan and orders: one of them is played"),
        (lambda: hybrid.simulate_schedule({}), "rates: a plan is played on ranks"),
        (
            lambda: hybrid.simulate_schedule(orders=[[["F", 0, 0]], [["X", 0, 1]]]),
            r"orders\[1\]\[0\]\[0\]: Invalid enum",
        ),
        (lambda: hybrid.simulate_schedule(orders=[]), "orders: no worker has anything to do"),
        (lambda: hybrid.simulate_schedule(orders=[[["F", -1, 0]]]), r"orders\[0\]\[0\].micro: -1"),
        (
            lambda: hybrid.simulate_schedule(orders=[[["F", 0, 0], ["B", 0, 0]]], forward=[1.0]),
            "backward: none given, and there are 1 stages",
        ),
        (lambda: hybrid.plan_slices(8, 4, 1.0, 1.0, 0.0, 1.0, slices=[1, 0]), r"slices\[1\]: 0"),
        (lambda: hybrid.dispatch_and_pack([1, 0], [{"pipelines": SCHEMES}]), r"lengths\[1\]: 0"),
        (lambda: hybrid.dispatch_and_pack([1], [{}]), r"strategies\[0\].pipelines: there are none"),
        (lambda: hybrid.propose_strategies({"many": 1}, SCHEMES, 8), "histogram"),
        (
            lambda: hybrid.propose_strategies({"1": 1}, [{**SCHEMES[0], "linear": -1.0}], 8),
            r"schemes\[0\].linear: -1, and it is a number of at least 0",
        ),
        (lambda: hybrid.fit_cost([]), "samples: there are none"),
        (
            lambda: hybrid.fit_cost([{"tensor": 1, "stages": 1, "length": 5, "milliseconds": 0.0}]),
            r"samples\[0\].milliseconds: 0, and it is a number above 0",
        ),
    ],
)
def test_what_makes_no_sense_is_named(call: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        call()
