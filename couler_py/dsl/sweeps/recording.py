"""`couler.sweep`: trials as a fan-out, or as rounds of a loop."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from couler_py.dsl.branches import need
from couler_py.dsl.fanout import map as fan_out
from couler_py.dsl.loops import loop
from couler_py.dsl.placeholder import inputs
from couler_py.dsl.project import project_of
from couler_py.dsl.recorder import Recorder
from couler_py.dsl.sources import caller
from couler_py.dsl.step import StepFunction, step
from couler_py.dsl.sweeps import study, summary
from couler_py.dsl.sweeps.planning import planned
from couler_py.dsl.sweeps.trials import trial_template
from couler_py.ir.sweep import STATIC, Algorithm, Goal, Plan, plain

OPTUNA, CMAES, PLOTS = "optuna>=4.5,<5", "cmaes>=0.10", "matplotlib>=3.8"


def sweep(
    step: StepFunction[..., Any],
    space: Mapping[str, Any],
    metric: str | Sequence[str],
    goal: Goal | Sequence[Goal],
    trials: int | None = None,
    parallel: int = 1,
    algorithm: Algorithm = "tpe",
    *,
    given: Mapping[str, Any] | None = None,
    seed: int = 0,
    first: Sequence[Mapping[str, Any]] = (),
    study: Any = None,
    tolerate: int = 0,
    min_step: int = 1,
    max_step: int | None = None,
    reduction: int = 3,
    sampler: str | None = None,
    name: str = "sweep",
) -> Any:
    """Run a step with many settings, and find the best. Gives `best`, `value`, `front`, `table`, `page` and `study`.

    `space` says what to try for arguments of the step (see `couler.space`; a list is a choice), `given` the others.
    `metric` is a number that the step returns, or logs by `couler.log_metric`, and `goal` "maximize" or "minimize";
    several of each for several objectives.

    `grid` and `random` know their `trials` beforehand and run at most `parallel` at once. The others learn: `parallel`
    trials a round, and each round is chosen by all before it. `tpe`, `cmaes` (numbers only) and `nsga2` are Optuna's
    samplers. `asha` and `hyperband` besides stop a trial early where what it logs of the metric is worse than most
    had at the same step: at `min_step`, and at each `reduction` times as much below `max_step`.

    `first` are settings to try before all others; what they leave out is chosen. `study` is that of an earlier sweep
    over the same space, to learn from and to go on with. `tolerate` is how many trials may fail. The same `seed` and
    the same outcomes give the same trials.

    Raises `RecordingError` for a space, a metric or an option that doesn't fit the step.

    >>> found = couler.sweep(  # doctest: +SKIP
    ...     train, {"c": couler.space.real(1e-3, 1e3, log=True)}, "accuracy", "maximize", trials=40, parallel=4
    ... )
    >>> publish(train(c=found.best["c"]))  # doctest: +SKIP
    """
    recorder = need("couler.sweep")
    given = dict(given or {})
    plan = planned(
        step,
        space,
        metric,
        goal,
        trials,
        parallel,
        algorithm,
        given=given,
        seed=seed,
        first=first,
        tolerate=tolerate,
        rungs=(min_step, max_step, reduction),
        sampler=sampler,
        going_on=study is not None,
    )
    template = trial_template(step, step._template_in(recorder), plan)

    def trial(point: Any) -> Any:
        settings = {key: point["values"][key] for key in plan.space}
        arguments = {**given, **settings, "sweep_cutoffs": point["cutoffs"]}
        return recorder.call(template, arguments, base=f"{name}-trial", generated=True)

    steps = _Steps(recorder, step, plan, name)
    if plan.algorithm in STATIC:
        points = [
            {"number": number, "values": {**plan.defaults, **point}, "cutoffs": []}
            for number, point in enumerate(plan.points)
        ]
        runs = fan_out(trial, points, parallel=parallel, max_items=len(points), tolerate=min(tolerate, len(points)))
        told = steps.gather(plain(plan), inputs(runs), runs)
        return steps.summarise(told.state)

    def body(state: Path, points: list[Any]) -> Any:
        runs = fan_out(trial, points, parallel=parallel, max_items=plan.batch, tolerate=min(tolerate, plan.batch))
        return steps.tell(state, inputs(runs), runs)

    begun = steps.start(plain(plan), study)
    last = loop(
        body,
        until=lambda each: each.done,
        initial={"state": begun.state, "points": begun.points},
        max_iterations=plan.rounds,
        name=f"{name}-rounds",
    )
    return steps.summarise(last.state)


class _Steps:
    """The steps of a sweep that aren't trials."""

    def __init__(self, recorder: Recorder, trial: StepFunction[..., Any], plan: Plan, name: str):
        self._recorder = recorder
        packages = [OPTUNA, CMAES] if plan.sampler == "cmaes" else [OPTUNA]
        # Where the step's own project says which image Python steps have, these have it too.
        image = project_of(trial._source.function.__code__.co_filename)[1].image
        self.start = self._made(study.start, f"{name}-start", packages, image)
        self.tell = self._made(study.tell, f"{name}-tell", packages, image)
        self.gather = self._made(study.gather, f"{name}-gather", [], image)
        self.summarise = self._made(summary.summarise, f"{name}-summary", [OPTUNA, PLOTS], image)

    def _made(self, function: Any, name: str, packages: list[str], image: Any) -> Callable[..., Any]:
        made, place = step(name=name, packages=packages, image=image)(function), caller()

        def call(*args: Any) -> Any:
            template = replace(made._template_in(self._recorder), source=place)
            arguments = made._bind(args, {}, place)
            return self._recorder.call(template, arguments, base=name, generated=True, source=place)

        return call
