"""`couler.sweep` as it is recorded, and what it refuses."""

from pathlib import Path
from typing import NamedTuple

import pytest

import couler_py as couler
from couler_py.dsl.sweeps.planning import planned
from couler_py.ir.model import Function, Graph, Loop
from couler_py.passes.check import check


class Scores(NamedTuple):
    accuracy: float
    seconds: float
    model: Path


@couler.step
def fit(data: Path, c: float, kernel: str = "rbf", gamma: float = 0.1, steps: int = 9) -> Scores:
    return Scores(c, 1.0, data)


@couler.step
def load() -> Path:
    return Path("data")


C = couler.space.real(1e-3, 1e3, log=True)
SPACE = {"c": C, "kernel": ["linear", "rbf"], "gamma": couler.space.real(0.01, 1).only(kernel="rbf")}


def recorded(space=SPACE, metric="accuracy", goal="maximize", **options):
    @couler.workflow
    def tuned():
        return couler.sweep(fit, space, metric, goal, **{"given": {"data": load()}, **options})

    return couler.build(tuned)


def tasks_of(workflow, name):
    body = next(template.body for template in workflow.templates if template.name == name)
    assert isinstance(body, Graph)
    return {task.name: task for task in body.tasks}


def test_trials_known_beforehand_are_one_fan_out():
    workflow = recorded(algorithm="random", trials=6, parallel=2)
    tasks = tasks_of(workflow, "tuned")
    assert list(tasks) == ["load", "sweep-trial", "sweep-gather", "sweep-summary"]
    each = tasks["sweep-trial"].each
    assert each.parallel == 2
    assert len(each.items.value) == 6
    assert check(workflow) == []


def test_a_search_that_learns_goes_through_rounds():
    workflow = recorded(trials=10, parallel=4)
    assert list(tasks_of(workflow, "tuned")) == ["load", "sweep-start", "sweep-rounds", "sweep-summary"]
    (loop,) = [template.body for template in workflow.templates if isinstance(template.body, Loop)]
    assert loop.max_iterations == 3
    assert list(tasks_of(workflow, loop.body)) == ["sweep-trial", "sweep-tell"]
    assert check(workflow) == []


def test_the_same_program_gives_the_same_workflow():
    assert recorded(trials=10, parallel=4) == recorded(trials=10, parallel=4)


def test_a_trial_has_the_options_of_its_step():
    picky = fit.with_options(cpu=2, retries=3)

    @couler.workflow
    def tuned():
        return couler.sweep(picky, {"c": C}, "accuracy", "maximize", 4, given={"data": load()})

    (trial,) = [each for each in couler.build(tuned).templates if each.name == "fit-trial"]
    assert isinstance(trial.body, Function)
    assert trial.body.resources.cpu == "2"
    assert trial.retry.limit == 3


def test_two_sweeps_stand_beside_each_other():
    @couler.workflow
    def tuned():
        data = load()
        one = couler.sweep(fit, {"c": C}, "accuracy", "maximize", 4, given={"data": data})
        two = couler.sweep(
            fit, {"steps": [1, 2]}, "accuracy", "maximize", algorithm="grid", given={"data": data, "c": 1.0}
        )
        return one.value, two.value

    assert check(couler.build(tuned)) == []


def test_what_metrics_come_from():
    def origins(step, metric):
        plan = planned(
            step,
            {"c": C},
            metric,
            "maximize",
            4,
            1,
            "tpe",
            given={},
            seed=0,
            first=(),
            tolerate=0,
            rungs=(1, None, 3),
            sampler=None,
            going_on=False,
        )
        return [each.origin for each in plan.metrics]

    @couler.step
    def number(c: float) -> float:
        return c

    @couler.step
    def nothing(c: float) -> None:
        pass

    assert origins(fit, ["accuracy", "loss"]) == ["output", "logged"]
    assert origins(number, "anything") == ["result"]
    assert origins(nothing, "loss") == ["logged"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"algorithm": "bayes"}, "no algorithm 'bayes'"),
        ({}, "tpe needs to know how many trials"),
        ({"trials": 0}, "trials of a sweep is an int of at least 1"),
        ({"trials": 4, "parallel": 0}, "parallel of a sweep"),
        ({"trials": 2000, "parallel": 1001}, "1,001 trials at once are more than 1,000"),
        ({"trials": 10**12, "algorithm": "random"}, "1,000,000,000,000 trials at once are more than 1,000"),
        ({"algorithm": "grid", "space": {"steps": couler.space.integer(0, 10**12)}}, "this grid are more than 1,000"),
        ({"trials": 4, "space": {"steps": C}}, "steps of fit is int, and the space has numbers of type float for it"),
        ({"trials": 4, "space": {"kernel": ["rbf", 1]}}, "kernel of fit is str, and the space has 1 for it"),
        ({"trials": 4, "space": [C]}, "the space of a sweep is a dict"),
        ({"trials": 4, "first": {"c": 1.0}}, "first= is a list of settings"),
        ({"trials": 4, "first": ["c"]}, "first= is a list of settings"),
        ({"trials": 4, "goal": "max"}, "'maximize' or 'minimize', not 'max'"),
        ({"trials": 4, "metric": ["accuracy", "seconds"], "goal": ["maximize"]}, "2 metrics and 1 goals"),
        ({"trials": 4, "metric": "model"}, None),
        ({"trials": 4, "space": {"d": C}}, "fit has no parameter 'd'"),
        ({"trials": 4, "space": {"data": ["a"]}, "given": {}}, "is a file"),
        ({"trials": 4, "given": {"c": 1.0}}, "both in the space and in given="),
        ({"trials": 4, "given": {"z": 1.0}}, "fit has no parameter 'z'"),
        ({"trials": 4, "space": {"c": C.only(kernel="rbf"), "kernel": ["rbf"]}}, "no default for it"),
        ({"trials": 4, "max_step": 9}, "stops no trial early"),
        ({"trials": 4, "algorithm": "asha"}, "how long a whole trial is"),
        ({"trials": 4, "algorithm": "asha", "max_step": 9, "reduction": 1}, "reduction of a sweep"),
        ({"trials": 4, "algorithm": "cmaes"}, "kernel isn't one"),
        ({"trials": 4, "sampler": "random"}, "can't have the sampler"),
        ({"algorithm": "grid"}, "can't try every c"),
        ({"algorithm": "grid", "trials": 5, "space": {"kernel": ["linear", "rbf"]}}, "each of its 2 points once"),
        ({"trials": 4, "first": [{"c": 1e9}]}, "c can't be 1000000000.0"),
        ({"trials": 4, "first": [{"kernel": "linear", "gamma": 0.1}]}, "isn't used where kernel is 'linear'"),
        ({"trials": 4, "algorithm": "random", "study": "x"}, "learns nothing"),
    ],
)
def test_what_does_not_fit_is_refused_where_it_is_written(options, message):
    if message is None:
        recorded(**options)  # a file of that name isn't a metric: it is logged, then
        return
    with pytest.raises(couler.RecordingError, match="CLR162") as refused:
        recorded(**options)
    assert message in str(refused.value)
    assert refused.value.diagnostics[0].source.file.endswith("test_recording.py")


def test_only_steps_are_swept():
    @couler.workflow
    def tuned():
        return couler.sweep(lambda c: c, {"c": C}, "c", "maximize", 4)

    with pytest.raises(couler.RecordingError, match="needs a step"):
        couler.build(tuned)
