"""What fitting has in common: columns as numbers, and a model as a folder.

A fitted model is a folder: `model.joblib`, a pipeline of scikit-learn that takes the table's own columns, and
`about.json`. The source of this file travels with the steps that fit.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, NamedTuple

from couler_py import log_metric
from couler_py.steps.tabular.tables import answers, demand, read_table

__couler_travels__ = True

Task = Literal["classification", "regression"]


class Fitted(NamedTuple):
    """A model's folder, its score on rows that were held out (accuracy or R²), and the columns that it reads."""

    model: Path
    score: float
    features: list[str]


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
