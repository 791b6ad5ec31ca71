"""What the steps of a sweep do between trials: take in what came out, and suggest what to try next.

The source of these functions travels into steps that have Optuna and nothing of ours. The state of a study is a file
of JSON: the plan, and every trial with its settings, outcome and what the sampler noted of it. A study is built anew of
it each time, with a random generator that depends on the seed and the number of trials alone, so that the same outcomes
give the same suggestions, whoever was killed in between.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple


class Round(NamedTuple):
    """A study after some outcomes: what to try next, and whether there is nothing more to try."""

    state: Path
    points: list[Any]
    done: bool


def start(plan: dict[str, Any], earlier: Path | None = None) -> Round:
    """Open a study, with the trials of an earlier one where that is given."""
    import json

    old = json.loads(earlier.read_text(encoding="utf-8")) if earlier is not None else None
    return saved(opened(plan, old))


def tell(state: Path, points: list[Any], outcomes: list[Any]) -> Round:
    """Take in the outcomes of the trials that ended (`points` are theirs), and suggest the next ones."""
    import json

    found = json.loads(state.read_text(encoding="utf-8"))
    told(found, points, outcomes)
    suggest(found)
    return saved(found)


def gather(plan: dict[str, Any], points: list[Any], outcomes: list[Any]) -> Round:
    """The study of a sweep whose trials were known beforehand."""
    found: dict[str, Any] = {"plan": plan, "target": len(plan["points"]), "first": [], "trials": []}
    for number, values in enumerate(plan["points"]):
        found["trials"].append(begun(plan, number, values, 0, {}))
    told(found, points, outcomes)
    return saved(found)


def saved(state: dict[str, Any]) -> Round:
    """Write the state down, and say which of its trials are to run."""
    import json

    target = Path("study.json")
    target.write_text(json.dumps(state, indent=1, sort_keys=True, allow_nan=False) + "\n", encoding="utf-8")
    points = [point_of(state, trial) for trial in state["trials"] if trial["state"] == "running"]
    return Round(target, points, not points)


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


def used(dimension: dict[str, Any], values: dict[str, Any]) -> bool:
    """Whether a setting matters, given the values of those that it depends on."""
    return all(name in values and values[name] in allowed for name, allowed in dimension["where"].items())


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


def point_of(state: dict[str, Any], trial: dict[str, Any]) -> dict[str, Any]:
    """What a trial is given: every setting, and at which values of the metric it should stop."""
    return {
        "number": trial["number"],
        "values": {**state["plan"]["defaults"], **trial["values"]},
        "cutoffs": cutoffs(state, trial["bracket"]),
    }


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


def suggested(trial: Any, dimension: dict[str, Any]) -> Any:
    """One setting of a trial, as Optuna's sampler chooses it."""
    name = dimension["name"]
    if dimension["kind"] == "choice":
        return trial.suggest_categorical(name, dimension["values"])
    low, high, log = dimension["low"], dimension["high"], dimension["log"]
    if dimension["kind"] == "integer":
        return trial.suggest_int(name, low, high, step=dimension["step"], log=log)
    return trial.suggest_float(name, low, high, log=log)


def distribution(dimension: dict[str, Any]) -> Any:
    """A dimension in Optuna's words."""
    from optuna import distributions

    if dimension["kind"] == "choice":
        return distributions.CategoricalDistribution(dimension["values"])
    low, high, log = dimension["low"], dimension["high"], dimension["log"]
    if dimension["kind"] == "integer":
        return distributions.IntDistribution(low, high, log=log, step=dimension["step"])
    return distributions.FloatDistribution(low, high, log=log)


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
