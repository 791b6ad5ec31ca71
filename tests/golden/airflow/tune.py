"""The workflow tune: sweep-start → sweep-rounds → sweep-summary → train.

Written by couler-py: change the program that it was made from, not this file.
"""

from datetime import UTC, datetime

from airflow import __version__ as airflow_version
from airflow.sdk import Param, TaskGroup, dag

if tuple(map(int, airflow_version.split(".")[:2])) < (3, 1):
    raise RuntimeError(f"this DAG needs Airflow 3.1 or later, not {airflow_version}")


@dag(
    "tune",
    schedule=None,
    start_date=datetime(2024, 1, 1, tzinfo=UTC),
    catchup=False,
    params={"folds": Param(3, type="integer")},
    doc_md=__doc__,
)
def tune():
    sweep_start = step(
        "sweep-start",
        SWEEP_START,
        {
            "plan": {
                "space": [
                    {
                        "name": "kernel",
                        "kind": "choice",
                        "values": ["linear", "rbf"],
                        "where": {},
                    },
                    {
                        "name": "c",
                        "kind": "real",
                        "low": 0.001,
                        "high": 1000.0,
                        "log": True,
                        "points": 0,
                        "where": {},
                    },
                    {
                        "name": "gamma",
                        "kind": "real",
                        "low": 0.0001,
                        "high": 1.0,
                        "log": True,
                        "points": 0,
                        "where": {"kernel": ["rbf"]},
                    },
                ],
                "metrics": [
                    {"name": "accuracy", "goal": "maximize", "origin": "result"},
                ],
                "algorithm": "tpe",
                "trials": 12,
                "batch": 4,
                "seed": 0,
                "sampler": "tpe",
                "defaults": {"gamma": 0.0},
                "first": [],
                "points": [],
                "rungs": [],
                "reduction": 3,
                "tolerate": 0,
                "curve": 100,
            },
        },
    )
    with TaskGroup("sweep-rounds"):
        sweep_rounds = sweep_rounds_tasks(
            lambda: {
                "points": out(sweep_start, "points"),
                "state": out(sweep_start, "state"),
            },
        )
    sweep_summary = step(
        "sweep-summary",
        SWEEP_SUMMARY,
        lambda: {"state": out(sweep_rounds.end, "state")},
    )
    train = step("train", TRAIN, lambda: {"settings": out(sweep_summary, "best")})
    sweep_start >> sweep_rounds.start
    sweep_rounds.end >> sweep_summary
    sweep_summary >> train
    result_of_run(
        [train],
        lambda: {
            "accuracy": out(sweep_summary, "value"),
            "settings": out(sweep_summary, "best"),
            "page": out(sweep_summary, "page"),
            "model": out(train, "result"),
        },
    )


def sweep_rounds_body_tasks(inputs=dict, when=None, item=None):
    start = begin(inputs, when, item)
    with TaskGroup("sweep-trial"):
        sweep_trial = fan_out(
            lambda: out(start, "points"),
            step_of_each(
                VALIDATE_TRIAL,
                lambda item: {
                    "c": member_of(member_of(item, "values"), "c"),
                    "kernel": member_of(member_of(item, "values"), "kernel"),
                    "gamma": member_of(member_of(item, "values"), "gamma"),
                    "folds": param("folds"),
                    "sweep_cutoffs": member_of(item, "cutoffs"),
                },
                max_active_tis_per_dagrun=4,
            ),
            most=4,
        )
    sweep_tell = step(
        "sweep-tell",
        SWEEP_TELL,
        lambda: {
            "points": items_of(sweep_trial),
            "outcomes": gather(sweep_trial, "result"),
            "state": out(start, "state"),
        },
    )
    start >> sweep_trial.start
    sweep_trial.end >> sweep_tell
    return finish(
        start,
        [sweep_tell],
        lambda: {
            "points": out(sweep_tell, "points"),
            "done": out(sweep_tell, "done"),
            "state": out(sweep_tell, "state"),
        },
    )


def sweep_rounds_tasks(inputs=dict, when=None, item=None):
    return repeat_group(
        sweep_rounds_body_tasks,
        inputs,
        lambda last: last["done"],
        {"state": "state", "points": "points"},
        3,
        lambda last: {
            "points": last["points"],
            "done": last["done"],
            "state": last["state"],
        },
        when=when,
        item=item,
    )


SWEEP_START = {
    "image": "python:3.11",
    "name": "sweep-start",
    "source": r'''
# couler_py/dsl/sweeps/study.py, line 11
from pathlib import Path

# couler_py/dsl/sweeps/study.py, line 12
from typing import NamedTuple

# couler_py/dsl/sweeps/study.py, line 12
from typing import Any

# couler_py/dsl/sweeps/study.py, line 15
class Round(NamedTuple):
    """A study after some outcomes: what to try next, and whether there is nothing more to try."""

    state: Path
    points: list[Any]
    done: bool

# couler_py/dsl/sweeps/study.py, line 141
def cutoffs(state: dict[str, Any], bracket: int) -> list[list[float]]:
    """The value that a trial has to reach at each rung, as [step, value], from what earlier trials had there.

    The rule of ASHA (Li et al., A System for Massively Parallel Hyperparameter Tuning, 2018), as it is where nothing
    is paused: a trial goes on from a rung while it is among the best 1/reduction of those that have come to it.
    """
    plan = state["plan"]
    found = []
    for index in range(bracket, len(plan["rungs"])):
        reached = [
            trial["rungs"][index]
            for trial in state["trials"]
            if trial["bracket"] == bracket and len(trial["rungs"]) > index
        ]
        place = (len(reached) + 1) // plan["reduction"]
        if place:
            best_first = sorted(reached, reverse=plan["metrics"][0]["goal"] == "maximize")
            found.append([plan["rungs"][index], best_first[place - 1]])
    return found

# couler_py/dsl/sweeps/study.py, line 113
def point_of(state: dict[str, Any], trial: dict[str, Any]) -> dict[str, Any]:
    """What a trial is given: every setting, and at which values of the metric it should stop."""
    return {
        "number": trial["number"],
        "values": {**state["plan"]["defaults"], **trial["values"]},
        "cutoffs": cutoffs(state, trial["bracket"]),
    }

# couler_py/dsl/sweeps/study.py, line 50
def saved(state: dict[str, Any]) -> Round:
    """Write the state down, and say which of its trials are to run."""
    import json

    target = Path("study.json")
    target.write_text(json.dumps(state, indent=1, sort_keys=True, allow_nan=False) + "\n", encoding="utf-8")
    points = [point_of(state, trial) for trial in state["trials"] if trial["state"] == "running"]
    return Round(target, points, not points)

# couler_py/dsl/sweeps/study.py, line 92
def used(dimension: dict[str, Any], values: dict[str, Any]) -> bool:
    """Whether a setting matters, given the values of those that it depends on."""
    return all(name in values and values[name] in allowed for name, allowed in dimension["where"].items())

# couler_py/dsl/sweeps/study.py, line 74
def fits(plan: dict[str, Any], values: dict[str, Any]) -> bool:
    """Whether some settings are those of a point of the space."""
    if set(values) != {dimension["name"] for dimension in plan["space"] if used(dimension, values)}:
        return False
    for dimension in plan["space"]:
        if dimension["name"] not in values:
            continue
        value = values[dimension["name"]]
        inside = (
            any(type(value) is type(each) and value == each for each in dimension["values"])
            if dimension["kind"] == "choice"
            else dimension["low"] <= value <= dimension["high"]
        )
        if not inside:
            return False
    return True

# couler_py/dsl/sweeps/study.py, line 247
def sampler(plan: dict[str, Any], number: int) -> Any:
    """Optuna's sampler for the trials from a number on."""
    import warnings
    import zlib

    import optuna

    warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
    seed = zlib.crc32((str(plan["seed"]) + ":" + str(number)).encode())
    if plan["sampler"] == "tpe":
        return optuna.samplers.TPESampler(seed=seed, multivariate=True, group=True, constant_liar=plan["batch"] > 1)
    if plan["sampler"] == "cmaes":
        return optuna.samplers.CmaEsSampler(seed=seed)
    if plan["sampler"] == "nsga2":
        return optuna.samplers.NSGAIISampler(seed=seed, population_size=max(4, min(50, plan["trials"] // 4)))
    return optuna.samplers.RandomSampler(seed=seed)

# couler_py/dsl/sweeps/study.py, line 211
def distribution(dimension: dict[str, Any]) -> Any:
    """A dimension in Optuna's words."""
    from optuna import distributions

    if dimension["kind"] == "choice":
        return distributions.CategoricalDistribution(dimension["values"])
    low, high, log = dimension["low"], dimension["high"], dimension["log"]
    if dimension["kind"] == "integer":
        return distributions.IntDistribution(low, high, log=log, step=dimension["step"])
    return distributions.FloatDistribution(low, high, log=log)

# couler_py/dsl/sweeps/study.py, line 223
def restored(plan: dict[str, Any], trials: list[Any]) -> Any:
    """The study as Optuna has it, with all trials so far."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    directions = [metric["goal"] for metric in plan["metrics"]]
    study = optuna.create_study(directions=directions, sampler=sampler(plan, len(trials)))
    states = {"complete": "COMPLETE", "stopped": "PRUNED"}
    distributions = {dimension["name"]: distribution(dimension) for dimension in plan["space"]}
    for trial in trials:
        study.add_trial(
            optuna.trial.create_trial(
                state=optuna.trial.TrialState[states.get(trial["state"], "FAIL")],
                params=trial["values"],
                distributions={name: distributions[name] for name in trial["values"]},
                values=trial["metrics"] if trial["state"] == "complete" else None,
                # zip: a trial that was stopped has come to fewer rungs
                intermediate_values=dict(zip(plan["rungs"], trial["rungs"])),  # noqa: B905
                system_attrs=trial["attrs"],
            )
        )
    return study

# couler_py/dsl/sweeps/study.py, line 200
def suggested(trial: Any, dimension: dict[str, Any]) -> Any:
    """One setting of a trial, as Optuna's sampler chooses it."""
    name = dimension["name"]
    if dimension["kind"] == "choice":
        return trial.suggest_categorical(name, dimension["values"])
    low, high, log = dimension["low"], dimension["high"], dimension["log"]
    if dimension["kind"] == "integer":
        return trial.suggest_int(name, low, high, step=dimension["step"], log=log)
    return trial.suggest_float(name, low, high, log=log)

# couler_py/dsl/sweeps/study.py, line 97
def begun(
    plan: dict[str, Any], number: int, values: dict[str, Any], bracket: int, attrs: dict[str, Any]
) -> dict[str, Any]:
    """The record of a trial that is to run. `values` are the settings that matter in it."""
    return {
        "number": number,
        "values": values,
        "bracket": bracket,
        "attrs": attrs,
        "state": "running",
        "metrics": [],
        "rungs": [],
        "curve": [],
    }

# couler_py/dsl/sweeps/study.py, line 162
def bracket_of(plan: dict[str, Any], number: int) -> int:
    """Which rung is the first at which a trial may stop: 0 with asha, spread with hyperband.

    Hyperband (Li et al., JMLR 18, 2018) gives bracket s of S about reduction^s / (s + 1) of the trials, where s counts
    the rungs left. Numbers are spread by multiples of the golden ratio, so that any few have about these shares.
    """
    if plan["algorithm"] != "hyperband":
        return 0
    rungs = len(plan["rungs"])
    shares = [plan["reduction"] ** (rungs - index) / (rungs - index + 1) for index in range(rungs + 1)]
    left = (number * 0.6180339887498949) % 1.0 * sum(shares)
    for index, share in enumerate(shares):
        if left < share:
            return index
        left -= share
    return rungs

# couler_py/dsl/sweeps/study.py, line 180
def suggest(state: dict[str, Any]) -> None:
    """Add the next trials to a study: those that were asked for first, else the sampler's."""
    plan, trials = state["plan"], state["trials"]
    count = min(plan["batch"], state["target"] - len(trials))
    if count <= 0:
        return
    study = restored(plan, trials)
    for values in state["first"][:count]:
        study.enqueue_trial(values)
    state["first"] = state["first"][count:]
    for _ in range(count):
        asked = study.ask()
        values = {}
        for dimension in plan["space"]:
            if used(dimension, values):
                values[dimension["name"]] = suggested(asked, dimension)
        attrs = study.get_trials(deepcopy=False)[asked.number].system_attrs
        trials.append(begun(plan, asked.number, values, bracket_of(plan, asked.number), dict(attrs)))

# couler_py/dsl/sweeps/study.py, line 60
def opened(plan: dict[str, Any], earlier: dict[str, Any] | None) -> dict[str, Any]:
    """A new study and its first suggestions. Trials of an earlier one count as told and keep their outcomes."""
    trials: list[dict[str, Any]] = []
    for trial in earlier["trials"] if earlier else []:
        if trial["state"] == "running":
            continue
        if not fits(plan, trial["values"]):
            raise ValueError("the earlier study has a trial outside of this space: " + str(trial["values"]))
        trials.append({**trial, "number": len(trials), "attrs": {}, "bracket": 0})
    state = {"plan": plan, "target": len(trials) + plan["trials"], "first": list(plan["first"]), "trials": trials}
    suggest(state)
    return state

# couler_py/dsl/sweeps/study.py, line 23
def start(plan: dict[str, Any], earlier: Path | None = None) -> Round:
    """Open a study, with the trials of an earlier one where that is given."""
    import json

    old = json.loads(earlier.read_text(encoding="utf-8")) if earlier is not None else None
    return saved(opened(plan, old))
''',
    "outputs": {"points": list, "done": bool},
    "gives": {"state": False},
    "files": ["earlier"],
    "env": {"COULER_INSTALL": "1", "COULER_EXACT": "points"},
}
VALIDATE_TRIAL = {
    "image": "python:3.11",
    "name": "validate-trial",
    "source": r'''
# examples/tune.py, line 21
def validate(c: float, kernel: str, gamma: float = 0.0, folds: int = 3) -> float:
    """The accuracy on folds that the model doesn't see."""
    from sklearn.datasets import load_breast_cancer
    from sklearn.model_selection import cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    data = load_breast_cancer()
    model = make_pipeline(StandardScaler(), SVC(C=c, kernel=kernel, gamma=gamma or "scale"))
    return float(cross_val_score(model, data.data, data.target, cv=folds).mean())

# couler_py/dsl/sweeps/trial.py, line 9
from typing import Any

# couler_py/dsl/sweeps/trial.py, line 12
def couler_trial(function: Any, metrics: list[Any], rungs: list[int], keep: int) -> Any:
    """The function of a step as that of a trial: it takes `sweep_cutoffs` too, and gives its outcome.

    An outcome has the `values` of the metrics (None where there is none), whether it was `stopped`, the values at
    `rungs`, and at most `keep` points of the `curve` of the first metric, as [step, value].
    """
    import functools
    import math
    import sys

    class Stopped(BaseException):
        """Not for the step to catch."""

    logged: dict[str, float] = {}
    reached: list[Any] = []
    curve: list[Any] = []

    def watch(name: str, value: Any, step: Any, cutoffs: dict[int, float]) -> None:
        number = float(value)
        logged[name] = number
        if name != metrics[0]["name"]:
            return
        at = len(curve) if step is None else step
        if math.isfinite(number):
            curve.append([at, number])
        higher = metrics[0]["goal"] == "maximize"
        while len(reached) < len(rungs) and at >= rungs[len(reached)]:
            # What isn't a number is worse than everything.
            seen = number if math.isfinite(number) else (-1e308 if higher else 1e308)
            cutoff = cutoffs.get(rungs[len(reached)])
            reached.append(seen)
            if cutoff is not None and (seen < cutoff if higher else seen > cutoff):
                raise Stopped

    def value_of(metric: Any, result: Any) -> Any:
        if metric["origin"] == "logged":
            value = logged.get(metric["name"])
        elif metric["origin"] == "result":
            value = result
        else:
            value = result[metric["name"]] if isinstance(result, dict) else getattr(result, metric["name"])
        return float(value) if value is not None and math.isfinite(value) else None

    @functools.wraps(function)
    def trial(**arguments: Any) -> Any:
        import couler_py

        cutoffs = {int(step): value for step, value in arguments.pop("sweep_cutoffs")}
        # Loaded when it is first asked for, which takes time: a step that logs nothing needn't.
        known = vars(couler_py).get("log_metric")

        def log_metric(name: str, value: float, step: Any = None) -> None:
            nonlocal known
            if known is None:
                known = couler_py.__getattr__("log_metric")
                couler_py.log_metric = log_metric
            known(name, value, step)
            watch(name, value, step, cutoffs)

        # Both ways in which a step may know it: by the module, and by a name of its own.
        names = [name for name, value in function.__globals__.items() if known is not None and value is known]
        try:
            couler_py.log_metric = log_metric
            function.__globals__.update(dict.fromkeys(names, log_metric))
            result, stopped = function(**arguments), False
        except Stopped:
            result, stopped = None, True
            sys.stderr.write("couler: stopped early, others were better at this step\n")
        finally:
            if known is None:
                del couler_py.log_metric
            else:
                couler_py.log_metric = known
            function.__globals__.update(dict.fromkeys(names, known))
        values = [None if stopped else value_of(metric, result) for metric in metrics]
        # The last `keep` places, evenly, the last logged value among them.
        count, most = len(curve), min(keep, len(curve))
        kept = [count - 1 - index * count // most for index in range(most - 1, -1, -1)]
        return {
            "values": [last for last in [logged.get(metrics[0]["name"])] if last is not None] if stopped else values,
            "stopped": stopped,
            "rungs": reached,
            "curve": [curve[index] for index in kept],
        }

    return trial

# step, line 1
validate_as_trial = couler_trial(validate, [{'name': 'accuracy', 'goal': 'maximize', 'origin': 'result'}], [], 100)
''',
    "outputs": {"result": object},
    "defaults": {"gamma": 0.0, "folds": 3},
    "env": {"COULER_INSTALL": "1"},
}
SWEEP_TELL = {
    "image": "python:3.11",
    "name": "sweep-tell",
    "source": r'''
# couler_py/dsl/sweeps/study.py, line 12
from typing import Any

# couler_py/dsl/sweeps/study.py, line 11
from pathlib import Path

# couler_py/dsl/sweeps/study.py, line 12
from typing import NamedTuple

# couler_py/dsl/sweeps/study.py, line 122
def told(state: dict[str, Any], points: list[Any], outcomes: list[Any]) -> None:
    """Note how trials ended. A trial that was running and has no outcome failed; more than tolerated is an error."""
    import math

    for point, outcome in zip(points, outcomes):  # noqa: B905 - may run on Python 3.9
        trial = state["trials"][point["number"]]
        values = outcome["values"]
        good = all(isinstance(value, (int, float)) and math.isfinite(value) for value in values)
        trial["state"] = "stopped" if outcome["stopped"] else "complete" if good else "failed"
        trial["metrics"] = values if good else []
        trial["rungs"], trial["curve"] = outcome["rungs"], outcome["curve"]
    lost = [trial for trial in state["trials"] if trial["state"] == "running"]
    for trial in lost:
        trial["state"] = "lost"
    count = sum(1 for trial in state["trials"] if trial["state"] == "lost")
    if count > state["plan"]["tolerate"]:
        raise RuntimeError(str(count) + " trials failed, and " + str(state["plan"]["tolerate"]) + " are tolerated")

# couler_py/dsl/sweeps/study.py, line 247
def sampler(plan: dict[str, Any], number: int) -> Any:
    """Optuna's sampler for the trials from a number on."""
    import warnings
    import zlib

    import optuna

    warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
    seed = zlib.crc32((str(plan["seed"]) + ":" + str(number)).encode())
    if plan["sampler"] == "tpe":
        return optuna.samplers.TPESampler(seed=seed, multivariate=True, group=True, constant_liar=plan["batch"] > 1)
    if plan["sampler"] == "cmaes":
        return optuna.samplers.CmaEsSampler(seed=seed)
    if plan["sampler"] == "nsga2":
        return optuna.samplers.NSGAIISampler(seed=seed, population_size=max(4, min(50, plan["trials"] // 4)))
    return optuna.samplers.RandomSampler(seed=seed)

# couler_py/dsl/sweeps/study.py, line 211
def distribution(dimension: dict[str, Any]) -> Any:
    """A dimension in Optuna's words."""
    from optuna import distributions

    if dimension["kind"] == "choice":
        return distributions.CategoricalDistribution(dimension["values"])
    low, high, log = dimension["low"], dimension["high"], dimension["log"]
    if dimension["kind"] == "integer":
        return distributions.IntDistribution(low, high, log=log, step=dimension["step"])
    return distributions.FloatDistribution(low, high, log=log)

# couler_py/dsl/sweeps/study.py, line 223
def restored(plan: dict[str, Any], trials: list[Any]) -> Any:
    """The study as Optuna has it, with all trials so far."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    directions = [metric["goal"] for metric in plan["metrics"]]
    study = optuna.create_study(directions=directions, sampler=sampler(plan, len(trials)))
    states = {"complete": "COMPLETE", "stopped": "PRUNED"}
    distributions = {dimension["name"]: distribution(dimension) for dimension in plan["space"]}
    for trial in trials:
        study.add_trial(
            optuna.trial.create_trial(
                state=optuna.trial.TrialState[states.get(trial["state"], "FAIL")],
                params=trial["values"],
                distributions={name: distributions[name] for name in trial["values"]},
                values=trial["metrics"] if trial["state"] == "complete" else None,
                # zip: a trial that was stopped has come to fewer rungs
                intermediate_values=dict(zip(plan["rungs"], trial["rungs"])),  # noqa: B905
                system_attrs=trial["attrs"],
            )
        )
    return study

# couler_py/dsl/sweeps/study.py, line 92
def used(dimension: dict[str, Any], values: dict[str, Any]) -> bool:
    """Whether a setting matters, given the values of those that it depends on."""
    return all(name in values and values[name] in allowed for name, allowed in dimension["where"].items())

# couler_py/dsl/sweeps/study.py, line 200
def suggested(trial: Any, dimension: dict[str, Any]) -> Any:
    """One setting of a trial, as Optuna's sampler chooses it."""
    name = dimension["name"]
    if dimension["kind"] == "choice":
        return trial.suggest_categorical(name, dimension["values"])
    low, high, log = dimension["low"], dimension["high"], dimension["log"]
    if dimension["kind"] == "integer":
        return trial.suggest_int(name, low, high, step=dimension["step"], log=log)
    return trial.suggest_float(name, low, high, log=log)

# couler_py/dsl/sweeps/study.py, line 97
def begun(
    plan: dict[str, Any], number: int, values: dict[str, Any], bracket: int, attrs: dict[str, Any]
) -> dict[str, Any]:
    """The record of a trial that is to run. `values` are the settings that matter in it."""
    return {
        "number": number,
        "values": values,
        "bracket": bracket,
        "attrs": attrs,
        "state": "running",
        "metrics": [],
        "rungs": [],
        "curve": [],
    }

# couler_py/dsl/sweeps/study.py, line 162
def bracket_of(plan: dict[str, Any], number: int) -> int:
    """Which rung is the first at which a trial may stop: 0 with asha, spread with hyperband.

    Hyperband (Li et al., JMLR 18, 2018) gives bracket s of S about reduction^s / (s + 1) of the trials, where s counts
    the rungs left. Numbers are spread by multiples of the golden ratio, so that any few have about these shares.
    """
    if plan["algorithm"] != "hyperband":
        return 0
    rungs = len(plan["rungs"])
    shares = [plan["reduction"] ** (rungs - index) / (rungs - index + 1) for index in range(rungs + 1)]
    left = (number * 0.6180339887498949) % 1.0 * sum(shares)
    for index, share in enumerate(shares):
        if left < share:
            return index
        left -= share
    return rungs

# couler_py/dsl/sweeps/study.py, line 180
def suggest(state: dict[str, Any]) -> None:
    """Add the next trials to a study: those that were asked for first, else the sampler's."""
    plan, trials = state["plan"], state["trials"]
    count = min(plan["batch"], state["target"] - len(trials))
    if count <= 0:
        return
    study = restored(plan, trials)
    for values in state["first"][:count]:
        study.enqueue_trial(values)
    state["first"] = state["first"][count:]
    for _ in range(count):
        asked = study.ask()
        values = {}
        for dimension in plan["space"]:
            if used(dimension, values):
                values[dimension["name"]] = suggested(asked, dimension)
        attrs = study.get_trials(deepcopy=False)[asked.number].system_attrs
        trials.append(begun(plan, asked.number, values, bracket_of(plan, asked.number), dict(attrs)))

# couler_py/dsl/sweeps/study.py, line 15
class Round(NamedTuple):
    """A study after some outcomes: what to try next, and whether there is nothing more to try."""

    state: Path
    points: list[Any]
    done: bool

# couler_py/dsl/sweeps/study.py, line 141
def cutoffs(state: dict[str, Any], bracket: int) -> list[list[float]]:
    """The value that a trial has to reach at each rung, as [step, value], from what earlier trials had there.

    The rule of ASHA (Li et al., A System for Massively Parallel Hyperparameter Tuning, 2018), as it is where nothing
    is paused: a trial goes on from a rung while it is among the best 1/reduction of those that have come to it.
    """
    plan = state["plan"]
    found = []
    for index in range(bracket, len(plan["rungs"])):
        reached = [
            trial["rungs"][index]
            for trial in state["trials"]
            if trial["bracket"] == bracket and len(trial["rungs"]) > index
        ]
        place = (len(reached) + 1) // plan["reduction"]
        if place:
            best_first = sorted(reached, reverse=plan["metrics"][0]["goal"] == "maximize")
            found.append([plan["rungs"][index], best_first[place - 1]])
    return found

# couler_py/dsl/sweeps/study.py, line 113
def point_of(state: dict[str, Any], trial: dict[str, Any]) -> dict[str, Any]:
    """What a trial is given: every setting, and at which values of the metric it should stop."""
    return {
        "number": trial["number"],
        "values": {**state["plan"]["defaults"], **trial["values"]},
        "cutoffs": cutoffs(state, trial["bracket"]),
    }

# couler_py/dsl/sweeps/study.py, line 50
def saved(state: dict[str, Any]) -> Round:
    """Write the state down, and say which of its trials are to run."""
    import json

    target = Path("study.json")
    target.write_text(json.dumps(state, indent=1, sort_keys=True, allow_nan=False) + "\n", encoding="utf-8")
    points = [point_of(state, trial) for trial in state["trials"] if trial["state"] == "running"]
    return Round(target, points, not points)

# couler_py/dsl/sweeps/study.py, line 31
def tell(state: Path, points: list[Any], outcomes: list[Any]) -> Round:
    """Take in the outcomes of the trials that ended (`points` are theirs), and suggest the next ones."""
    import json

    found = json.loads(state.read_text(encoding="utf-8"))
    told(found, points, outcomes)
    suggest(found)
    return saved(found)
''',
    "outputs": {"points": list, "done": bool},
    "gives": {"state": False},
    "files": ["state"],
    "env": {"COULER_INSTALL": "1", "COULER_EXACT": "points"},
}
SWEEP_SUMMARY = {
    "image": "python:3.11",
    "name": "sweep-summary",
    "source": r'''
# couler_py/dsl/sweeps/summary.py, line 9
from typing import Any

# couler_py/dsl/sweeps/summary.py, line 8
from pathlib import Path

# couler_py/dsl/sweeps/summary.py, line 9
from typing import NamedTuple

# couler_py/dsl/sweeps/summary.py, line 61
def losses(trial: dict[str, Any], plan: dict[str, Any]) -> list[float]:
    """The metrics of a trial, the smaller the better."""
    return [
        -value if metric["goal"] == "maximize" else value
        for value, metric in zip(trial["metrics"], plan["metrics"])  # noqa: B905
    ]

# couler_py/dsl/sweeps/summary.py, line 42
def best_of(state: dict[str, Any]) -> list[dict[str, Any]]:
    """The trials that no other is better than: as good in every metric, and better in one. Of equals, the first."""
    complete = [trial for trial in state["trials"] if trial["state"] == "complete"]
    if not complete:
        raise RuntimeError("no trial came to its end with a number for each metric")
    scores = {trial["number"]: losses(trial, state["plan"]) for trial in complete}
    front: list[dict[str, Any]] = []
    for trial in complete:
        own = scores[trial["number"]]
        beaten = any(
            all(a <= b for a, b in zip(scores[other["number"]], own))  # noqa: B905 - may run on Python 3.9
            and (scores[other["number"]] != own or other["number"] < trial["number"])
            for other in complete
        )
        if not beaten:
            front.append(trial)
    return front

# couler_py/dsl/sweeps/summary.py, line 78
def write_table(state: dict[str, Any], target: Path) -> None:
    """All trials, a row each: number, state, settings, metrics, and the step at which it ended."""
    import csv

    plan = state["plan"]
    names, settings = [metric["name"] for metric in plan["metrics"]], [each["name"] for each in plan["space"]]
    with target.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["trial", "state", *settings, *names, "last step"])
        for trial in state["trials"]:
            tried = [trial["values"].get(name, "") for name in settings]
            values = [*trial["metrics"], *[""] * len(names)][: len(names)]
            last = trial["curve"][-1][0] if trial["curve"] else ""
            writer.writerow([trial["number"], trial["state"], *tried, *values, last])

# couler_py/dsl/sweeps/summary.py, line 201
def as_optuna(state: dict[str, Any]) -> Any:
    """The trials that ended well or were stopped, as a study of Optuna's."""
    import optuna

    plan = state["plan"]
    space = {each["name"]: each for each in plan["space"]}
    study = optuna.create_study(directions=[metric["goal"] for metric in plan["metrics"]])
    kinds = optuna.distributions
    for trial in state["trials"]:
        if trial["state"] not in ("complete", "stopped"):
            continue
        distributions: dict[str, Any] = {}
        for name in trial["values"]:
            given = space[name]
            if given["kind"] == "choice":
                distributions[name] = kinds.CategoricalDistribution(given["values"])
            elif given["kind"] == "integer":
                distributions[name] = kinds.IntDistribution(
                    given["low"], given["high"], log=given["log"], step=given["step"]
                )
            else:
                distributions[name] = kinds.FloatDistribution(given["low"], given["high"], log=given["log"])
        ended = trial["state"] == "complete"
        study.add_trial(
            optuna.trial.create_trial(
                state=optuna.trial.TrialState.COMPLETE if ended else optuna.trial.TrialState.PRUNED,
                params=trial["values"],
                distributions=distributions,
                values=trial["metrics"] if ended else None,
                intermediate_values={} if ended else {0: trial["metrics"][0]} if trial["metrics"] else {},
            )
        )
    return study

# couler_py/dsl/sweeps/summary.py, line 189
def draw_curves(state: dict[str, Any], pyplot: Any) -> None:
    """What each trial logged, over the steps; grey where it was stopped."""
    _, axes = pyplot.subplots()
    for trial in state["trials"]:
        if trial["curve"]:
            steps, values = zip(*trial["curve"])  # noqa: B905
            colour = "tab:blue" if trial["state"] == "complete" else "lightgrey"
            axes.plot(steps, values, color=colour, marker=".", linewidth=0.8)
    axes.set_xlabel("step")
    axes.set_ylabel(state["plan"]["metrics"][0]["name"])

# couler_py/dsl/sweeps/summary.py, line 139
def plots(state: dict[str, Any]) -> list[tuple[str, bytes]]:
    """The plots of a study by title, as SVG: the same bytes for the same trials."""
    import io
    import warnings

    import matplotlib

    matplotlib.use("agg")
    warnings.simplefilter("ignore")
    import optuna
    from matplotlib import pyplot

    pyplot.rcParams.update({"svg.hashsalt": "couler", "text.parse_math": False})
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = as_optuna(state)
    draw: Any = optuna.visualization.matplotlib
    several = len(state["plan"]["metrics"]) > 1
    name = state["plan"]["metrics"][0]["name"]
    # What none of several metrics is, the first stands for.
    first = {"target": lambda trial: trial.values[0], "target_name": name} if several else {"target_name": name}
    wanted: list[tuple[str, Any]] = [
        ("History", lambda: draw.plot_optimization_history(study, **first)),
        ("Settings of each trial", lambda: draw.plot_parallel_coordinate(study, **first)),
    ]
    complete = [trial for trial in state["trials"] if trial["state"] == "complete"]
    differ = len({trial["metrics"][0] for trial in complete}) > 1
    named = {each["name"]: each for each in state["plan"]["space"]}
    shared = [key for key in named if all(key in trial["values"] for trial in complete)]
    if len(complete) >= 4 and differ and shared:
        judge: Any = optuna.importance.PedAnovaImportanceEvaluator()
        wanted.insert(
            1,
            ("What matters", lambda: draw.plot_param_importances(study, evaluator=judge, params=shared, **first)),
        )
    if len(state["plan"]["metrics"]) in (2, 3):
        names = [metric["name"] for metric in state["plan"]["metrics"]]
        wanted.append(("Front", lambda: draw.plot_pareto_front(study, target_names=names)))
    if any(trial["curve"] for trial in state["trials"]):
        wanted.append(("What trials logged", lambda: draw_curves(state, pyplot)))
    found = []
    for title, make in wanted:
        make()
        figure = pyplot.gcf()
        into = io.BytesIO()
        figure.savefig(into, format="svg", metadata={"Date": None}, bbox_inches="tight")
        pyplot.close(figure)
        found.append((title, into.getvalue()))
    return found

# couler_py/dsl/sweeps/summary.py, line 126
def ordered(state: dict[str, Any]) -> list[dict[str, Any]]:
    """The trials as the table has them: those that came to their end first, by the first metric."""
    plan = state["plan"]
    done = [trial for trial in state["trials"] if trial["state"] == "complete"]
    rest = [trial for trial in state["trials"] if trial["state"] != "complete"]
    return sorted(done, key=lambda trial: losses(trial, plan)) + rest

# couler_py/dsl/sweeps/summary.py, line 134
def short(value: Any) -> str:
    """A value as a table shows it."""
    return format(value, ".6g") if isinstance(value, float) else str(value)

# couler_py/dsl/sweeps/summary.py, line 94
def shown(state: dict[str, Any], front: list[dict[str, Any]]) -> str:
    """A page of HTML that needs nothing else: what was best, plots, and the table."""
    import base64
    import html

    plan = state["plan"]
    counts: dict[str, int] = {}
    for trial in state["trials"]:
        counts[trial["state"]] = counts.get(trial["state"], 0) + 1
    said = ", ".join(str(counts[name]) + " " + name for name in sorted(counts))
    names, settings = [metric["name"] for metric in plan["metrics"]], [each["name"] for each in plan["space"]]
    parts = [
        "<!doctype html><html lang=en><meta charset=utf-8><title>Sweep</title>",
        "<style>body{font:14px/1.4 system-ui,sans-serif;margin:1em;max-width:70em}table{border-collapse:collapse}"
        "td,th{padding:.2em .7em;text-align:right;border-bottom:1px solid #ddd}img{max-width:100%}"
        ".best{font-weight:bold}</style>",
        "<p>" + html.escape(plan["algorithm"] + ", " + str(len(state["trials"])) + " trials: " + said) + "</p>",
    ]
    for title, picture in plots(state):
        code = base64.b64encode(picture).decode()
        parts.append("<h2>" + html.escape(title) + '</h2><img alt="" src="data:image/svg+xml;base64,' + code + '">')
    heads = "".join("<th>" + html.escape(name) + "</th>" for name in ["trial", "state", *settings, *names])
    parts.append("<h2>Trials</h2><table><tr>" + heads + "</tr>")
    best = {trial["number"] for trial in front}
    for trial in ordered(state):
        cells = [trial["number"], trial["state"], *[trial["values"].get(name, "") for name in settings]]
        cells += [*trial["metrics"], *[""] * len(names)][: len(names)]
        row = "".join("<td>" + html.escape(short(cell)) + "</td>" for cell in cells)
        parts.append(("<tr class=best>" if trial["number"] in best else "<tr>") + row + "</tr>")
    return "\n".join([*parts, "</table></html>"]) + "\n"

# couler_py/dsl/sweeps/summary.py, line 69
def middle(front: list[dict[str, Any]], plan: dict[str, Any]) -> int:
    """Which trial of a front is nearest to the best of every metric, each measured by its range over the front."""
    scores = [losses(trial, plan) for trial in front]
    columns = list(zip(*scores))  # noqa: B905
    low, wide = [min(column) for column in columns], [max(column) - min(column) or 1.0 for column in columns]
    far = [sum(((v - a) / w) ** 2 for v, a, w in zip(row, low, wide)) for row in scores]  # noqa: B905
    return far.index(min(far))

# couler_py/dsl/sweeps/summary.py, line 12
class Found(NamedTuple):
    """What came out of a sweep.

    `best` are the settings of the best trial, all of them, and `value` is its first metric. `front` are the trials that
    none is better than in every metric: one, where there is one metric. `study` is what a later sweep goes on from.
    """

    best: dict[str, Any]
    value: float
    front: list[Any]
    table: Path
    page: Path
    study: Path

# couler_py/dsl/sweeps/summary.py, line 27
def summarise(state: Path) -> Found:
    """Choose the best, and show all."""
    import json

    found = json.loads(state.read_text(encoding="utf-8"))
    front = best_of(found)
    plan = found["plan"]
    table, page = Path("trials.csv"), Path("sweep.html")
    write_table(found, table)
    page.write_text(shown(found, front), encoding="utf-8")
    leading = front[middle(front, plan)]
    told = [{"number": each["number"], "values": each["values"], "metrics": each["metrics"]} for each in front]
    return Found({**plan["defaults"], **leading["values"]}, leading["metrics"][0], told, table, page, state)
''',
    "outputs": {"best": dict, "value": float, "front": list},
    "gives": {"table": False, "page": False, "study": False},
    "files": ["state"],
    "env": {"COULER_INSTALL": "1"},
}
TRAIN = {
    "image": "python:3.11",
    "name": "train",
    "source": '''
# examples/tune.py, line 8
from pathlib import Path

# examples/tune.py, line 35
def train(settings: dict[str, str | float]) -> Path:
    """The model with the best settings, from all of the data."""
    import pickle

    from sklearn.datasets import load_breast_cancer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    data = load_breast_cancer()
    support = SVC(C=settings["c"], kernel=settings["kernel"], gamma=settings["gamma"] or "scale")
    model = make_pipeline(StandardScaler(), support).fit(data.data, data.target)
    target = Path("model.pickle")
    target.write_bytes(pickle.dumps(model))
    return target
''',
    "gives": {"result": False},
    "env": {"COULER_INSTALL": "1"},
}

# ruff: noqa: E402
# What follows is couler-py's, and in every file the same: how steps get their inputs and
# leave their outputs. The last line makes the DAG.

import base64
import json
import shlex
from functools import partial
from hashlib import sha256
from time import time
from typing import Any, NamedTuple
from urllib.parse import quote
from uuid import uuid4

from airflow.providers.cncf.kubernetes.operators.pod import KubernetesPodOperator
from airflow.providers.standard.operators.python import PythonOperator
from airflow.sdk import TriggerRule, get_current_context
from airflow.sdk.exceptions import (
    AirflowException,
    AirflowFailException,
    AirflowSkipException,
)
from fsspec.core import url_to_fs


class Group(NamedTuple):
    """A graph in the DAG: who waits for it waits for `end`, which has its outputs."""

    start: Any
    end: Any


class FanOut(NamedTuple):
    """Tasks for the items of a list; `each` has their results."""

    start: Any
    each: Any
    end: Any
    batch: int | None = None


def begin(inputs=dict, when=None, item=None):
    """The first task of a graph: it reads the condition and the graph's inputs."""

    def read(*items):
        proceed(when)
        return kept(evaluated(inputs, *items))

    items = [] if item is None else [item]
    return PythonOperator(task_id="start", python_callable=read, op_args=items)


def finish(start, before, outputs=dict):
    """The last task of a graph that forgives no failure: it gives the outputs."""

    def give():
        if xcom(start) is None:
            raise AirflowSkipException("the graph did not start")
        return kept(given_back(outputs))

    end = PythonOperator(
        task_id="end", python_callable=give, trigger_rule=TriggerRule.NONE_FAILED
    )
    [start, *before] >> end
    return Group(start, end)


def result_of_run(before, outputs=dict, **options):
    """The last task of the DAG: its XCom are the outputs of the run."""
    made = PythonOperator(
        task_id="result",
        python_callable=lambda: kept(evaluated(outputs)),
        trigger_rule=TriggerRule.NONE_FAILED,
        **options,
    )
    before >> made
    return made


def fan_out(items, each, *, when=None, most=1000, tolerate=0, batch=None):
    """A task or group for each item. Fails if more items fail than are tolerated.

    With `batch`, each task works on so many items.
    """

    def read():
        proceed(when)
        found = evaluated(items)
        if len(found) > most:
            raise AirflowFailException(f"{len(found)} items, and there may be {most}")
        if batch:
            starts = range(0, len(found), batch)
            return [{"item": found[begin : begin + batch]} for begin in starts]
        return [{"item": item} for item in found]

    def close():
        if xcom(start) is None:
            raise AirflowSkipException("it had nothing to do")
        return {}

    def count():
        check_started(start)
        failed = failed_items(each_end) * (batch or 1)
        if batch:
            failed += sum(found is None for found in results_of(fan))
        check_tolerated(failed, tolerate)
        return {}

    counts = tolerate or batch
    start = PythonOperator(task_id="start", python_callable=read)
    each_end = each(start.output)
    end = PythonOperator(
        task_id="end",
        python_callable=count if counts else close,
        trigger_rule=TriggerRule.ALL_DONE if counts else TriggerRule.NONE_FAILED,
    )
    [start, each_end] >> end
    fan = FanOut(start, each_end, end, batch)
    return fan


def repeat_group(make, inputs, until, carry, most, outputs, *, when=None, item=None):
    """A graph that runs again and again, until a condition over its outputs holds."""
    start = begin(inputs, when, item)
    turns = []

    def turn_inputs(before):
        given = dict(xcom(start))
        if before is not None:
            last = xcom(before)
            given |= {name: last[output] for name, output in carry.items()}
        return given

    def goes_on(before):
        return not until(xcom(before))

    def give():
        check_started(start)
        if any(state_of(each) in ("Failed", "Blocked") for each in turns):
            raise AirflowFailException("a turn failed")
        last = [found for each in turns if (found := xcom(each.end)) is not None][-1]
        if not evaluated(until, last):
            raise AirflowFailException(f"the condition did not hold after {most} turns")
        return kept(evaluated(outputs, last))

    for number in range(1, most + 1):
        before = turns[-1].end if turns else None
        condition = None if before is None else partial(goes_on, before)
        with TaskGroup(f"turn_{number}"):
            turns.append(make(partial(turn_inputs, before), condition))
        # Behind all turns before, so that all that are left are skipped at once.
        [start, *[each.end for each in turns[:-1]]] >> turns[-1].start
    end = PythonOperator(
        task_id="end", python_callable=give, trigger_rule=TriggerRule.ALL_DONE
    )
    [start, *[each.end for each in turns]] >> end
    return Group(start, end)


XCOM_LIMIT = 48 * 1024


class Absent(LookupError):
    """A value that is not there: the task that makes it did not succeed."""


def proceed(when):
    """Skip the task unless its condition holds."""
    if when is not None and not evaluated(when):
        raise AirflowSkipException("its condition is false")


def evaluated(read, *given):
    """What an expression gives. One without a value fails the task for good."""
    try:
        return read(*given) if callable(read) else read
    except AirflowSkipException:
        raise
    except Exception as error:
        message = f"an input or a condition has no value: {error!r}"
        raise AirflowFailException(message) from error


def given_back(outputs):
    """The outputs of a graph; in a fan-out, an item without one counts as skipped."""
    try:
        return outputs()
    except Absent:
        raise AirflowSkipException("the graph has no result") from None
    except Exception as error:
        raise AirflowFailException(f"an output has no value: {error!r}") from error


def param(name):
    """A parameter of the run."""
    return get_current_context()["params"][name]


def xcom(task):
    """All that a task gave, for the same item; None if it did not succeed."""
    ti = get_current_context()["ti"]
    mapped = task.get_closest_mapped_task_group() is not None
    index = ti.map_index if mapped else -1
    return loaded(ti.xcom_pull(task_ids=task.task_id, map_indexes=index))


def out(task, name):
    """One output of a task. Raises `Absent` where the task did not succeed."""
    found = xcom(task)
    if found is None or name not in found:
        raise Absent(f"{task.task_id} gave no {name}")
    return found[name]


def results_of(fan):
    """What the items of a fan-out gave, in order; None for those without success."""
    if isinstance(fan.each, list):
        return [xcom(each) for each in fan.each]
    given = xcom(fan.start)
    ti = get_current_context()["ti"]
    indexes = list(range(len(given)))
    pulled = ti.xcom_pull(task_ids=fan.each.task_id, map_indexes=indexes)
    found = [loaded(each) for each in pulled] if given else []
    if fan.batch is None:
        return found
    # A batch that failed as a whole is none of its items: it is counted by its task.
    return [each for batch in found if batch for each in batch["@items"]]


def check_succeeded(fan):
    """Raise `Absent` unless a fan-out succeeded."""
    if xcom(fan.end) is None:
        raise Absent(f"{fan.end.task_id} did not succeed")


def gather(fan, name):
    """An output of a fan-out: the list over the items that succeeded."""
    check_succeeded(fan)
    return [found[name] for found in results_of(fan) if found is not None]


def items_of(fan):
    """The items of a fan-out that succeeded, in order."""
    check_succeeded(fan)
    given = [each["item"] for each in xcom(fan.start)]
    if fan.batch is not None:
        given = [item for batch in given for item in batch]
    pairs = zip(given, results_of(fan), strict=True)
    return [item for item, found in pairs if found is not None]


def fact(name):
    """A fact about the run."""
    context = get_current_context()
    run, ti = context["dag_run"], context["ti"]
    facts = {
        "id": run.run_id,
        "name": ti.dag_id,
        "namespace": "",
        "scheduled_time": (run.logical_date or run.run_after).isoformat(),
        "start": run.start_date.isoformat(),
        "attempt": ti.try_number - 1,
        "duration": (datetime.now(UTC) - run.start_date).total_seconds(),
    }
    return facts[name]


def kept(value):
    """A value for XCom: a large one, or one that Airflow would change, as a file."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    reserved = ('"__classname__"', '"__type"', '"__var"', '"__id__"')
    plain = text.encode("utf-8", "replace").decode() == text
    if (
        plain
        and len(text.encode()) <= XCOM_LIMIT
        and not any(map(text.count, reserved))
    ):
        return value
    return {"@file": write_file("xcom.json", json.dumps(value).encode())}


def loaded(found):
    """What `kept` kept."""
    if isinstance(found, dict) and "@file" in found:
        return json.loads(read_file(found["@file"]))
    return found


def end_of(node):
    """The task that ends a task, graph or fan-out."""
    return getattr(node, "end", node)


def states_of(task_ids, map_index=None):
    """Airflow's states of tasks of this run."""
    ti = get_current_context()["ti"]
    found = ti.get_task_states(
        dag_id=ti.dag_id,
        run_ids=[ti.run_id],
        task_ids=task_ids,
        map_index=map_index,
    )
    return {task: str(state) for task, state in found.get(ti.run_id, {}).items()}


def state_of(node):
    """How a task, graph or fan-out ended: Succeeded, Failed, Skipped or Blocked."""
    end, start = end_of(node), getattr(node, "start", None)
    inside = end.get_closest_mapped_task_group() is not None
    index = get_current_context()["ti"].map_index if inside else -1
    suffix = f"_{index}" if inside else ""
    task_ids = [end.task_id] + ([] if start is None else [start.task_id])
    found = states_of(task_ids, index)
    names = {
        "success": "Succeeded",
        "skipped": "Skipped",
        "upstream_failed": "Blocked",
    }
    ended = names.get(found.get(end.task_id + suffix), "Failed")
    if start is None or ended in ("Succeeded", "Skipped"):
        return ended
    began = names.get(found.get(start.task_id + suffix))
    return "Blocked" if began == "Blocked" else "Failed"


def check_started(start):
    """Skip or fail the end of a group that did not start."""
    if xcom(start) is None:
        if state_of(start) == "Skipped":
            raise AirflowSkipException("it had nothing to do")
        raise AirflowFailException("it did not start")


def check_tolerated(failed, tolerate):
    """Fail if more items failed than are tolerated."""
    if failed > tolerate:
        raise AirflowFailException(f"{failed} items failed, and {tolerate} may")


def failed_items(task):
    """How many items of a fan-out failed."""
    found = states_of([task.task_id]).values()
    return sum(each in ("failed", "upstream_failed") for each in found)


def member_of(value, key):
    """A member of an object, or an element of a list."""
    if isinstance(value, dict) and isinstance(key, str):
        return value[key]
    if isinstance(value, list) and isinstance(key, int) and not isinstance(key, bool):
        return value[key]
    raise TypeError(f"{value!r} has no member {key!r}")


STORE = "/files"


class StepFailed(AirflowException):
    """A step that ended with an exit code other than 0."""

    def __init__(self, message, exit_code=None, seconds=0.0):
        super().__init__(message)
        self.exit_code, self.seconds = exit_code, seconds


class Work(NamedTuple):
    """What an operator does: the step, how its inputs are read, when it goes on."""

    template: dict
    inputs: Any = dict
    when: Any = None
    again: Any = None
    turns: Any = None
    batch: bool = False


def run_attempt(run, given, again, turns):
    """One attempt; `again` says of a failure whether another one is worth it."""
    try:
        return run(given) if turns is None else turns(run, given)
    except StepFailed as error:
        if again is not None and not evaluated(again, error):
            raise AirflowFailException(str(error)) from error
        raise


def run_batch(run, items, attempts):
    """Several items in one task, each with its own attempts; None for failed ones."""
    found = []
    for item in items:
        made = None
        for number in range(attempts):
            try:
                made = run(item)
                break
            except AirflowException as error:
                print(f"item {len(found)}, attempt {number}: {error}")
        found.append(made)
    return kept({"@items": found})


def value_of(name, form, written, marked):
    """An output as it was written: text as it is, everything else as JSON.

    Python steps mark texts that could be taken for something else.
    """
    if marked and written.startswith("couler:json:"):
        return json.loads(written.removeprefix("couler:json:"))
    if not marked:
        written = written.removesuffix("\n")
    if form is str:
        return written
    try:
        value = json.loads(written)
    except ValueError as error:
        if form is object:
            return written
        raise StepFailed(f"the output {name} is not JSON: {error}") from error
    fitting = (int, float) if form is float else (form,)
    if not marked and form is not object and type(value) not in fitting:
        raise StepFailed(f"the output {name} is not {form.__name__}: {written[:60]}")
    return value


def program_of(template):
    """The program of a Python step: a line that calls the runner, and the function."""
    spec = json.dumps(SPECS[template["name"]])
    start = "exec(__import__('os').environ.pop('COULER_RUNNER'))"
    return f"SPEC = __import__('json').loads({spec!r}); {start}\n{template['source']}"


def encoded(value):
    """An input as the runner reads it."""
    try:
        data = json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        data = json.dumps(value).encode()
    return base64.b64encode(b"couler:json:" + data).decode()


def variable_of(name):
    """The environment variable with an input of a Python function."""
    return "COULER_INPUT_" + (name if name.isascii() else "0" + name.encode().hex())


def address_of(name):
    """Where a file of this task is kept."""
    ti = get_current_context()["ti"]
    attempt = f"{ti.map_index}-{ti.try_number}"
    parts = (ti.dag_id, ti.run_id, ti.task_id, attempt, name)
    return "/".join((STORE, *(quote(each, safe="") for each in parts)))


def place_of(template, name, given):
    """Where an output file goes: its place in a named store, else one of its own."""
    named = evaluated(template.get("to", {}), given)
    return named[name] if name in named else address_of(name)


def store_of(place):
    """The store that a place is in, and its path there."""
    if isinstance(place, dict):
        return url_to_fs(place["@uri"], **place.get("@options", {}))
    return url_to_fs(place)


def is_folder(place):
    """Whether a place is several: the files of a fan-out by the number of their item."""
    return isinstance(place, dict) and "@uri" not in place


def all_inputs(template, given):
    """The inputs of a step with what it says itself: defaults, and files in named stores."""
    found = template.get("defaults", {}) | given
    return evaluated(template.get("from", {}), found) | found


def write_file(name, data):
    """Keep some bytes; gives where."""
    place = address_of(name)
    store, path = url_to_fs(place)
    store.makedirs(store._parent(path), exist_ok=True)
    store.pipe_file(path, data)
    return place


def read_file(place):
    """Bytes that were kept."""
    store, path = url_to_fs(place)
    return store.cat_file(path)


def run_cached(template, given, run):
    """The outputs of an earlier success with the same program and inputs, or new.

    A key of the step's own stands for its inputs; what it reads of the run counts too.
    """
    cache = template["cache"]
    read = {name: param(name) for name in cache.get("parameters", ())}
    if "key" in cache:
        contents = evaluated(cache["key"], given)
    else:
        contents = {
            name: digest_of(value) if name in template.get("files", ()) else value
            for name, value in given.items()
        }
    identity = [cache["program"], cache["version"], read, contents]
    key = sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()
    record = f"{STORE}/cache/{key}.json"
    found = read_record(template, record)
    if found is None:
        found = run(given)
        write_record(record, found)
    return found


def read_record(template, place):
    """The outputs in a record; None without one that is whole, young, and has its files."""
    try:
        record = json.loads(read_file(place))
    except (FileNotFoundError, ValueError):
        return None
    found, most = record["outputs"], template["cache"]["seconds"]
    if most is not None and time() - record["time"] >= most:
        return None
    files = [found[name] for name in template.get("gives", ())]
    return found if all(is_kept(each) for each in files if each is not None) else None


def write_record(place, outputs):
    """Keep outputs as a record, which gets its name when it is whole."""
    store, path = url_to_fs(place)
    store.makedirs(store._parent(path), exist_ok=True)
    part = f"{path}.{uuid4().hex}.part"
    store.pipe_file(part, json.dumps({"time": time(), "outputs": outputs}).encode())
    store.mv(part, path)


def is_kept(place):
    """Whether a file or folder is still where it was kept."""
    store, path = store_of(place)
    return store.exists(path)


def digest_of(place):
    """A digest of what is in a kept file or folder."""
    if place is None:
        return None
    if is_folder(place):
        return {name: digest_of(each) for name, each in place.items()}
    store, path = store_of(place)
    return {
        each[len(path) :]: sha256(store.cat_file(each)).hexdigest()
        for each in sorted(store.find(path))
    }


class Files(NamedTuple):
    """Where a container finds its files and leaves its own, and a mark that all are there.

    `result` is where it writes its outputs.
    """

    brought: dict
    left: dict
    ready: str = ""
    result: str = ""


def run_facts():
    """What every step is told of its run."""
    facts = ("id", "name", "namespace", "scheduled_time", "start", "attempt")
    return {f"COULER_RUN_{name.upper()}": str(fact(name)) for name in facts}


def program_in_container(template, given, files):
    """The words, and the environment, with which a container is started."""
    env = run_facts() | evaluated(template.get("env", {}), given)
    if "source" in template:
        env |= python_environment(template, given, files)
        return [*template.get("python", ["python"]), "-c", PYTHON_STEP], env
    if "script" in template:
        env["COULER_SCRIPT"] = evaluated(template["script"], given)
    return command_of(template, given, files), env


def python_environment(template, given, files):
    """What the runner of a Python function finds in its environment."""
    keep = {
        "values": list(template.get("outputs", ())),
        "brought": files.brought,
        "files": files.left,
        "include": [INCLUDES[each] for each in template.get("include", ())],
        "ready": files.ready,
        "result": files.result,
    }
    values = {
        variable_of(name): encoded(value)
        for name, value in given.items()
        if name not in template.get("files", ())
    }
    return values | {
        "COULER_RUNNER": RUNNER,
        "COULER_STEP": program_of(template),
        "COULER_KEEP": json.dumps(keep),
        "PYTHONUNBUFFERED": "1",
    }


def command_of(template, given, files):
    """The words of a container's command, in a shell that keeps its outputs."""
    words = [*evaluated(template["command"], given)]
    paths = template.get("paths", {})
    before, after = [], []
    if "script" in template:
        words.append("/tmp/couler-script")
        before.append('printf %s "$COULER_SCRIPT" > /tmp/couler-script')
        before.append("chmod 700 /tmp/couler-script; unset COULER_SCRIPT")
    for name in files.brought:
        before += copied(files.brought[name], template["files"][name])
    for name in template.get("outputs", {}):
        path = shlex.quote(paths.get(name, "/tmp/.couler-stdout"))
        read = f"base64 < {path} | tr -d '\\n'"
        after.append(
            f'[ ! -e {path} ] || add {shlex.quote(json.dumps(name))} "$({read})"'
        )
    for name in template.get("gives", ()):
        path, place = shlex.quote(paths[name]), shlex.quote(files.left[name])
        folder = shlex.quote(files.left[name].rpartition("/")[0])
        after.append(
            f"[ ! -e {path} ] || {{ mkdir -p {folder} && cp -r {path} {place} && "
            f"add {shlex.quote(json.dumps(name))} ''; }}"
        )
    if not before and not after:
        return words
    printed = "/tmp/.couler-stdout"
    run = (
        f'"$@" > {printed}; code=$?; cat {printed}'
        if "stdout" in template
        else '"$@"; code=$?'
    )
    if files.ready:
        after.append(f": > {shlex.quote(files.ready)}")
    if files.result:
        after.append(f"printf '%s}}' \"$found\" > {files.result}")
    lines = [
        "found='{'; comma=''",
        """add() { found="$found$comma$1:\\"$2\\""; comma=,; }""",
        f"echo '{{}}' > {files.result}" if files.result else ":",
        *before,
        run,
        "[ $code = 0 ] || exit $code",
        *after,
    ]
    return ["sh", "-c", "\n".join(lines), "sh", *words]


def copied(place, path):
    """The lines of a shell that bring a kept file or folder to a path."""
    if place is None:
        return []
    if isinstance(place, dict):
        made = [f"mkdir -p {shlex.quote(path)}"]
        for name, each in place.items():
            made += copied(each, f"{path}/{name}")
        return made
    folder = shlex.quote(path.rpartition("/")[0] or "/")
    return [f"mkdir -p {folder} && cp -r {shlex.quote(place)} {shlex.quote(path)}"]


def read_outputs(template, given, written):
    """The outputs of a pod, as its program wrote them."""
    found = {}
    for name, form in template.get("outputs", {}).items():
        if name in written:
            text = base64.b64decode(written[name]).decode()
            found[name] = value_of(name, form, text, "source" in template)
        elif name in template.get("otherwise", {}):
            found[name] = template["otherwise"][name]
        else:
            raise StepFailed(f"the step left no output {name}")
    for name, optional in template.get("gives", {}).items():
        if name not in written and not optional:
            raise StepFailed(f"the step left no file {name}")
        found[name] = place_of(template, name, given) if name in written else None
    return found


PYTHON_STEP = """\
import base64, json, os, subprocess, sys
folder, found = "/tmp/couler/outputs", {}
keep = json.loads(os.environ.pop("COULER_KEEP"))


def bring(place, path):
    if isinstance(place, dict):
        os.makedirs(path, exist_ok=True)
        for name, each in place.items():
            bring(each, f"{path}/{name}")
    elif place is not None:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        subprocess.check_call(["cp", "-r", place, path])


code, archives = 1, []
try:
    for data in keep["include"]:
        archives.append(f"/tmp/include-{len(archives)}.tar.gz")
        with open(archives[-1], "wb") as file:
            file.write(base64.b85decode(data))
    os.environ["COULER_INCLUDE"] = os.pathsep.join(archives)
    for name, place in keep["brought"].items():
        bring(place, f"/tmp/couler/inputs/{name}")
    with open("/tmp/step.py", "w", encoding="utf-8") as file:
        file.write(os.environ.pop("COULER_STEP"))
    code = subprocess.call([sys.executable, "/tmp/step.py"])
    for name in keep["values"]:
        if code == 0:
            with open(f"{folder}/{name}", "rb") as file:
                found[name] = base64.b64encode(file.read()).decode()
    for name, place in keep["files"].items():
        if code == 0 and os.path.exists(f"{folder}/{name}"):
            os.makedirs(os.path.dirname(place), exist_ok=True)
            subprocess.check_call(["cp", "-r", f"{folder}/{name}", place])
            found[name] = ""
    if code == 0 and keep["ready"]:
        open(keep["ready"], "w").close()
finally:
    if keep["result"]:
        with open(keep["result"], "w") as file:
            json.dump(found, file)
sys.exit(code)
"""

CLAIM = "files"

STORE_SECRET = ""

RUNNER_IMAGE = "couler-runner:0.1.0"

FILES = "/couler"

BRINGING = 3600  # seconds: a pod has not started before its files are there

PLAIN_POD = {"spec": {"containers": [{"name": "base"}]}}


def step(task_id, template, inputs=dict, when=None, again=None, turns=None, **options):
    """A step as a pod of its own. `inputs` are values, or how they are read."""
    pod = Pod(task_id=task_id, **pod_options(template), **options)
    pod.work = Work(template, inputs, when, again, turns)
    return pod


def step_of_each(template, inputs, again=None, turns=None, batch=False, **options):
    """For `fan_out`: a step for each item, or for each batch, one pod after another."""

    class Each(Pod):
        work = Work(template, inputs, None, again, turns, batch)

    made = Each.partial(task_id="each", **pod_options(template), **options)
    return made.expand_kwargs


def pod_options(template):
    """What the operator of a step is given."""
    return {
        "image": "" if callable(template["image"]) else template["image"],
        "do_xcom_push": bool(template.get("outputs") or template.get("gives")),
        **template.get("options", {}),
    }


class Pod(KubernetesPodOperator):
    """The operator of a step: it reads the inputs when it starts, and Jinja nothing."""

    template_fields = ()
    work = None

    def __init__(self, *, item=None, **options):
        super().__init__(**options)
        self.item = item

    def execute(self, context):
        proceed(self.work.when)
        if self.work.batch:
            one = partial(self.run_once, context)
            found = run_batch(one, self.item, 1 + self.retries)
        else:
            given = () if self.item is None else (self.item,)
            found = kept(self.run_once(context, *given))
        if not self.do_xcom_push:
            context["ti"].xcom_push(key="return_value", value=found)
        return found

    def run_once(self, context, *item):
        template = self.work.template
        given = all_inputs(template, evaluated(self.work.inputs, *item))
        run = partial(self.run_pod, context)
        if "cache" in template:
            run = partial(run_cached, template, run=run)
        return run_attempt(run, given, self.work.again, self.work.turns)

    def run_pod(self, context, given):
        describe(self, self.work.template, given)
        self.pod = self.pod_request_obj = self.remote_pod = None
        try:
            written = super().execute(context)
        except AirflowException as error:
            code = exit_codes_of(self.remote_pod).get("base")
            raise StepFailed(str(error), code) from error
        return read_outputs(self.work.template, given, written or {})

    def extract_xcom(self, pod, **options):
        found = super().extract_xcom(pod, **options)
        check_kept(self, pod)
        return found


def describe(operator, template, given):
    """Give the operator the command, the environment and the files of its pod."""
    files = pod_files(template, given)
    words, env = program_in_container(template, given, files)
    operator.image = evaluated(template["image"], given)
    pod = evaluated(template.get("pod", PLAIN_POD), given)
    operator.pod_template_dict = pod = with_files(template, pod, given, files)
    first = [each["name"] for each in pod["spec"].get("initContainers", ())]
    if "couler-bring" in first:
        operator.init_container_logs = ["couler-bring"]
        operator.startup_timeout_seconds = BRINGING
    operator.cmds, operator.arguments = escaped(words[:1]), escaped(words[1:])
    operator.env_vars = {name: escaped(value) for name, value in env.items()}


def escaped(text):
    """A text, or a list of them, in which Kubernetes expands nothing."""
    if isinstance(text, list):
        return [escaped(each) for each in text]
    return text.replace("$", "$$")


def pod_files(template, given):
    """Where a pod finds its files and leaves its own.

    What is on the volume of the claim is used there. The rest is in a folder of the pod,
    which the runner fills and empties.
    """
    names, gives = template.get("files", ()), template.get("gives", ())
    brought = {name: in_pod(given.get(name), f"{FILES}/in/{name}") for name in names}
    places = {name: place_of(template, name, given) for name in gives}
    left = {name: in_pod(places[name], f"{FILES}/out/{name}") for name in gives}
    ready = (
        f"{FILES}/ready" if any(left[name] != places[name] for name in gives) else ""
    )
    result = "/airflow/xcom/return.json" if gives or template.get("outputs") else ""
    return Files(brought, left, ready, result)


def in_pod(place, path):
    """Where a pod has what is kept at a place, in the same form."""
    if is_folder(place):
        return {name: in_pod(each, f"{path}/{name}") for name, each in place.items()}
    return place if place is None or (CLAIM and isinstance(place, str)) else path


def transfers(place, path):
    """What the runner brings or keeps: pairs of a place and a path."""
    if is_folder(place):
        pairs = [transfers(place[name], path[name]) for name in place]
        return [pair for each in pairs for pair in each]
    return [] if place == path else [{"place": place, "path": path}]


def with_files(template, pod, given, files):
    """The pod, with the volumes in which its files are, where it reads or leaves any."""
    if not files.brought and not files.left:
        return pod
    places = {name: place_of(template, name, given) for name in files.left}
    bring = transfers({name: given.get(name) for name in files.brought}, files.brought)
    keep = transfers(places, files.left)
    folder = {"name": "couler-pod", "mountPath": FILES}
    spec = dict(pod["spec"])
    base, *others = spec["containers"]
    mounts, volumes = [], []
    if CLAIM:
        mounts.append({"name": "couler-files", "mountPath": STORE})
        claim = {"persistentVolumeClaim": {"claimName": CLAIM}}
        volumes.append({"name": "couler-files", **claim})
    if bring or keep:
        mounts.append(folder)
        volumes.append({"name": "couler-pod", "emptyDir": {}})
    mounted = base | {"volumeMounts": [*base.get("volumeMounts", []), *mounts]}
    spec["containers"] = [mounted, *others]
    spec["volumes"] = [*spec.get("volumes", []), *volumes]
    if bring:
        before = runner_container("couler-bring", ["bring"], bring, folder)
        spec["initContainers"] = [before, *spec.get("initContainers", [])]
    if keep:
        beside = runner_container("couler-keep", ["keep", files.ready], keep, folder)
        spec["containers"].append(beside)
    return {**pod, "spec": spec}


def runner_container(name, words, moved, mount):
    """A container of the runner image, which moves files between a pod and a store."""
    env = []
    for each in moved:
        secrets = (
            each["place"].get("@secrets", {}) if isinstance(each["place"], dict) else {}
        )
        for option, source in secrets.items():
            each["env"] = each.get("env", {}) | {option: f"COULER_STORE_{len(env)}"}
            secret = {"valueFrom": {"secretKeyRef": source}}
            env.append({"name": f"COULER_STORE_{len(env)}", **secret})
    found = {
        "name": name,
        "image": RUNNER_IMAGE,
        "args": escaped([*words, json.dumps(moved)]),
        "volumeMounts": [mount],
    }
    if env:
        found["env"] = env
    if STORE_SECRET:
        found["envFrom"] = [{"secretRef": {"name": STORE_SECRET}}]
    return found


def check_kept(operator, pod):
    """Wait until the runner has kept the files of a pod whose step succeeded."""
    if all(each.name != "couler-keep" for each in pod.spec.containers):
        return
    manager = operator.pod_manager
    manager.await_container_completion(pod=pod, container_name="base")
    if exit_codes_of(manager.read_pod(pod)).get("base") != 0:
        return
    manager.await_container_completion(pod=pod, container_name="couler-keep")
    if exit_codes_of(manager.read_pod(pod)).get("couler-keep") != 0:
        where = pod.metadata
        said = operator.client.read_namespaced_pod_log(
            where.name, where.namespace, container="couler-keep", tail_lines=10
        )
        raise StepFailed(f"its files could not be kept: {said}")


def exit_codes_of(pod):
    """The exit codes of the containers of a pod that have ended."""
    statuses = (pod.status.container_statuses or []) if pod else []
    ended = [each for each in statuses if each.state.terminated]
    return {each.name: each.state.terminated.exit_code for each in ended}


SPECS = {
    "sweep-start": {
        "function": "start",
        "returns": "fields",
        "future": ["annotations"],
        "packages": ["optuna<5,>=4.5"],
        "inputs": [
            {
                "name": "plan",
                "type": {"type": "dict", "value": {"type": "scalar", "name": "any"}},
            },
            {"name": "earlier", "artifact": True, "optional": True},
        ],
        "outputs": [
            {
                "name": "points",
                "type": {"type": "list", "item": {"type": "scalar", "name": "any"}},
            },
            {"name": "done", "type": {"type": "scalar", "name": "bool"}},
            {"name": "state", "artifact": True},
        ],
        "decisions": [],
        "pieces": [
            {
                "file": "couler_py/dsl/sweeps/study.py",
                "line": 11,
                "start": 3,
                "count": 1,
            },
            {
                "file": "couler_py/dsl/sweeps/study.py",
                "line": 12,
                "start": 6,
                "count": 1,
            },
            {
                "file": "couler_py/dsl/sweeps/study.py",
                "line": 12,
                "start": 9,
                "count": 1,
            },
            {
                "file": "couler_py/dsl/sweeps/study.py",
                "line": 15,
                "start": 12,
                "count": 6,
            },
            {
                "file": "couler_py/dsl/sweeps/study.py",
                "line": 141,
                "start": 20,
                "count": 19,
            },
            {
                "file": "couler_py/dsl/sweeps/study.py",
                "line": 113,
                "start": 41,
                "count": 7,
            },
            {
                "file": "couler_py/dsl/sweeps/study.py",
                "line": 50,
                "start": 50,
                "count": 8,
            },
            {
                "file": "couler_py/dsl/sweeps/study.py",
                "line": 92,
                "start": 60,
                "count": 3,
            },
            {
                "file": "couler_py/dsl/sweeps/study.py",
                "line": 74,
                "start": 65,
                "count": 16,
            },
            {
                "file": "couler_py/dsl/sweeps/study.py",
                "line": 247,
                "start": 83,
                "count": 16,
            },
            {
                "file": "couler_py/dsl/sweeps/study.py",
                "line": 211,
                "start": 101,
                "count": 10,
            },
            {
                "file": "couler_py/dsl/sweeps/study.py",
                "line": 223,
                "start": 113,
                "count": 22,
            },
            {
                "file": "couler_py/dsl/sweeps/study.py",
                "line": 200,
                "start": 137,
                "count": 9,
            },
            {
                "file": "couler_py/dsl/sweeps/study.py",
                "line": 97,
                "start": 148,
                "count": 14,
            },
            {
                "file": "couler_py/dsl/sweeps/study.py",
                "line": 162,
                "start": 164,
                "count": 16,
            },
            {
                "file": "couler_py/dsl/sweeps/study.py",
                "line": 180,
                "start": 182,
                "count": 18,
            },
            {
                "file": "couler_py/dsl/sweeps/study.py",
                "line": 60,
                "start": 202,
                "count": 12,
            },
            {
                "file": "couler_py/dsl/sweeps/study.py",
                "line": 23,
                "start": 216,
                "count": 6,
            },
        ],
    },
    "validate-trial": {
        "function": "validate_as_trial",
        "returns": "one",
        "future": [],
        "packages": ["scikit-learn>=1.4"],
        "inputs": [
            {"name": "c", "type": {"type": "scalar", "name": "float"}},
            {"name": "kernel", "type": {"type": "scalar", "name": "str"}},
            {"name": "gamma", "type": {"type": "scalar", "name": "float"}},
            {"name": "folds", "type": {"type": "scalar", "name": "int"}},
            {"name": "sweep_cutoffs", "type": {"type": "scalar", "name": "any"}},
        ],
        "outputs": [{"name": "result", "type": {"type": "scalar", "name": "any"}}],
        "decisions": [],
        "pieces": [
            {"file": "examples/tune.py", "line": 21, "start": 3, "count": 11},
            {
                "file": "couler_py/dsl/sweeps/trial.py",
                "line": 9,
                "start": 16,
                "count": 1,
            },
            {
                "file": "couler_py/dsl/sweeps/trial.py",
                "line": 12,
                "start": 19,
                "count": 86,
            },
            {"file": "<step>", "line": 1, "start": 107, "count": 1},
        ],
    },
    "sweep-tell": {
        "function": "tell",
        "returns": "fields",
        "future": ["annotations"],
        "packages": ["optuna<5,>=4.5"],
        "inputs": [
            {
                "name": "points",
                "type": {"type": "list", "item": {"type": "scalar", "name": "any"}},
            },
            {
                "name": "outcomes",
                "type": {"type": "list", "item": {"type": "scalar", "name": "any"}},
            },
            {"name": "state", "artifact": True},
        ],
        "outputs": [
            {
                "name": "points",
                "type": {"type": "list", "item": {"type": "scalar", "name": "any"}},
            },
            {"name": "done", "type": {"type": "scalar", "name": "bool"}},
            {"name": "state", "artifact": True},
        ],
        "decisions": [],
        "pieces": [
            {
                "file": "couler_py/dsl/sweeps/study.py",
                "line": 12,
                "start": 3,
                "count": 1,
            },
            {
                "file": "couler_py/dsl/sweeps/study.py",
                "line": 11,
                "start": 6,
                "count": 1,
            },
            {
                "file": "couler_py/dsl/sweeps/study.py",
                "line": 12,
                "start": 9,
                "count": 1,
            },
            {
                "file": "couler_py/dsl/sweeps/study.py",
                "line": 122,
                "start": 12,
                "count": 17,
            },
            {
                "file": "couler_py/dsl/sweeps/study.py",
                "line": 247,
                "start": 31,
                "count": 16,
            },
            {
                "file": "couler_py/dsl/sweeps/study.py",
                "line": 211,
                "start": 49,
                "count": 10,
            },
            {
                "file": "couler_py/dsl/sweeps/study.py",
                "line": 223,
                "start": 61,
                "count": 22,
            },
            {
                "file": "couler_py/dsl/sweeps/study.py",
                "line": 92,
                "start": 85,
                "count": 3,
            },
            {
                "file": "couler_py/dsl/sweeps/study.py",
                "line": 200,
                "start": 90,
                "count": 9,
            },
            {
                "file": "couler_py/dsl/sweeps/study.py",
                "line": 97,
                "start": 101,
                "count": 14,
            },
            {
                "file": "couler_py/dsl/sweeps/study.py",
                "line": 162,
                "start": 117,
                "count": 16,
            },
            {
                "file": "couler_py/dsl/sweeps/study.py",
                "line": 180,
                "start": 135,
                "count": 18,
            },
            {
                "file": "couler_py/dsl/sweeps/study.py",
                "line": 15,
                "start": 155,
                "count": 6,
            },
            {
                "file": "couler_py/dsl/sweeps/study.py",
                "line": 141,
                "start": 163,
                "count": 19,
            },
            {
                "file": "couler_py/dsl/sweeps/study.py",
                "line": 113,
                "start": 184,
                "count": 7,
            },
            {
                "file": "couler_py/dsl/sweeps/study.py",
                "line": 50,
                "start": 193,
                "count": 8,
            },
            {
                "file": "couler_py/dsl/sweeps/study.py",
                "line": 31,
                "start": 203,
                "count": 8,
            },
        ],
    },
    "sweep-summary": {
        "function": "summarise",
        "returns": "fields",
        "future": ["annotations"],
        "packages": ["matplotlib>=3.8", "optuna<5,>=4.5"],
        "inputs": [{"name": "state", "artifact": True}],
        "outputs": [
            {
                "name": "best",
                "type": {"type": "dict", "value": {"type": "scalar", "name": "any"}},
            },
            {"name": "value", "type": {"type": "scalar", "name": "float"}},
            {
                "name": "front",
                "type": {"type": "list", "item": {"type": "scalar", "name": "any"}},
            },
            {"name": "table", "artifact": True},
            {"name": "page", "artifact": True},
            {"name": "study", "artifact": True},
        ],
        "decisions": [],
        "pieces": [
            {
                "file": "couler_py/dsl/sweeps/summary.py",
                "line": 9,
                "start": 3,
                "count": 1,
            },
            {
                "file": "couler_py/dsl/sweeps/summary.py",
                "line": 8,
                "start": 6,
                "count": 1,
            },
            {
                "file": "couler_py/dsl/sweeps/summary.py",
                "line": 9,
                "start": 9,
                "count": 1,
            },
            {
                "file": "couler_py/dsl/sweeps/summary.py",
                "line": 61,
                "start": 12,
                "count": 6,
            },
            {
                "file": "couler_py/dsl/sweeps/summary.py",
                "line": 42,
                "start": 20,
                "count": 17,
            },
            {
                "file": "couler_py/dsl/sweeps/summary.py",
                "line": 78,
                "start": 39,
                "count": 14,
            },
            {
                "file": "couler_py/dsl/sweeps/summary.py",
                "line": 201,
                "start": 55,
                "count": 33,
            },
            {
                "file": "couler_py/dsl/sweeps/summary.py",
                "line": 189,
                "start": 90,
                "count": 10,
            },
            {
                "file": "couler_py/dsl/sweeps/summary.py",
                "line": 139,
                "start": 102,
                "count": 48,
            },
            {
                "file": "couler_py/dsl/sweeps/summary.py",
                "line": 126,
                "start": 152,
                "count": 6,
            },
            {
                "file": "couler_py/dsl/sweeps/summary.py",
                "line": 134,
                "start": 160,
                "count": 3,
            },
            {
                "file": "couler_py/dsl/sweeps/summary.py",
                "line": 94,
                "start": 165,
                "count": 30,
            },
            {
                "file": "couler_py/dsl/sweeps/summary.py",
                "line": 69,
                "start": 197,
                "count": 7,
            },
            {
                "file": "couler_py/dsl/sweeps/summary.py",
                "line": 12,
                "start": 206,
                "count": 13,
            },
            {
                "file": "couler_py/dsl/sweeps/summary.py",
                "line": 27,
                "start": 221,
                "count": 13,
            },
        ],
    },
    "train": {
        "function": "train",
        "returns": "one",
        "future": [],
        "packages": ["scikit-learn>=1.4"],
        "inputs": [
            {
                "name": "settings",
                "type": {
                    "type": "dict",
                    "value": {
                        "type": "union",
                        "options": (
                            {"type": "scalar", "name": "str"},
                            {"type": "scalar", "name": "float"},
                        ),
                    },
                },
            },
        ],
        "outputs": [{"name": "result", "artifact": True}],
        "decisions": [],
        "pieces": [
            {"file": "examples/tune.py", "line": 8, "start": 3, "count": 1},
            {"file": "examples/tune.py", "line": 35, "start": 6, "count": 15},
        ],
    },
}

# Reads the inputs of Python steps, and writes their outputs.
RUNNER = "the runner"

INCLUDES = {}

tune()
