"""Katib: `run` searches settings on the cluster as an Experiment (`kubeflow.org/v1beta1`).

A sweep of ours (`couler.sweep`) can be written as an Experiment too, with `couler.katib_experiment`; this is for
trials that are objects of their own. Fields: kubeflow.org/docs/components/katib/user-guides/hp-tuning.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict

from couler_py import resource
from couler_py.steps.jobs import JobError

Algorithm = Literal[
    "random", "grid", "bayesianoptimization", "tpe", "multivariate-tpe", "cmaes", "sobol", "hyperband", "pbt"
]


# The time is set however it ends (github.com/kubeflow/katib, pkg/controller.v1beta1/experiment/util), and failing is
# looked at first. A condition stands at the end of those before it: created, running, restarting.
SUCCEEDS = "status.completionTime"
FAILS = ", ".join(f"status.conditions.{index}.type = Failed" for index in range(5))


class Tuned(TypedDict, total=False):
    """One setting to search: its `name`, and `range` (least and most), or `values` to choose from.

    Numbers of a range are whole if both ends are `int`, unless its `type` says otherwise. `step` is the distance of two
    values; `log` searches by orders of magnitude.
    """

    name: str
    range: Sequence[float]
    values: Sequence[float | str]
    step: float
    log: bool
    type: Literal["int", "double", "discrete", "categorical"]


class Objective(TypedDict, total=False):
    """What is to be had: a `type`, the name of a metric as trials print it, and the `goal` to stop at."""

    type: Literal["maximize", "minimize"]
    metric_name: str
    goal: float


def run(
    raw_template: Mapping[str, Any] | str,
    tuning_params: Sequence[Tuned],
    objective: Objective,
    success_condition: str = "",
    failure_condition: str = "",
    algorithm: Algorithm = "random",
    parallel_trial_count: int = 3,
    max_trial_count: int = 12,
    max_failed_trial_count: int = 3,
    *,
    container: str = "",
    name: str = "katib",
    timeout: float | str | None = None,
) -> Any:
    """Search with Katib; its output `optimal` is the best trial as Katib describes it, `experiment` the object's name.

    `raw_template` is the object of a trial (a Job, a PyTorchJob), as a dict or YAML, in which
    `${trialParameters.NAME}` stands for each setting; `container` is the one whose output has the metric, by default
    the first. The conditions are Argo's; left out, the search is done when Katib says so: when the goal is reached, or
    all trials have ended.

    Raises `JobError` for a setting without a name, range or values, one that the template doesn't use, and for trials
    that can't be counted.

    >>> katib.run(job, [{"name": "lr", "range": [0.01, 0.05]}], {"type": "maximize", "metric_name": "accuracy"})
    ... # doctest: +SKIP
    """
    template = _template(raw_template)
    parameters = [_parameter(each) for each in tuning_params]
    text = json.dumps(template, default=str)
    for each in parameters:
        if f"${{trialParameters.{each['name']}}}" not in text:
            raise JobError(f"the trial has no ${{trialParameters.{each['name']}}}, so {each['name']} would do nothing")
    if not 1 <= parallel_trial_count <= max_trial_count or max_failed_trial_count < 0:
        raise JobError(
            "there is at least one trial at a time, no more of them than in all, and not less than no failure"
        )
    if "metric_name" not in objective:
        raise JobError("the objective has no metric_name")
    wanted: dict[str, Any] = {
        "type": objective.get("type", "maximize"),
        "objectiveMetricName": objective["metric_name"],
    }
    wanted |= {"goal": objective["goal"]} if "goal" in objective else {}
    spec = {
        "objective": wanted,
        "algorithm": {"algorithmName": algorithm},
        "parallelTrialCount": parallel_trial_count,
        "maxTrialCount": max_trial_count,
        "maxFailedTrialCount": max_failed_trial_count,
        "parameters": parameters,
        "trialTemplate": {
            "primaryContainerName": container or _first_container(template),
            "trialParameters": [{"name": each["name"], "reference": each["name"]} for each in parameters],
            "trialSpec": template,
        },
    }
    manifest = {
        "apiVersion": "kubeflow.org/v1beta1",
        "kind": "Experiment",
        "metadata": {"generateName": "katib-"},
        "spec": spec,
    }
    made = resource(
        manifest,
        success_condition=success_condition or SUCCEEDS,
        failure_condition=failure_condition or FAILS,
        set_owner_reference=True,
        outputs={
            "optimal": ("{.status.currentOptimalTrial}", dict[str, Any]),
            "experiment": "{.metadata.name}",
        },
        name=name,
        timeout=timeout,  # type: ignore[arg-type]
    )
    return made()


def _template(raw: Mapping[str, Any] | str) -> Any:
    if not isinstance(raw, str):
        return dict(raw)
    if "{{" in raw:
        raise JobError("the template is one of Go's, which Katib has no longer: write ${trialParameters.NAME}")
    import yaml

    found = yaml.safe_load(raw)
    if not isinstance(found, dict):
        raise JobError("the template of a trial is one object of Kubernetes")
    return found


def _parameter(given: Tuned) -> dict[str, Any]:
    name = given.get("name", "")
    if not name:
        raise JobError("a setting to search has a name")
    if values := given.get("values"):
        numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
        space: dict[str, Any] = {"list": [str(value) for value in values]}
        chosen = given.get("type") or ("discrete" if numbers else "categorical")
        return {"name": name, "parameterType": chosen, "feasibleSpace": space}
    ends = list(given.get("range", ()))
    if len(ends) != 2 or ends[0] > ends[1]:
        raise JobError(f"{name} has neither values nor a range of two numbers, the lesser first")
    space = {"min": repr(ends[0]), "max": repr(ends[1])}
    if "step" in given:
        space["step"] = repr(given["step"])
    if given.get("log"):
        space["distribution"] = "logUniform"
    kind = given.get("type") or ("int" if all(isinstance(end, int) for end in ends) else "double")
    return {"name": name, "parameterType": kind, "feasibleSpace": space}


def _first_container(template: Mapping[str, Any]) -> str:
    """The name of the first container of a Job; other kinds have theirs elsewhere."""
    try:
        found: str = template["spec"]["template"]["spec"]["containers"][0]["name"]
    except (KeyError, IndexError, TypeError):
        kind = template.get("kind", "object")
        raise JobError(f"a {kind} has no container of its own: name the one that prints the metric") from None
    return found


__all__ = ["run"]
