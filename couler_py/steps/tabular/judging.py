"""Models judged on tables, whichever step of this family has fitted them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from couler_py import log_metric, step
from couler_py.steps.tabular.networks import network
from couler_py.steps.tabular.tables import TABLES, answers, demand, read_table


class Judged(NamedTuple):
    """The scores of a model by name, of how many rows, and all of it as a file of JSON."""

    scores: dict[str, float]
    rows: int
    report: Path


def predicted(folder: Path, about: dict[str, Any], rows: Any) -> Any:
    """What a model says of rows: numbers of classes, or numbers. Raises `ValueError` where its library isn't there."""
    import importlib

    import joblib

    try:
        pipeline = joblib.load(folder / "model.joblib")
        if about["library"] != "torch":
            return pipeline.predict(rows)
        torch = importlib.import_module("torch")  # only where the model is PyTorch's
    except ModuleNotFoundError as problem:
        raise ValueError(
            f"the model needs {problem.name}, which isn't there: use the `evaluate` beside the step that fitted it, "
            f'or evaluate.with_options(packages=["scikit-learn", "pandas", "{about["library"]}"])'
        ) from problem
    model = network(torch, about["layers"])
    model.load_state_dict(torch.load(folder / "weights.pt", weights_only=True))
    with torch.no_grad():
        given = model(torch.tensor(pipeline.transform(rows), dtype=torch.float32))
    return given.argmax(dim=1).numpy() if about["classes"] else given[:, 0].numpy() * about["spread"] + about["middle"]


@step(packages=TABLES)
def evaluate(model: Path, data: Path) -> Judged:
    """Judge a model that a step of this family has fitted, on a table that has its columns and its target.

    Scores are accuracy, balanced accuracy and macro F1 of classes, or R², root mean squared and mean absolute error of
    numbers. The model is unpickled: take models of your own workflows only.

    Raises `ValueError` for a folder that is no such model, and a column or class that the table or model lacks.

    >>> judged = sklearn.evaluate(fitted.model, parts.test)  # doctest: +SKIP
    """
    import json

    import numpy
    from sklearn import metrics

    if not (model / "about.json").is_file():
        raise ValueError(f"{model.name} is no model of these steps: it has no about.json")
    about = json.loads((model / "about.json").read_text(encoding="utf-8"))
    table = read_table(data)
    demand(table, about["features"], data)
    truth = answers(table, about["target"], data)
    found = predicted(model, about, table[about["features"]])
    if about["task"] == "classification":
        found = numpy.array(about["classes"])[found]
        truth = truth.astype(str)
        unknown = sorted(set(truth) - set(about["classes"]))
        if unknown:
            raise ValueError(f"column {about['target']!r} of {data.name} has the class {unknown[0]!r}, which is new")
        scores = {
            "accuracy": metrics.accuracy_score(truth, found),
            "balanced_accuracy": metrics.balanced_accuracy_score(truth, found),
            "f1": metrics.f1_score(truth, found, average="macro"),
        }
    else:
        scores = {
            "r2": metrics.r2_score(truth, found),
            "rmse": float(numpy.sqrt(metrics.mean_squared_error(truth, found))),
            "mae": metrics.mean_absolute_error(truth, found),
        }
    scores = {name: float(score) for name, score in scores.items()}
    for name, score in scores.items():
        log_metric(name, score)
    report = Path("evaluation.json")
    report.write_text(json.dumps({**about, "rows": len(table), "scores": scores}, indent=2), encoding="utf-8")
    return Judged(scores, len(table), report)
