"""What the last step of a sweep makes: the best settings, a table of all trials, and a page with plots.

As in `study.py`, the source travels: into a step that has Optuna and matplotlib.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple


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


def losses(trial: dict[str, Any], plan: dict[str, Any]) -> list[float]:
    """The metrics of a trial, the smaller the better."""
    return [
        -value if metric["goal"] == "maximize" else value
        for value, metric in zip(trial["metrics"], plan["metrics"])  # noqa: B905
    ]


def middle(front: list[dict[str, Any]], plan: dict[str, Any]) -> int:
    """Which trial of a front is nearest to the best of every metric, each measured by its range over the front."""
    scores = [losses(trial, plan) for trial in front]
    columns = list(zip(*scores))  # noqa: B905
    low, wide = [min(column) for column in columns], [max(column) - min(column) or 1.0 for column in columns]
    far = [sum(((v - a) / w) ** 2 for v, a, w in zip(row, low, wide)) for row in scores]  # noqa: B905
    return far.index(min(far))


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


def ordered(state: dict[str, Any]) -> list[dict[str, Any]]:
    """The trials as the table has them: those that came to their end first, by the first metric."""
    plan = state["plan"]
    done = [trial for trial in state["trials"] if trial["state"] == "complete"]
    rest = [trial for trial in state["trials"] if trial["state"] != "complete"]
    return sorted(done, key=lambda trial: losses(trial, plan)) + rest


def short(value: Any) -> str:
    """A value as a table shows it."""
    return format(value, ".6g") if isinstance(value, float) else str(value)


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
