"""Tables split, models fitted to them, and models judged: the steps of `sklearn`, `xgboost`, `lightgbm`, `pytorch`.

The source of a step travels into its pod with what it uses of its own file, and of no other: that is why these steps
stand together. A table is a file of CSV, JSON lines or Parquet, told by its first bytes. A fitted model is a folder:
`model.joblib`, a pipeline of scikit-learn that takes the table's own columns, and `about.json`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, NamedTuple

from couler_py import log_metric, step

TABLES = ["pandas>=2.1", "scikit-learn>=1.4"]
Task = Literal["classification", "regression"]


class Split(NamedTuple):
    """Two tables of the same columns, as CSV, and how many rows each has."""

    train: Path
    test: Path
    train_rows: int
    test_rows: int


class Fitted(NamedTuple):
    """A model's folder, its score on rows that were held out (accuracy or R²), and the columns that it reads."""

    model: Path
    score: float
    features: list[str]


class Judged(NamedTuple):
    """The scores of a model by name, of how many rows, and all of it as a file of JSON."""

    scores: dict[str, float]
    rows: int
    report: Path


def read_table(path: Path) -> Any:
    """A table as a data frame. Raises `ValueError`, naming the file, for what is no table."""
    import pandas

    with path.open("rb") as file:
        start = file.read(4)
    try:
        if start == b"PAR1":
            table = pandas.read_parquet(path)
        elif start.startswith(b"{"):
            table = pandas.read_json(path, lines=True)
        else:
            table = pandas.read_csv(path)
    except ValueError as problem:  # what pandas raises for files that it can't read is one
        raise ValueError(f"{path.name} is no table of CSV, JSON lines or Parquet: {problem}") from problem
    if table.empty:
        raise ValueError(f"{path.name} has no rows")
    return table


def demand(table: Any, names: list[str], path: Path) -> None:
    """Raises `ValueError`, naming file and column, where a table lacks one."""
    for name in names:
        if name not in table.columns:
            known = ", ".join(map(str, table.columns))
            raise ValueError(f"{path.name} has no column {name!r}; its columns are {known}")


def answers(table: Any, target: str, path: Path) -> Any:
    """The column that is to be learned. Raises `ValueError`, naming a row, where a value is missing."""
    demand(table, [target], path)
    missing = table[target].isna().to_numpy().nonzero()[0]
    if len(missing):
        raise ValueError(f"column {target!r} of {path.name} has no value in row {int(missing[0]) + 1}")
    return table[target]


def prepared(table: Any, model: Any) -> Any:
    """A pipeline that makes numbers of the table's columns for a model: words one column each, gaps filled."""
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    numbers = list(table.select_dtypes(["number", "bool"]).columns)
    words = [name for name in table.columns if name not in numbers]
    encoded = make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore"))
    columns = ColumnTransformer(
        [("numbers", SimpleImputer(), numbers), ("words", encoded, words)], sparse_threshold=0.0
    )
    return make_pipeline(columns, model)


def samples(
    data: Path, target: str, task: Task, features: list[str] | None
) -> tuple[Any, Any, list[str], list[str] | None]:
    """The columns to learn from, what is to be learned (classes as numbers), names of the columns and of classes."""
    from sklearn.preprocessing import LabelEncoder

    table = read_table(data)
    y = answers(table, target, data)
    names = features or [name for name in table.columns if name != target]
    demand(table, names, data)
    if task == "classification":
        encoder = LabelEncoder()
        y = encoder.fit_transform(y)
        return table[names], y, names, [str(each) for each in encoder.classes_]
    if y.dtype.kind not in "biuf":
        raise ValueError(f"column {target!r} of {data.name} holds no numbers, which a regression needs")
    return table[names], y.to_numpy(), names, None


def kept(pipeline: Any, library: str, score: float, **about: Any) -> Path:
    """A pipeline as the folder of a model."""
    import json
    from importlib import metadata

    import joblib

    log_metric("score", score)
    folder = Path("model")
    folder.mkdir()
    joblib.dump(pipeline, folder / "model.joblib")
    versions = {name: metadata.version(name) for name in ("scikit-learn", "pandas", library)}
    about = {"library": library, "versions": versions, **about, "score": score}
    (folder / "about.json").write_text(json.dumps(about, indent=2), encoding="utf-8")
    return folder


def fitted(
    model: Any, library: str, data: Path, target: str, task: Task, features: list[str] | None, holdout: float, seed: int
) -> Fitted:
    """Fit on all but a part of the rows for the score, then on all for the model."""
    from sklearn.base import clone
    from sklearn.model_selection import train_test_split

    x, y, names, classes = samples(data, target, task, features)
    settings = model.get_params()
    if "random_state" in settings and settings["random_state"] is None:
        model.set_params(random_state=seed)
    pipeline = prepared(x, model)
    parts = train_test_split(x, y, test_size=holdout, random_state=seed)
    score = float(clone(pipeline).fit(parts[0], parts[2]).score(parts[1], parts[3]))
    folder = kept(pipeline.fit(x, y), library, score, task=task, target=target, features=names, classes=classes)
    return Fitted(folder, score, names)


def network(torch: Any, sizes: list[int]) -> Any:
    """Linear layers of these sizes, with ReLU between them."""
    from itertools import pairwise

    layers = [part for pair in pairwise(sizes) for part in (torch.nn.Linear(*pair), torch.nn.ReLU())]
    return torch.nn.Sequential(*layers[:-1])


@step(packages=TABLES)
def train_test_split(data: Path, test_size: float = 0.25, seed: int = 0, stratify: str = "") -> Split:
    """Split the rows of a table in two, the same way each time; with `stratify`, each value of that column alike.

    Raises `ValueError` for what is no table, a column that isn't there, and shares that leave a part empty.

    >>> parts = train_test_split(data, test_size=0.2, stratify="species")  # doctest: +SKIP
    """
    from sklearn.model_selection import train_test_split as split

    table = read_table(data)
    if stratify:
        demand(table, [stratify], data)
    by = table[stratify] if stratify else None
    train, test = split(table, test_size=test_size, random_state=seed, stratify=by)
    found = Split(Path("train.csv"), Path("test.csv"), len(train), len(test))
    train.to_csv(found.train, index=False)
    test.to_csv(found.test, index=False)
    return found


@step(name="sklearn-fit", packages=TABLES)
def sklearn_fit(
    data: Path,
    target: str,
    estimator: str = "sklearn.ensemble.RandomForestClassifier",
    parameters: dict[str, Any] | None = None,
    features: list[str] | None = None,
    holdout: float = 0.2,
    seed: int = 0,
) -> Fitted:
    """Fit any classifier or regressor of scikit-learn, by its full name, to the column `target` of a table.

    Raises `ValueError` for an estimator or a column that there isn't, and `TypeError` for a parameter that the
    estimator doesn't have.

    >>> model = sklearn.fit(data, "species", parameters={"n_estimators": 50})  # doctest: +SKIP
    """
    import importlib

    from sklearn.base import is_classifier, is_regressor

    module, _, name = estimator.rpartition(".")
    if module.partition(".")[0] != "sklearn":
        raise ValueError(f"the estimator {estimator!r} is none of scikit-learn's, as sklearn.svm.SVC")
    try:
        make = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as problem:
        raise ValueError(f"scikit-learn has no estimator {estimator!r}") from problem
    model = make(**(parameters or {}))
    if not (is_classifier(model) or is_regressor(model)):
        raise ValueError(f"{estimator} neither classifies nor regresses")
    task: Task = "classification" if is_classifier(model) else "regression"
    return fitted(model, "scikit-learn", data, target, task, features, holdout, seed)


@step(name="xgboost-train", packages=[*TABLES, "xgboost>=2.1"])
def xgboost_train(
    data: Path,
    target: str,
    task: Task = "classification",
    rounds: int = 100,
    parameters: dict[str, Any] | None = None,
    features: list[str] | None = None,
    holdout: float = 0.2,
    seed: int = 0,
) -> Fitted:
    """Boost trees with XGBoost; `parameters` are those of its `XGBClassifier` or `XGBRegressor`.

    Raises `ValueError` for a column that isn't there, and what XGBoost raises for its parameters.

    >>> model = xgboost.train(data, "price", task="regression", parameters={"max_depth": 4})  # doctest: +SKIP
    """
    import xgboost

    make = xgboost.XGBClassifier if task == "classification" else xgboost.XGBRegressor
    model = make(n_estimators=rounds, **(parameters or {}))
    return fitted(model, "xgboost", data, target, task, features, holdout, seed)


@step(name="lightgbm-train", packages=[*TABLES, "lightgbm>=4.3"])
def lightgbm_train(
    data: Path,
    target: str,
    task: Task = "classification",
    rounds: int = 100,
    parameters: dict[str, Any] | None = None,
    features: list[str] | None = None,
    holdout: float = 0.2,
    seed: int = 0,
) -> Fitted:
    """Boost trees with LightGBM; `parameters` are those of its `LGBMClassifier` or `LGBMRegressor`.

    Raises `ValueError` for a column that isn't there, and what LightGBM raises for its parameters.

    >>> model = lightgbm.train(data, "price", task="regression", parameters={"num_leaves": 15})  # doctest: +SKIP
    """
    import lightgbm

    make = lightgbm.LGBMClassifier if task == "classification" else lightgbm.LGBMRegressor
    model = make(n_estimators=rounds, **{"verbose": -1, **(parameters or {})})
    return fitted(model, "lightgbm", data, target, task, features, holdout, seed)


@step(name="pytorch-fit", packages=[*TABLES, "torch>=2.5"])
def pytorch_fit(
    data: Path,
    target: str,
    task: Task = "classification",
    hidden: list[int] | None = None,
    epochs: int = 50,
    learning_rate: float = 1e-3,
    batch: int = 64,
    features: list[str] | None = None,
    holdout: float = 0.2,
    seed: int = 0,
) -> Fitted:
    """Fit a network of linear layers (`hidden` are their sizes, 64 and 64 by default) with PyTorch and AdamW.

    Columns are scaled to mean 0 and variance 1. Rows that are held out for the score have no part in the model. It
    trains on a GPU where there is one. The loss of each epoch is logged.

    Raises `ValueError` for a column that isn't there.

    >>> model = pytorch.fit(data, "species", hidden=[32], epochs=20)  # doctest: +SKIP
    """
    import torch
    from sklearn.metrics import accuracy_score, r2_score
    from sklearn.model_selection import train_test_split
    from sklearn.preprocessing import StandardScaler

    torch.manual_seed(seed)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    x, y, names, classes = samples(data, target, task, features)
    columns = prepared(x, StandardScaler())
    train, test, train_y, test_y = train_test_split(x, y, test_size=holdout, random_state=seed)
    inputs = torch.tensor(columns.fit_transform(train), dtype=torch.float32)
    middle, spread = (0.0, 1.0) if classes else (float(train_y.mean()), float(train_y.std()) or 1.0)
    truth = torch.tensor(train_y) if classes else torch.tensor((train_y - middle) / spread, dtype=torch.float32)
    sizes = [inputs.shape[1], *(hidden or [64, 64]), len(classes) if classes else 1]
    model = network(torch, sizes).to(device)
    judge = torch.nn.CrossEntropyLoss() if classes else torch.nn.MSELoss()
    optimizer = torch.optim.AdamW(model.parameters(), lr=learning_rate)
    order = torch.Generator().manual_seed(seed)
    for epoch in range(epochs):
        total = 0.0
        for rows in torch.randperm(len(inputs), generator=order).split(batch):
            given = model(inputs[rows].to(device))
            loss = judge(given if classes else given.squeeze(1), truth[rows].to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += float(loss.detach()) * len(rows)
        log_metric("loss", total / len(inputs), step=epoch)
    with torch.no_grad():
        given = model(torch.tensor(columns.transform(test), dtype=torch.float32, device=device)).cpu()
    found = given.argmax(dim=1).numpy() if classes else given.squeeze(1).numpy() * spread + middle
    score = float(accuracy_score(test_y, found) if classes else r2_score(test_y, found))
    about = {"task": task, "target": target, "features": names, "classes": classes}
    folder = kept(columns, "torch", score, **about, layers=sizes, middle=middle, spread=spread)
    torch.save(model.cpu().state_dict(), folder / "weights.pt")
    return Fitted(folder, score, names)


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
