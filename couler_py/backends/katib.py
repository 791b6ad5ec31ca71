"""A sweep as an Experiment of Katib (`kubeflow.org/v1beta1`), for clusters where Katib chooses the trials.

Katib puts settings as text into the job of a trial, wherever `${trialParameters.NAME}` stands. So they stand only in
arguments of their own, and a choice travels as its position. A few lines before the step's program make inputs of them,
and print the metrics as Katib's collector reads them (`name=value`).

Sources: kubeflow.org/docs/components/katib/user-guides/hp-tuning/configure-experiment and configure-algorithm.
"""

from __future__ import annotations

import base64
from typing import Any

import msgspec

from couler_py import runner
from couler_py.ir import to_builtins, wire
from couler_py.ir.diagnostics import CoulerError
from couler_py.ir.expr import Literal
from couler_py.ir.graph import templates_by_name
from couler_py.ir.model import Function, Graph, Parameter, Task, Template, Workflow
from couler_py.ir.sweep import Choice, Dimension, Integer, Plan
from couler_py.kubernetes.containers import env, env_from
from couler_py.kubernetes.pods import pod_fields
from couler_py.kubernetes.resources import resources
from couler_py.kubernetes.templated import plain
from couler_py.passes.sweep.finding import sweeps
from couler_py.runner.step import variable_of

ALGORITHMS = {"random": "random", "grid": "grid", "tpe": "multivariate-tpe", "cmaes": "cmaes"}
"""Our names of algorithms, and Katib's."""

START = """\
import base64, json, os, subprocess, sys
known = json.loads(os.environ["COULER_KATIB"])
environment = dict(os.environ)
for given in sys.argv[1:]:
    name, _, text = given.partition("=")
    kind = known["settings"][name]
    number = json.dumps(int(float(text)) if kind["whole"] else float(text))
    chosen = kind["values"][int(text)] if kind["values"] else base64.b64encode(number.encode()).decode()
    environment[kind["variable"]] = chosen
done = subprocess.run([sys.executable, "-c", os.environ["COULER_STEP"]], env=environment)
if done.returncode:
    sys.exit(done.returncode)
with open(os.path.join(environment["COULER_OUTPUTS"], "result"), encoding="utf-8") as file:
    outcome = json.load(file)
for name, value in zip(known["metrics"], outcome["values"]):
    print(name + "=" + repr(value), flush=True)
"""


class KatibError(CoulerError):
    """A sweep that Katib can't do, or a workflow without exactly one; the message says why."""


def katib_experiment(workflow: Workflow, *, name: str = "", namespace: str = "") -> dict[str, Any]:
    """The Experiment of the one sweep in a workflow, as plain data.

    Katib runs trials alone: whatever else the workflow does is not in it. Raises `KatibError` for what Katib has no
    word for: conditional settings, several metrics, our early stopping, first trials, values of other steps.

    >>> experiment = couler.katib_experiment(couler.build(tune))  # doctest: +SKIP
    """
    found = list(sweeps(workflow))
    if len(found) != 1:
        raise KatibError(f"an Experiment is one sweep, and {workflow.name} has {len(found)}")
    plan = found[0].plan
    _check(plan, found[0].place)
    template, task = _trial(workflow)
    body = template.body
    assert isinstance(body, Function)
    metric = plan.metrics[0]
    metadata = {"name": name or workflow.name} | ({"namespace": namespace} if namespace else {})
    spec = {
        "objective": {"type": metric.goal, "objectiveMetricName": metric.name},
        "algorithm": {
            "algorithmName": ALGORITHMS[plan.algorithm],
            "algorithmSettings": [{"name": "random_state", "value": str(plan.seed)}],
        },
        "parallelTrialCount": _parallel(plan, task),
        "maxTrialCount": plan.trials,
        "maxFailedTrialCount": plan.tolerate,
        "metricsCollectorSpec": {"collector": {"kind": "StdOut"}},
        "parameters": [_parameter(each, dimension, plan) for each, dimension in plan.space.items()],
        "trialTemplate": {
            "primaryContainerName": "trial",
            "trialParameters": [{"name": each, "description": each, "reference": each} for each in plan.space],
            "trialSpec": _job(template, task, plan),
        },
    }
    return {"apiVersion": "kubeflow.org/v1beta1", "kind": "Experiment", "metadata": metadata, "spec": spec}


def _check(plan: Plan, place: str) -> None:
    if plan.algorithm not in ALGORITHMS:
        raise KatibError(f"{place}: Katib has no {plan.algorithm} as we have it; it has {', '.join(ALGORITHMS)}")
    if len(plan.metrics) > 1:
        raise KatibError(f"{place}: Katib has one objective, and there are {len(plan.metrics)} metrics")
    conditional = [name for name, each in plan.space.items() if each.where]
    if conditional:
        raise KatibError(f"{place}: Katib knows no conditions, and {conditional[0]} has one; leave `.only` out")
    if plan.first:
        raise KatibError(f"{place}: Katib takes no first trials; leave first= out")


def _trial(workflow: Workflow) -> tuple[Template, Task]:
    """The template of the trials, and the task that calls it."""
    templates = templates_by_name(workflow)
    for template in workflow.templates:
        for task in template.body.tasks if isinstance(template.body, Graph) else ():
            if any(argument.name == "sweep_cutoffs" for argument in task.arguments):
                return templates[str(task.call)], task
    raise KatibError(f"{workflow.name} has a sweep without trials")


def _parallel(plan: Plan, task: Task) -> int:
    known = task.each.parallel if task.each is not None else None
    return known or plan.batch


def _values(dimension: Dimension, name: str, plan: Plan) -> list[Any]:
    """The values that travel by position: those of a choice, and of a grid all."""
    if isinstance(dimension, Choice):
        return list(dimension.values)
    if plan.algorithm == "grid":
        return list(dict.fromkeys(point[name] for point in plan.points))
    return []


def _parameter(name: str, dimension: Dimension, plan: Plan) -> dict[str, Any]:
    values = _values(dimension, name, plan)
    if values or isinstance(dimension, Choice):
        positions = [str(number) for number in range(len(values))]
        return {"name": name, "parameterType": "categorical", "feasibleSpace": {"list": positions}}
    space = {"min": str(dimension.low), "max": str(dimension.high)}
    if isinstance(dimension, Integer):
        space["step"] = str(dimension.step)
    if dimension.log:
        space["distribution"] = "logUniform"
    kind = "int" if isinstance(dimension, Integer) else "double"
    return {"name": name, "parameterType": kind, "feasibleSpace": space}


def _job(template: Template, task: Task, plan: Plan) -> dict[str, Any]:
    body = template.body
    assert isinstance(body, Function)
    if template.inputs.artifacts:
        name = template.inputs.artifacts[0].name
        raise KatibError(f"{template.name}: Katib brings no files to trials, and {name} is one")
    if not isinstance(body.image, str):
        raise KatibError(f"{template.name}: its image is known only while the workflow runs")
    if body.include:
        raise KatibError(f"{template.name}: Katib brings no code of your own along; bake it into the image")
    settings: dict[str, Any] = {}
    environment = {"COULER_RUNNER": runner.runner_text(), "COULER_STEP": runner.source(template, readable=False)}
    environment |= {"COULER_INSTALL": "1", "COULER_OUTPUTS": "/tmp/couler/outputs"}  # noqa: S108 - inside the pod
    given = {argument.name: argument.value for argument in task.arguments}
    for parameter in template.inputs.parameters:
        if parameter.name in plan.space:
            dimension = plan.space[parameter.name]
            settings[parameter.name] = {
                "variable": variable_of(parameter.name),
                "values": [_text(parameter, value) for value in _values(dimension, parameter.name, plan)],
                "whole": isinstance(dimension, Integer),
            }
            continue
        value: Any = [] if parameter.name == "sweep_cutoffs" else _known(parameter, given, template)
        environment[variable_of(parameter.name)] = _text(parameter, value)
    known = {"settings": settings, "metrics": [each.name for each in plan.metrics]}
    environment["COULER_KATIB"] = wire.to_json(known)
    for name, text in environment.items():
        if "${trialParameters." in text:
            raise KatibError(f"{template.name}: Katib would fill in the `${{trialParameters.` that {name} holds")
    container: dict[str, Any] = {
        "name": "trial",
        "image": body.image,
        "command": [*body.command, "-c", START],
        "args": [f"{name}=${{trialParameters.{name}}}" for name in plan.space],
        "env": [*env(body.env, plain), *({"name": name, "value": text} for name, text in environment.items())],
    }
    if asked := resources(body.resources):
        container["resources"] = asked
    if body.env_from:
        container["envFrom"] = env_from(body.env_from)
    pod = {"spec": {**pod_fields(template.pod, plain), "containers": [container], "restartPolicy": "Never"}}
    return {"apiVersion": "batch/v1", "kind": "Job", "spec": {"template": pod}}


def _known(parameter: Parameter, given: dict[str, Any], template: Template) -> Any:
    """The value of an argument that is the same for all trials, and known now."""
    value = given.get(parameter.name)
    if isinstance(value, Literal):
        return value.value
    if value is None and parameter.default is not msgspec.UNSET:
        return parameter.default
    raise KatibError(
        f"{template.name}: {parameter.name} is known only while the workflow runs, and Katib runs no other step"
    )


def _text(parameter: Parameter, value: Any) -> str:
    """A value as the runner takes it from a variable."""
    return base64.b64encode(wire.encode(to_builtins(parameter.type), value).encode()).decode()
