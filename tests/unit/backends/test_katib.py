"""A sweep as an Experiment of Katib, and its trial carried out as Katib would."""

import json
import subprocess
import sys

import pytest

import couler_py as couler
from couler_py.backends.katib import KatibError

SPACE = {
    "c": couler.space.real(1e-3, 1e3, log=True),
    "kernel": ["linear", 'r"b}f'],
    "degree": couler.space.integer(1, 9, step=2),
}


@couler.step(image="python:3.12", cpu=2)
def fit(c: float, kernel: str, degree: int, folds: int = 3) -> float:
    assert isinstance(degree, int)
    return c * degree + len(kernel) + folds


def experiment(space=SPACE, trials=12, algorithm="tpe", metric="score", **options):
    @couler.workflow
    def tune():
        return couler.sweep(fit, space, metric, "maximize", trials, 3, algorithm, **{"given": {"folds": 5}, **options})

    return couler.katib_experiment(couler.build(tune), namespace="team")


def test_what_is_searched_and_how():
    found = experiment(seed=7)
    assert found["apiVersion"] == "kubeflow.org/v1beta1"
    assert found["metadata"] == {"name": "tune", "namespace": "team"}
    spec = found["spec"]
    assert spec["objective"] == {"type": "maximize", "objectiveMetricName": "score"}
    assert spec["algorithm"] == {
        "algorithmName": "multivariate-tpe",
        "algorithmSettings": [{"name": "random_state", "value": "7"}],
    }
    assert (spec["maxTrialCount"], spec["parallelTrialCount"], spec["maxFailedTrialCount"]) == (12, 3, 0)
    assert spec["parameters"] == [
        {
            "name": "c",
            "parameterType": "double",
            "feasibleSpace": {"min": "0.001", "max": "1000.0", "distribution": "logUniform"},
        },
        {"name": "kernel", "parameterType": "categorical", "feasibleSpace": {"list": ["0", "1"]}},
        {"name": "degree", "parameterType": "int", "feasibleSpace": {"min": "1", "max": "9", "step": "2"}},
    ]
    assert spec["trialTemplate"]["trialSpec"]["spec"]["template"]["spec"]["containers"][0]["resources"]


def carried_out(found, tmp_path, **settings):
    """Run a trial: fill in as Katib does, in the text of the whole job."""
    text = json.dumps(found["spec"]["trialTemplate"]["trialSpec"])
    for name, value in settings.items():
        text = text.replace(f"${{trialParameters.{name}}}", value)
    (container,) = json.loads(text)["spec"]["template"]["spec"]["containers"]
    environment = {each["name"]: each["value"] for each in container["env"]} | {"COULER_OUTPUTS": str(tmp_path / "out")}
    command = [sys.executable, *container["command"][1:], *container["args"]]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.splitlines()


def test_a_trial_prints_its_metric(tmp_path):
    found = experiment()
    assert carried_out(found, tmp_path, c="2.5", kernel="1", degree="3")[-1] == f"score={2.5 * 3 + 5 + 5!r}"


def test_a_grid_is_tried_at_its_own_points(tmp_path):
    found = experiment({"c": couler.space.real(1, 3, points=3), "degree": [1, 2]}, None, "grid", given={"kernel": "ab"})
    assert [each["feasibleSpace"] for each in found["spec"]["parameters"]] == [
        {"list": ["0", "1", "2"]},
        {"list": ["0", "1"]},
    ]
    assert carried_out(found, tmp_path, c="2", degree="1")[-1] == f"score={3.0 * 2 + 2 + 3!r}"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"algorithm": "asha", "max_step": 9}, "Katib has no asha"),
        ({"metric": ["a", "b"], "algorithm": "nsga2"}, "Katib has no nsga2"),
        ({"first": [{"c": 1.0}]}, "no first trials"),
        ({"space": {**SPACE, "folds": couler.space.integer(2, 5).only(kernel="linear")}, "given": {}}, "no conditions"),
    ],
)
def test_what_katib_has_no_word_for_is_named(options, message):
    with pytest.raises(KatibError, match=message):
        experiment(**options)


def test_an_experiment_is_one_sweep():
    @couler.workflow
    def none():
        return fit(1.0, "linear", 1)

    with pytest.raises(KatibError, match="has 0"):
        couler.katib_experiment(couler.build(none))


def test_text_that_katib_would_fill_in_is_refused():
    with pytest.raises(KatibError, match="would fill in"):
        experiment({"c": SPACE["c"], "degree": [1]}, given={"kernel": "a"}, metric="${trialParameters.c}")
