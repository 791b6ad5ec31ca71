"""What the steps of a sweep do between trials, as plain functions."""

import contextlib
import json
import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import couler_py as couler
from couler_py.dsl.sweeps.space import read
from couler_py.dsl.sweeps.study import bracket_of, cutoffs, fits, gather, start, tell
from couler_py.dsl.sweeps.trial import couler_trial
from couler_py.ir.sweep import Metric, Plan, plain

SPACE = {
    "kernel": ["linear", "rbf"],
    "x": couler.space.real(-5, 5),
    "gamma": couler.space.real(1e-4, 10, log=True).only(kernel="rbf"),
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def plan_of(algorithm="tpe", trials=12, batch=3, **options):
    sampler = {"asha": "tpe", "hyperband": "tpe"}.get(algorithm, algorithm)
    options = {"space": read(SPACE), "defaults": {"gamma": 0.0}, "sampler": sampler, **options}
    return plain(
        Plan(metrics=(Metric("loss", "minimize"),), algorithm=algorithm, trials=trials, batch=batch, **options)
    )


def outcome(value, **more):
    return {"values": [value], "stopped": False, "rungs": [], "curve": [], **more}


def loss(values):
    return values["x"] ** 2 + values.get("gamma", 0)


def carried_out(plan, stop_after=None, earlier=None):
    """All rounds of a sweep in one process: the trials as they were tried."""
    found = start(plan, earlier)
    rounds = 0
    while not found.done and rounds != stop_after:
        rounds += 1
        found = tell(found.state, found.points, [outcome(loss(point["values"])) for point in found.points])
    return json.loads(found.state.read_text())


@pytest.mark.parametrize("sampler", ["random", "tpe", "nsga2", "cmaes"])
def test_the_same_seed_and_outcomes_give_the_same_trials(sampler):
    space = read({"x": couler.space.real(-5, 5), "y": couler.space.integer(1, 50, log=True)})
    plan = plan_of(sampler, space=space, defaults={})
    first = carried_out(plan)
    assert len(first["trials"]) == 12
    assert carried_out(plan) == first
    other = carried_out({**plan, "seed": 1})
    assert [trial["values"] for trial in other["trials"]] != [trial["values"] for trial in first["trials"]]


@pytest.mark.parametrize("sampler", ["tpe", "nsga2"])
def test_every_trial_is_a_point_of_the_space(sampler):
    plan = plan_of(sampler)
    trials = carried_out(plan)["trials"]
    assert all(fits(plan, trial["values"]) for trial in trials)
    assert {trial["values"]["kernel"] for trial in trials} == {"linear", "rbf"}


def test_a_round_is_one_batch_and_the_last_has_what_is_left():
    found = start(plan_of(trials=7, batch=3))
    sizes = []
    while not found.done:
        sizes.append(len(found.points))
        found = tell(found.state, found.points, [outcome(1.0) for _ in found.points])
    assert sizes == [3, 3, 1]


def test_settings_that_were_asked_for_are_tried_first():
    plan = plan_of(first=({"kernel": "rbf", "x": 2.0, "gamma": 0.5}, {"kernel": "linear"}))
    points = start(plan).points
    assert points[0]["values"] == {"kernel": "rbf", "x": 2.0, "gamma": 0.5}
    assert points[1]["values"]["kernel"] == "linear"
    assert points[1]["values"]["gamma"] == 0.0  # of no use there: the step's default


def test_a_study_goes_on_from_an_earlier_one():
    plan = plan_of(trials=6)
    carried_out(plan)
    kept = Path("study.json").rename("earlier.json")
    state = carried_out(plan, earlier=kept)
    assert len(state["trials"]) == 12
    assert state["trials"][:6] == [
        {**trial, "attrs": {}, "bracket": 0} for trial in json.loads(kept.read_text())["trials"]
    ]


def test_an_earlier_study_over_another_space_is_refused():
    carried_out(plan_of(trials=3))
    other = plan_of(space=read({"x": couler.space.real(-1e-9, 1e-9)}), defaults={})
    with pytest.raises(ValueError, match="a trial outside of this space"):
        start(other, Path("study.json"))


def test_trials_without_a_number_fail_and_the_search_goes_on():
    found = start(plan_of(trials=6, batch=3))
    found = tell(found.state, found.points, [outcome(None), outcome(1.0), outcome(2.0)])
    states = [trial["state"] for trial in json.loads(found.state.read_text())["trials"]]
    assert states == ["failed", "complete", "complete", "running", "running", "running"]


def test_more_lost_trials_than_tolerated_are_an_error():
    found = start(plan_of(tolerate=1))
    found = tell(found.state, found.points[1:], [outcome(1.0), outcome(2.0)])
    with pytest.raises(RuntimeError, match="2 trials failed, and 1 are tolerated"):
        tell(found.state, found.points[:2], [outcome(1.0), outcome(2.0)])


def test_trials_known_beforehand_are_gathered():
    plan = plan_of("random", trials=2, points=({"kernel": "linear", "x": 1.0}, {"kernel": "linear", "x": 2.0}))
    points = [{"number": 0}, {"number": 1}]
    state = json.loads(gather(plan, points, [outcome(1.0), outcome(4.0)]).state.read_text())
    assert [(trial["values"]["x"], trial["metrics"]) for trial in state["trials"]] == [(1.0, [1.0]), (2.0, [4.0])]


# ---- early stopping


def reached(*rungs, bracket=0):
    return [{"bracket": bracket, "rungs": list(values)} for values in rungs]


def test_who_is_among_the_best_third_goes_on():
    plan = plan_of("asha", rungs=(1, 3, 9), reduction=3)
    state = {"plan": plan, "trials": reached([1.0, 0.9], [2.0], [3.0], [4.0], [5.0])}
    assert cutoffs(state, 0) == [
        [1, 2.0]
    ]  # of six, with the one to come, two go on; at the second rung two are too few
    state["plan"] = {**plan, "metrics": [{"name": "score", "goal": "maximize", "origin": "logged"}]}
    assert cutoffs(state, 0) == [[1, 4.0]]


def test_before_there_are_enough_nobody_is_stopped():
    state = {"plan": plan_of("asha", rungs=(1, 3)), "trials": reached([1.0])}
    assert cutoffs(state, 0) == []


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(-10, 10), max_size=30), st.integers(2, 5))
def test_a_trial_that_is_stopped_has_enough_better_ones_before_it(values, reduction):
    plan = plan_of("asha", rungs=(1,), reduction=reduction)
    for step, cutoff in cutoffs({"plan": plan, "trials": reached(*[[value] for value in values])}, 0):
        assert step == 1
        better = sum(value <= cutoff for value in values)
        assert better >= (len(values) + 1) // reduction


def test_hyperband_gives_most_trials_to_the_bracket_that_stops_first():
    plan = plan_of("hyperband", rungs=(1, 3, 9), reduction=3)
    counts = [[bracket_of(plan, number) for number in range(400)].count(bracket) for bracket in range(4)]
    assert counts == sorted(counts, reverse=True)
    assert counts[-1] > 20
    state = {"plan": plan, "trials": reached([1.0, 1.0, 1.0], [2.0, 2.0, 2.0], bracket=1)}
    assert cutoffs(state, 0) == []
    assert cutoffs(state, 1) == [[3, 1.0], [9, 1.0]]


# ---- a trial, where it runs


def losses_of(x: float, steps: int = 9) -> float:
    for step in range(1, steps + 1):
        couler.log_metric("loss", x + 1 / step, step)
    return x


METRIC = [{"name": "loss", "goal": "minimize", "origin": "result"}]


def test_a_trial_gives_its_metric_and_what_it_logged():
    found = couler_trial(losses_of, METRIC, [1, 3], 4)(x=2.0, sweep_cutoffs=[])
    assert found["values"] == [2.0]
    assert not found["stopped"]
    assert found["rungs"] == [3.0, 2 + 1 / 3]
    assert [step for step, _ in found["curve"]] == [3, 5, 7, 9]


def test_a_trial_stops_where_others_were_better():
    found = couler_trial(losses_of, METRIC, [1, 3], 4)(x=2.0, sweep_cutoffs=[[1, 3.0], [3, 2.0]])
    assert found["stopped"]
    assert found["values"] == [2 + 1 / 3]
    assert [step for step, _ in found["curve"]] == [1, 2, 3]


def test_a_step_that_catches_every_error_is_stopped_all_the_same():
    def stubborn(x: float) -> float:
        for step in range(5):
            with contextlib.suppress(Exception):
                couler.log_metric("loss", x, step)
        return x

    assert couler_trial(stubborn, METRIC, [1], 0)(x=2.0, sweep_cutoffs=[[1, 1.0]])["stopped"]


def test_log_metric_is_itself_again_after_a_trial():
    before = couler.log_metric
    couler_trial(losses_of, METRIC, [1], 0)(x=2.0, sweep_cutoffs=[[1, 0.0]])
    assert couler.log_metric is before


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_is_the_worst(value):
    def diverging() -> float:
        couler.log_metric("loss", value, 1)
        return value

    assert couler_trial(diverging, METRIC, [1], 3)(sweep_cutoffs=[[1, 5.0]])["stopped"]
    found = couler_trial(diverging, METRIC, [1], 3)(sweep_cutoffs=[])
    assert found == {"values": [None], "stopped": False, "rungs": [1e308], "curve": []}
