"""A sweep as people ask for it, held against the step and made a plan."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from couler_py.dsl.problems import fail
from couler_py.dsl.step import StepFunction
from couler_py.dsl.sweeps.space import drawn, grid, misfit, read
from couler_py.dsl.sweeps.trials import CUTOFFS
from couler_py.ir.sweep import STATIC, STOPPING, Choice, Dimension, Integer, Metric, Plan
from couler_py.ir.types import FLOAT, INT, Type, accepts, describe, mismatch

ALGORITHMS = ("grid", "random", "tpe", "cmaes", "nsga2", "asha", "hyperband")
SAMPLERS = ("random", "tpe", "cmaes", "nsga2")
MOST = 1000
"""The most trials of one round, and of a static sweep: they are one fan-out."""

OUTCOMES = 36_000
"""Bytes that the outcomes of one round may have together; 48 KiB is the least that an engine takes as one value."""

POINT, OUTCOME = 32, 100
"""About how many bytes a logged value has, and an outcome without any."""


def planned(
    step: StepFunction[..., Any],
    space: Mapping[str, Any],
    metric: str | Sequence[str],
    goal: str | Sequence[str],
    trials: int | None,
    parallel: int,
    algorithm: str,
    *,
    given: Mapping[str, Any],
    seed: int,
    first: Sequence[Mapping[str, Any]],
    tolerate: int,
    rungs: tuple[int, int | None, int],
    sampler: str | None,
    going_on: bool,
) -> Plan:
    """The plan of a sweep. Raises `RecordingError` for what can't be, at the line of the call."""
    if not isinstance(step, StepFunction):
        fail("CLR162", f"couler.sweep needs a step, not {step!r}", help="decorate the function by @couler.step")
    if algorithm not in ALGORITHMS:
        fail("CLR162", f"there is no algorithm {algorithm!r}", help=f"one of {', '.join(ALGORITHMS)}")
    for what, number, least in (("parallel", parallel, 1), ("tolerate", tolerate, 0), ("seed", seed, 0)):
        _check_number(what, number, least)
    dimensions = read(space)
    metrics = _metrics(step, metric, goal)
    steps = _rungs(algorithm, *rungs, len(metrics))
    chosen = _sampler(algorithm, sampler, dimensions, len(metrics))
    points = _points(dimensions, algorithm, trials, seed, first, going_on)
    count = len(points) or trials or 0
    batch = count if points else min(parallel, count)
    if batch > MOST:
        _too_many(f"{batch:,} trials at once are")
    room = (OUTCOMES // batch - OUTCOME) // POINT
    return Plan(
        space=dimensions,
        metrics=metrics,
        algorithm=algorithm,  # type: ignore[arg-type]
        trials=count,
        batch=batch,
        seed=seed,
        sampler=chosen,  # type: ignore[arg-type]
        defaults=_defaults(step, dimensions, given),
        first=() if points else _first(dimensions, first),
        points=points,
        rungs=steps,
        reduction=rungs[2],
        tolerate=tolerate,
        curve=max(0, min(100, room)),
    )


def _too_many(these: str) -> NoReturn:
    fail("CLR162", f"{these} more than {MOST:,}", help="algorithm='tpe' goes through rounds")


def _check_number(what: str, value: Any, least: int) -> None:
    if type(value) is not int or value < least:
        fail("CLR162", f"{what} of a sweep is an int of at least {least}, not {value!r}")


def _points(
    space: Mapping[str, Dimension],
    algorithm: str,
    trials: int | None,
    seed: int,
    first: Sequence[Mapping[str, Any]],
    going_on: bool,
) -> tuple[Mapping[str, Any], ...]:
    """The trials of a static sweep; none where the search chooses them."""
    if algorithm == "grid":
        points = grid(space, MOST)
        if len(points) > MOST:
            _too_many("the points of this grid are")
        if first or going_on or (trials is not None and trials != len(points)):
            fail(
                "CLR162",
                f"a grid tries each of its {len(points)} points once",
                help="leave out trials=, first= and study=, or choose another algorithm",
            )
        return points
    if trials is None:
        fail("CLR162", f"{algorithm} needs to know how many trials to make", help="trials=40")
    _check_number("trials", trials, 1)
    if algorithm != "random":
        return ()
    if going_on:
        fail("CLR162", "random learns nothing from an earlier study", help="leave out study=, or algorithm='tpe'")
    if trials > MOST:
        _too_many(f"{trials:,} trials at once are")
    wanted = list(_first(space, first))[:trials]
    made = drawn(space, trials, seed)
    return tuple(_completed(space, point, made[number]) for number, point in enumerate(wanted)) + made[len(wanted) :]


def _completed(space: Mapping[str, Dimension], point: Mapping[str, Any], drawn: Mapping[str, Any]) -> dict[str, Any]:
    """A point that was asked for, with what it leaves out as it was drawn, or in the middle of its range."""
    found: dict[str, Any] = {}
    for name, dimension in space.items():
        if all(other in found and found[other] in values for other, values in dimension.where.items()):
            usual = dimension.values[0] if isinstance(dimension, Choice) else dimension.low
            found[name] = point.get(name, drawn.get(name, usual))
    return found


def _first(space: Mapping[str, Dimension], first: Sequence[Mapping[str, Any]]) -> tuple[Mapping[str, Any], ...]:
    if isinstance(first, str | Mapping) or not all(isinstance(point, Mapping) for point in first):
        fail("CLR162", f"first= is a list of settings, such as [{{'c': 1.0}}], and not {first!r}")
    for point in first:
        problem = misfit(space, point)
        if problem:
            fail("CLR162", f"the first trial {dict(point)!r} is not in the space: {problem}")
    return tuple(dict(point) for point in first)


def _metrics(
    step: StepFunction[..., Any], metric: str | Sequence[str], goal: str | Sequence[str]
) -> tuple[Metric, ...]:
    names = [metric] if isinstance(metric, str) else list(metric)
    goals = [goal] * len(names) if isinstance(goal, str) else list(goal)
    if not names or len(goals) != len(names):
        fail("CLR162", f"there are {len(names)} metrics and {len(goals)} goals")
    wrong = [each for each in goals if each not in ("maximize", "minimize")]
    if wrong:
        fail("CLR162", f"the goal of a metric is 'maximize' or 'minimize', not {wrong[0]!r}")
    if len(set(names)) < len(names):
        fail("CLR162", "a metric is named twice")
    return tuple(_metric(step, name, goal) for name, goal in zip(names, goals, strict=True))


def _metric(step: StepFunction[..., Any], name: str, goal: Any) -> Metric:
    outputs = {output.name: output.type for output in step.outputs.parameters}
    if step._returns == "fields" and name in outputs:
        if not accepts(FLOAT, outputs[name]) and not accepts(outputs[name], INT):
            fail("CLR162", f"{name} of {step.name} is {describe(outputs[name])}, and a metric is a number")
        return Metric(name, goal, "output")
    if step._returns == "one" and len(outputs) == 1:
        (type_,) = outputs.values()
        if accepts(FLOAT, type_):
            return Metric(name, goal, "result")
    return Metric(name, goal, "logged")


def _rungs(algorithm: str, least: int, most: int | None, reduction: int, metrics: int) -> tuple[int, ...]:
    if algorithm not in STOPPING:
        if most is not None:
            fail("CLR162", f"{algorithm} stops no trial early", help="algorithm='asha' or 'hyperband', or no max_step=")
        return ()
    if metrics > 1:
        fail("CLR162", f"{algorithm} judges trials by one metric, and there are {metrics}", help="algorithm='tpe'")
    if most is None:
        fail("CLR162", f"{algorithm} needs to know how long a whole trial is", help="max_step=, as it is logged")
    _check_number("min_step", least, 1)
    _check_number("max_step", most, least + 1)
    _check_number("reduction", reduction, 2)
    found = []
    while least < most:
        found.append(least)
        least *= reduction
    return tuple(found)


def _sampler(algorithm: str, sampler: str | None, space: Mapping[str, Dimension], metrics: int) -> str:
    if sampler is not None and (algorithm not in STOPPING or sampler not in SAMPLERS):
        fail(
            "CLR162", f"{algorithm} can't have the sampler {sampler!r}", help=f"asha, hyperband: {', '.join(SAMPLERS)}"
        )
    chosen = sampler or ("random" if algorithm in STATIC else "tpe" if algorithm in STOPPING else algorithm)
    if chosen == "cmaes":
        if metrics > 1:
            fail("CLR162", "cmaes knows one objective", help="algorithm='nsga2' or 'tpe'")
        odd = [name for name, each in space.items() if isinstance(each, Choice) or each.where]
        if odd:
            fail("CLR162", f"cmaes searches numbers that are always used, and {odd[0]} isn't one", help="use tpe")
    return chosen


def _odd(dimension: Dimension, type_: Type) -> str:
    """What a dimension has that isn't of a type; empty where all is."""
    if isinstance(dimension, Choice):
        return next((repr(value) for value in dimension.values if mismatch(type_, value) is not None), "")
    own = INT if isinstance(dimension, Integer) else FLOAT
    return "" if accepts(type_, own) else f"numbers of type {describe(own)}"


def _defaults(step: StepFunction[..., Any], space: Mapping[str, Dimension], given: Mapping[str, Any]) -> dict[str, Any]:
    """The values of conditional settings where they aren't used. Holds the arguments against the step's parameters."""
    parameters = inspect.signature(step._function).parameters
    values = {parameter.name: parameter.type for parameter in step.inputs.parameters}
    for name, dimension in space.items():
        if name not in parameters:
            fail("CLR162", f"{step.name} has no parameter {name!r}", help=f"it has {', '.join(parameters) or 'none'}")
        if name not in values:
            fail("CLR162", f"{name} of {step.name} is a file, and a sweep tries values", help="give it by given=")
        if odd := _odd(dimension, values[name]):
            fail("CLR162", f"{name} of {step.name} is {describe(values[name])}, and the space has {odd} for it")
        if name in given:
            fail("CLR162", f"{name} is both in the space and in given=")
    for name in given:
        if name not in parameters:
            fail("CLR162", f"{step.name} has no parameter {name!r}", help=f"it has {', '.join(parameters) or 'none'}")
    if CUTOFFS in parameters:
        fail("CLR162", f"{step.name} has a parameter {CUTOFFS!r}, which is a sweep's own name", help="rename it")
    found = {}
    for name, dimension in space.items():
        if dimension.where:
            default = parameters[name].default
            if not isinstance(default, None | bool | int | float | str):
                fail(
                    "CLR162",
                    f"{name} isn't always used, and {step.name} has no default for it",
                    help=f"give {name} a default that is None, a bool, a number or a string",
                )
            found[name] = default
    return found
